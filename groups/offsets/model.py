"""The parts of a change of committed offsets, and its partitions.

`--topic orders` means a whole topic, `--topic orders:0,1` some partitions; without it all that have a committed offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from groups.lag import records_between
from groups.model import Group, Offsets, Problem

Place: TypeAlias = tuple[str, int]
"""A topic and one of its partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Offsets of logs. A place that is missing is not known."""

    earliest: Mapping[Place, int] = field(default_factory=dict)
    """The log start offset: of the oldest record that is kept."""
    end: Mapping[Place, int] = field(default_factory=dict)
    """The offset after the last record."""
    at: Mapping[Place, int] = field(default_factory=dict)
    """The first offset at or after the requested moment; -1 if there is no such record."""
    unread: Mapping[Place, str] = field(default_factory=dict)
    """Why requested partitions are missing above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetChange:
    """One partition's committed offset, and the new one."""

    topic: str
    partition: int
    before: int | None
    """None where nothing is committed."""
    after: int
    earliest: int | None
    end: int | None
    counted_lag: int | None = None
    """The lag before, where the coordinator counts it: that of a share group is not end less start offset."""
    leader_epoch: int | None = None
    """Committed together with `after`; None where that is not known to be of any epoch."""
    metadata: str = ""
    remark: str | None = None
    """Why `after` is not the requested offset, or what of it could not be checked."""

    @property
    def place(self) -> Place:
        """Topic and partition."""
        return self.topic, self.partition

    @property
    def lag_before(self) -> int | None:
        """Records after the committed offset, or as they are counted; None unless it and the end are known."""
        return records_between(self.before, self.end) if self.counted_lag is None else self.counted_lag

    @property
    def lag_after(self) -> int | None:
        """Records after the new offset; None unless the end is known."""
        return records_between(self.after, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """The planned change of one group, all of it or nothing.

    `refusals` say what keeps the cluster from taking it as things are, `problems` what could not be found out. With
    either, nothing is sent for this group.
    """

    described: Group
    """The group as it is."""
    refusals: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    internal_topics: Mapping[str, str] = field(default_factory=dict)
    """Topics of a streams group that are deleted with it, and their kinds: changelog or repartition."""

    @property
    def group(self) -> str:
        """The group's id."""
        return self.described.id

    @property
    def count(self) -> int:
        """How much would be sent."""
        return 1

    @property
    def applicable(self) -> bool:
        """Whether there is something to send, and nothing speaks against it."""
        return self.count > 0 and not self.refusals and not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange(PlannedChange):
    """The new commits of one group."""

    exists: bool
    """False: no group has that id; committing offsets makes one."""
    changes: tuple[OffsetChange, ...] = ()

    @property
    def count(self) -> int:
        return len(self.changes)


_PARTITION = re.compile(r"[0-9]{1,10}", re.ASCII)
_MAX_PARTITION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TopicScope:
    """A topic, whole (`partitions` None) or some of its partitions."""

    topic: str
    partitions: tuple[int, ...] | None = None


def parse_scope(text: str) -> TopicScope:
    """`TOPIC` or `TOPIC:0,1`, as kafka-consumer-groups takes it; ValueError with the fault."""
    topic, colon, numbers = text.partition(":")
    if not topic:
        raise ValueError(f"{text!r} names no topic; expected TOPIC or TOPIC:0,1")
    if not colon:
        return TopicScope(topic)
    return TopicScope(topic, tuple(dict.fromkeys(_partition(text, part) for part in numbers.split(","))))


def _partition(text: str, number: str) -> int:
    number = number.strip()
    if not _PARTITION.fullmatch(number) or int(number) > _MAX_PARTITION:
        raise ValueError(f"{text!r}: {number!r} is not a valid partition; expected TOPIC or TOPIC:0,1")
    return int(number)


def places_in(
    scopes: Sequence[TopicScope], partitions: Mapping[str, int]
) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
    """The partitions that exist of those that are meant, in order, and a problem for each that does not.

    `partitions`: how many each known topic has.
    """
    meant: set[Place] = set()
    problems: list[Problem] = []
    for scope in scopes:
        count = partitions.get(scope.topic)
        if count is None:
            problems.append(unknown_topic(scope.topic))
        else:
            meant.update((scope.topic, number) for number in scope.partitions or range(count))
    places, missing = existing(meant, partitions)
    return places, (*dict.fromkeys(problems), *missing)


def existing(
    places: Iterable[Place], partitions: Mapping[str, int]
) -> tuple[tuple[Place, ...], tuple[Problem, ...]]:
    """The places that exist, in order, and a problem for each that does not."""
    found: list[Place] = []
    problems: dict[Problem, None] = {}
    for topic, number in sorted(set(places)):
        count = partitions.get(topic)
        if count is None:
            problems[unknown_topic(topic)] = None
        elif number >= count:
            problems[Problem(subject=f"{topic}-{number}", message=_no_partition(topic, count))] = None
        else:
            found.append((topic, number))
    return tuple(found), tuple(problems)


def _no_partition(topic: str, count: int) -> str:
    return f"no such partition; {topic} has {count}" + (f", 0 to {count - 1}" if count > 1 else "")


def unknown_topic(topic: str) -> Problem:
    """The problem of a topic that is not there."""
    return Problem(subject=topic, message="no such topic")


def committed_places(offsets: Offsets) -> tuple[Place, ...]:
    """Everything that has a committed offset, in order."""
    return tuple((topic, number) for topic in sorted(offsets) for number in sorted(offsets[topic]))


def committed_in(scopes: Sequence[TopicScope], offsets: Offsets) -> tuple[Place, ...]:
    """The partitions with a committed offset within a scope; all without a scope."""
    if not scopes:
        return committed_places(offsets)
    return tuple(
        (topic, number)
        for topic, number in committed_places(offsets)
        if any(scope.topic == topic and number in (scope.partitions or (number,)) for scope in scopes)
    )
