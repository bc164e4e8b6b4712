"""The groups, topics and members that a request names, found by the field names of its layout."""

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
"""Arrays in which `name` is a topic's."""
_COORDINATED = frozenset({"key", "coordinatorKeys"})
"""FindCoordinator: the keys are groups if the key type is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedResources:
    groups: set[str] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)


def named_resources(
    layout: Struct, version: int, message: Any, name_of: Callable[[UUID], str | None]
) -> NamedResources:
    """The resources that a request of this version names; `name_of` returns the name of a topic given by id."""
    found = NamedResources()
    _collect(layout, version, message, "", name_of, found)
    return found


def _collect(
    layout: Struct,
    version: int,
    message: Any,
    inside: str,
    name_of: Callable[[UUID], str | None],
    found: NamedResources,
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
