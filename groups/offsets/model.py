"""The parts of a change of committed offsets, and its partitions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from groups.lag import records_between
from groups.model import Group, Offsets, Problem, TopicPartition, partition_name, wrong_topic_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Offsets of logs. The offset of a missing place is not known."""

    earliest: Mapping[TopicPartition, int] = field(default_factory=dict)  # the log start offset
    end: Mapping[TopicPartition, int] = field(default_factory=dict)  # the offset after the last record
    at: Mapping[TopicPartition, int] = field(default_factory=dict)  # of the requested moment; -1 if no record
    unread: Mapping[TopicPartition, str] = field(default_factory=dict)  # why partitions are missing


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetChange:
    topic: str
    partition: int
    before: int | None  # the current committed offset; None if nothing is committed
    after: int
    earliest: int | None
    end: int | None
    counted_lag: int | None = None  # a share group's, by the coordinator: not end less start offset
    leader_epoch: int | None = None  # the leader epoch that is committed with `after`; None if not known
    metadata: str = ""
    remark: str | None = None  # Why `after` is not the requested offset, or what could not be checked

    @property
    def place(self) -> TopicPartition:
        return self.topic, self.partition

    @property
    def is_outside(self) -> bool:
        """Whether the current offset is known to be outside the log."""
        if self.before is None or self.earliest is None or self.end is None:
            return False
        return not self.earliest <= self.before <= self.end

    @property
    def lag_before(self) -> int | None:
        """The lag that the coordinator counts, else the records after the committed offset; None: not known."""
        return records_between(self.before, self.end) if self.counted_lag is None else self.counted_lag

    @property
    def lag_after(self) -> int | None:
        return records_between(self.after, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """A group's change, sent completely or, with `refusals` by the cluster or unread `problems`, not at all."""

    described: Group  # the group as it is
    refusals: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    internal_topics: Mapping[str, str] = field(default_factory=dict)  # deleted with the group, by kind
    topic_ids: Mapping[str, UUID | None] = field(default_factory=dict)  # the ids of the internal topics

    @property
    def group(self) -> str:
        return self.described.id

    @property
    def count(self) -> int:
        return 1

    @property
    def applicable(self) -> bool:
        return self.count > 0 and not self.refusals and not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange(PlannedChange):
    exists: bool  # whether a group has this id; if not, committing offsets creates it
    changes: tuple[OffsetChange, ...] = ()

    @property
    def count(self) -> int:
        return len(self.changes)


_PARTITION = re.compile(r"[0-9]{1,10}", re.ASCII)
_MAX_PARTITION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TopicScope:
    """All partitions of a topic (`partitions` is None), or some of them."""

    topic: str
    partitions: tuple[int, ...] | None = None


_FORMS = "expected TOPIC or TOPIC:0,1, with commas between topics"


def split_scopes(text: str) -> tuple[TopicScope, ...]:
    """Parse `TOPIC`, `TOPIC:0,1`, or several with commas between them; ValueError with the fault."""
    scopes: list[tuple[str, list[int] | None]] = []
    for part in text.split(","):
        topic, colon, number = part.rpartition(":")
        topic, number = topic.strip(), number.strip()
        partitions = scopes[-1][1] if scopes else None
        if not colon and partitions is not None and not number.strip("-0123456789"):
            partitions.append(_partition(text, number))
            continue
        topic = topic if colon else number
        if (wrong := wrong_topic_name(topic)) is not None:
            what = f": {topic!r} is {wrong}" if topic else " names no topic"
            raise ValueError(f"{text!r}{what}; {_FORMS}")
        scopes.append((topic, [_partition(text, number)] if colon else None))
    return tuple(
        TopicScope(topic, None if partitions is None else tuple(dict.fromkeys(partitions)))
        for topic, partitions in scopes
    )


def _partition(text: str, number: str) -> int:
    if not _PARTITION.fullmatch(number) or int(number) > _MAX_PARTITION:
        raise ValueError(f"{text!r}: {number!r} is not a valid partition; {_FORMS}")
    return int(number)


def places_in(
    scopes: Sequence[TopicScope], partitions: Mapping[str, int]
) -> tuple[tuple[TopicPartition, ...], tuple[Problem, ...]]:
    """The existing partitions in the scopes, in order, and a problem for each that does not exist."""
    meant: set[TopicPartition] = set()
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
    places: Iterable[TopicPartition], partitions: Mapping[str, int]
) -> tuple[tuple[TopicPartition, ...], tuple[Problem, ...]]:
    """The existing places, in order, and a problem for each topic or partition that does not exist."""
    known: list[TopicPartition] = []
    problems: dict[Problem, None] = {}
    for topic, number in sorted(set(places)):
        count = partitions.get(topic)
        if count is None:
            problems[unknown_topic(topic)] = None
        elif number >= count:
            numbers = f", 0 to {count - 1}" if count > 1 else ""
            message = f"no such partition; {topic} has {count}{numbers}"
            problems[Problem(subject=partition_name((topic, number)), message=message)] = None
        else:
            known.append((topic, number))
    return tuple(known), tuple(problems)


def unknown_topic(topic: str) -> Problem:
    return Problem(subject=topic, message="no such topic")


def committed_places(offsets: Offsets) -> tuple[TopicPartition, ...]:
    return tuple((topic, number) for topic in sorted(offsets) for number in sorted(offsets[topic]))


def committed_in(scopes: Sequence[TopicScope], offsets: Offsets) -> tuple[TopicPartition, ...]:
    """The partitions with a committed offset in any of the scopes; without scopes, all of them."""
    if not scopes:
        return committed_places(offsets)
    return tuple(
        (topic, number)
        for topic, number in committed_places(offsets)
        if any(scope.topic == topic and number in (scope.partitions or (number,)) for scope in scopes)
    )
