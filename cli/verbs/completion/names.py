"""The names that a source knows, with a word about each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cli.options import SourceOptions
from cli.sources.source import Source
from cli.verbs.completion.question import PATHS, TEXTS, Question

Described = Iterable[tuple[str, str]]
"""Names and what to say about them."""


def names_for(question: Question, timeout_ms: int) -> bytes:
    """`name TAB description` lines, in UTF-8 and in order; names that no line can hold are left out."""
    lines = []
    for name, description in sorted(_names(question, timeout_ms)):
        if name and name.isprintable():
            said = "".join(character if character.isprintable() else " " for character in description)
            lines.append(f"{name}\t{said}\n".encode())
    return b"".join(lines)


def _names(question: Question, timeout_ms: int) -> Described:
    if question.kind == "contexts":
        return _contexts()
    tell = _KINDS[question.kind.removesuffix("=")]
    from cli.sources.choose import open_source

    with open_source(source_options(question, timeout_ms)) as source:
        # A name that something is to follow stands for itself: `MEMBER=TOPIC`.
        suffix = "=" if question.kind.endswith("=") else ""
        return [(name + suffix, description) for name, description in tell(source, question, timeout_ms)]


def source_options(question: Question, timeout_ms: int) -> SourceOptions:
    """The options as a command would have them: what was typed, and what that leaves open."""
    from cli.sources.contexts.settle import settle_source

    return settle_source(typed_options(question, timeout_ms), timeout_is_typed=True)


def typed_options(question: Question, timeout_ms: int) -> SourceOptions:
    """What was typed."""
    fields: dict[str, Any] = {
        PATHS.get(option) or TEXTS[option]: Path(value) if option in PATHS else value
        for option, value in question.named.items()
    }
    log_dirs = [Path(directory) for directory in question.log_dirs] or None
    return SourceOptions(timeout_ms=timeout_ms, log_dirs=log_dirs, **fields)


def _contexts() -> Described:
    from cli.sources.contexts.names import context_names

    return [(name, "") for name in context_names()]


def _groups(source: Source, _: Question, timeout_ms: int) -> Iterator[tuple[str, str]]:
    from cli.sources.live import LiveSource

    if isinstance(source, LiveSource) and source.client is not None:
        # A list for people also counts members, which takes a question about every group.
        for listed in source.client.list_groups(timeout_ms=timeout_ms).groups:
            yield listed.group_id, ", ".join(filter(None, (listed.group_type, listed.state)))
        return
    for group in source.list_groups().items:
        yield group.id, f"{group.type.value.capitalize()}, {group.state.value}"


def _topics(source: Source, _: Question, timeout_ms: int) -> Iterator[tuple[str, str]]:
    from cli.sources.live import LiveSource

    if isinstance(source, LiveSource) and source.client is not None:
        sizes: Mapping[str, int] = {
            name: len(topic.partitions)
            for name, topic in source.client.metadata(timeout_ms=timeout_ms).topics.items()
        }
    else:
        sizes = {topic.name: topic.partitions for topic in source.topics(None, end_offsets=False).items}
    for name, partitions in sizes.items():
        yield name, f"{partitions} partition{'' if partitions == 1 else 's'}"


def _members(source: Source, question: Question, _: int) -> Iterator[tuple[str, str]]:
    """Members of the groups that are named; a static one by its instance id, which outlives it."""
    for group in source.describe(list(dict.fromkeys(question.arguments)), offsets=False).items:
        for member in group.members:
            yield member.instance or member.id, " ".join(filter(None, (member.client.id, member.client.host)))


def _settings(source: Source, question: Question, _: int) -> Iterator[tuple[str, str]]:
    """What may be set for a group."""
    from cli.verbs.config.action import settings_of

    for name, setting in settings_of(source).read(question.arguments[0]).items():
        yield name, f"now {setting.value}"


_KINDS: Mapping[str, Callable[[Source, Question, int], Described]] = {
    "groups": _groups,
    "topics": _topics,
    "members": _members,
    "settings": _settings,
}
