"""One look at the watched groups: what was seen of them, when, and what could not be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cli.sources.source import Source
from groups.lag import topics_with_offsets
from groups.model import Cause, Group, Problem, Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one look showed."""

    asked_ms: int
    """When the question was sent, in milliseconds since 1970 by the watcher's clock."""
    at_ms: int
    """When the groups had been described: what is shown was so at some moment between these two."""
    groups: Mapping[str, Group | None] = field(default_factory=dict)
    """By id. None: there is no such group. A group that could not be read is missing."""
    topics: Mapping[str, Topic] = field(default_factory=dict)
    """Of what the groups read: numbers of partitions and end offsets."""
    problems: tuple[Problem, ...] = ()


def observe(source: Source, names: Sequence[str], clock_ms: Callable[[], int]) -> Observation:
    """Look once."""
    asked_ms = clock_ms()
    described = source.describe(names, offsets=True)
    at_ms = clock_ms()
    found: dict[str, Group | None] = {group.id: group for group in described.items}
    gone = [problem for problem in described.problems if problem.cause is Cause.ABSENT]
    for problem in gone:
        found.setdefault(problem.subject, None)
    topics = source.topics(topics_read(described.items), end_offsets=True)
    unread = [problem for problem in described.problems if problem not in gone]
    return Observation(
        asked_ms=asked_ms,
        at_ms=at_ms,
        groups={name: found[name] for name in names if name in found},
        topics={topic.name: replace(topic, id=None, racks=None) for topic in topics.items},
        problems=(*unread, *topics.problems),
    )


def topics_read(groups: Iterable[Group]) -> set[str]:
    """Every topic that somebody owns, is to own, names, or committed to."""
    listed = list(groups)
    members = [member for group in listed for member in group.members]
    wanted = {topic for member in members for topic in member.target or ()}
    named = {topic for member in members if member.subscription for topic in member.subscription.topics}
    return topics_with_offsets(listed) | wanted | named
