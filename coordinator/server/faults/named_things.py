"""Which groups, topics and members a request names: found by the names of fields in its layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from wire.messages.layout import Array, Struct
from wire.messages.reader import snake

_GROUPS = frozenset({"groupId", "groupIds", "groupsNames", "groups"})
_TOPICS = frozenset({"topic", "topicNames", "subscribedTopicNames"})
_ARRAYS_OF_TOPICS = frozenset({"topics", "topicData"})
"""In them a `name` is a topic's."""
_COORDINATED = frozenset({"key", "coordinatorKeys"})
"""Of FindCoordinator: groups where its key type is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedThings:
    groups: set[str] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)


def named_things(
    layout: Struct, version: int, message: Any, name_of: Callable[[UUID], str | None]
) -> NamedThings:
    """What a request of this version names; `name_of` gives the name of a topic that is named by its id."""
    found = NamedThings()
    _collect(layout, version, message, "", name_of, found)
    return found


def _collect(
    layout: Struct,
    version: int,
    message: Any,
    inside: str,
    name_of: Callable[[UUID], str | None],
    found: NamedThings,
) -> None:
    for each in layout.fields:
        value = getattr(message, snake(each.name)) if each.in_version(version) else None
        if not value:
            continue
        if isinstance(each.type, Array) and isinstance(each.type.of, Struct):
            for element in value:
                _collect(each.type.of, version, element, each.name, name_of, found)
            continue
        texts = {value} if isinstance(value, str) else value if isinstance(value, tuple) else ()
        if each.name in _GROUPS or (each.name in _COORDINATED and not message.key_type):
            found.groups.update(texts)
        elif each.name in _TOPICS or (each.name == "name" and inside in _ARRAYS_OF_TOPICS):
            found.topics.update(texts)
        elif each.name == "topicId":
            found.topics.update({name_of(value) or ""} - {""})
        elif each.name == "memberId":
            found.members.update(texts)
