"""The metrics of groups: names, descriptions and computation. docs/exporter.md lists them all.

Names and units follow the rules of Prometheus and OpenMetrics. Unknown values have no sample. A metric of one level
is not exported at another, so that a sum counts nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter
from typing import TypeAlias

from cli.verbs.exporter.history import GroupHistory
from groups.lag import PartitionLag, longest_lag_ms, total_lag
from groups.model import Group, GroupType, Topic
from groups.progress import GroupProgress
from groups.use import unsubscribed_topics
from migration.inspection import blocking_upgrade

Labels: TypeAlias = tuple[str, ...]
Values: TypeAlias = float | dict[Labels, float] | None
"""One value, or one per value of the labels; None means not known."""


class Level(Enum):
    """The level of a metric's samples: `--per`."""

    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"


class Kind(Enum):
    """The type of a metric."""

    GAUGE = "gauge"
    COUNTER = "counter"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    """A group that could be read, and the facts for its metrics."""

    group: Group
    rows: Sequence[PartitionLag]
    topics: Mapping[str, Topic]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """A metric. `name` is without the suffix of its kind (`_total`, `_info`)."""

    name: str
    help: str
    level: Level = Level.GROUP
    kind: Kind = Kind.GAUGE
    labels: Labels = ()
    """Labels in addition to the labels of its level."""
    sample: str = field(init=False)
    """The name of its samples."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", self.name + _SUFFIXES[self.kind])

    @property
    def all_labels(self) -> Labels:
        """All labels, in order."""
        return _LABELS[self.level] + self.labels


_SUFFIXES = {Kind.GAUGE: "", Kind.COUNTER: "_total", Kind.INFO: "_info"}
_LABELS: Mapping[Level, Labels] = {
    Level.GROUP: ("group",),
    Level.TOPIC: ("group", "topic"),
    Level.PARTITION: ("group", "topic", "partition"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupFamily(Family):
    """A metric of a group that could be read."""

    values: Callable[[GroupFacts], Values]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistoryFamily(Family):
    """A metric of a group over several polls; the last poll may have failed to read the group."""

    values: Callable[[GroupHistory], Values]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsFamily(Family):
    """A metric of a topic of a group, computed from its partitions."""

    level: Level = field(default=Level.TOPIC, init=False)
    values: Callable[[Sequence[PartitionLag]], float | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowFamily(Family):
    """A metric of a partition of a group."""

    level: Level = field(default=Level.PARTITION, init=False)
    values: Callable[[PartitionLag], float | None]


def _info(facts: GroupFacts) -> Values:
    group = facts.group
    return {(group.type.value, group.protocol_type or "", group.protocol or ""): 1}


def _members(facts: GroupFacts) -> Values:
    """Members by protocol; a group without members has a 0 for its own protocol."""
    own = facts.group.type.value
    found: dict[Labels, float] = {}
    for member in facts.group.members:
        protocol = (member.protocol.value if member.protocol else own,)
        found[protocol] = found.get(protocol, 0) + 1
    return found or {(own,): 0}


def _epochs(group: Group) -> list[int]:
    return [member.epoch for member in group.members if member.epoch is not None]


def _members_behind(facts: GroupFacts) -> Values:
    """The number of members whose partitions differ from their target, or that have not reached its epoch."""
    group = facts.group
    if group.assignment_epoch is None:
        return None
    return sum(
        (member.epoch is not None and member.epoch < (group.assignment_epoch or 0))
        or (member.target is not None and _places(member.owned) != _places(member.target))
        for member in group.members
    )


def _places(partitions: Mapping[str, Sequence[int]] | None) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in (partitions or {}).items() for number in numbers}


def without_owner(facts: GroupFacts) -> int | None:
    """The number of partitions without an owner in topics that members subscribe to by name, or partly own.

    None if it is not known: without members, while a classic group rebalances, for other protocol types, and if a
    member's subscription or assignment cannot be read.
    """
    group = facts.group
    if not group.members or any(member.owned is None or member.unreadable for member in group.members):
        return None
    owned = {place for member in group.members for place in _places(member.owned)}
    names = {topic for topic, _ in owned} | {
        topic
        for member in group.members
        for topic in (member.subscription.topics if member.subscription else ())
    }
    return sum(
        (name, number) not in owned
        for name in names & facts.topics.keys()
        for number in range(facts.topics[name].partitions)
    )


def _owned(facts: GroupFacts) -> Values:
    """None if the assignment of a member is not known, as while a classic group rebalances."""
    assignments = [member.owned for member in facts.group.members]
    if None in assignments:
        return None
    return sum(len(numbers) for owned in assignments for numbers in (owned or {}).values())


def _lag(rows: Iterable[PartitionLag]) -> float | None:
    return total_lag(row.lag for row in rows)


def _group_lag_seconds(facts: GroupFacts) -> float | None:
    """Topics that no member reads do not count."""
    rows = [row for row in facts.rows if row.is_subscribed]
    return _lag_seconds(rows)


def _unsubscribed_lag(facts: GroupFacts) -> float | None:
    """None if a member may read topics that no other member reads, as while a classic group rebalances."""
    if unsubscribed_topics(facts.group) is None:
        return None
    return total_lag(row.lag for row in facts.rows if not row.is_subscribed) or 0


def _lost(rows: Iterable[PartitionLag]) -> float | None:
    known = [lost for row in rows if (lost := row.lost) is not None]
    return sum(known) if known else None


def _pending(facts: GroupFacts) -> float | None:
    pending = facts.group.pending
    return None if pending is None else sum(map(len, pending.partitions.values()))


def _lag_seconds(rows: Iterable[PartitionLag]) -> float | None:
    longest_ms = longest_lag_ms(rows)
    return None if longest_ms is None else longest_ms / 1000


def _last_commit(facts: GroupFacts) -> Values:
    known = [row.last_commit_ms for row in facts.rows if row.last_commit_ms is not None]
    return max(known) / 1000 if known else None


def _generation(facts: GroupFacts) -> Values:
    return facts.group.generation if facts.group.type is GroupType.CLASSIC else None


def _progress(history: GroupHistory) -> Values:
    at_ms = history.progress_ms
    return None if at_ms is None else at_ms / 1000


def _of_progress(pick: Callable[[GroupProgress], float | None]) -> Callable[[GroupHistory], Values]:
    return lambda history: None if history.progress is None else pick(history.progress)


def _progress_verdict(history: GroupHistory) -> Values:
    found = history.progress
    return None if found is None or found.verdict is None else {(found.verdict.value,): 1}


def _verdict(history: GroupHistory) -> Values:
    found = history.diagnosis
    return None if found is None else {(found.verdict.value,): 1}


def _findings(history: GroupHistory) -> Values:
    found = history.diagnosis
    if found is None:
        return None
    return {
        (rule, level.value): count
        for (rule, level), count in Counter((each.rule, each.level) for each in found.findings).items()
    }


def _blocked(facts: GroupFacts) -> Values:
    blockers = blocking_upgrade(facts.group)
    return None if blockers is None else len(blockers)


READABLE = Family(
    name="kohort_group_readable",
    help="Whether the last poll could read the group, its members and its offsets: 1, or 0 with the reason in "
    "kohort_group_unread.",
)
UNREAD = Family(
    name="kohort_group_unread",
    help="Why the group or its offsets could not be read: Kafka's name of the error, UNREACHABLE, or MALFORMED for a "
    "member; the value is 1.",
    labels=("error",),
)
OF_GROUPS: tuple[GroupFamily | HistoryFamily, ...] = (
    GroupFamily(
        name="kohort_group",
        kind=Kind.INFO,
        help="Type of the group (classic, consumer, share, streams), protocol type and assignor.",
        labels=("type", "protocol_type", "protocol"),
        values=_info,
    ),
    GroupFamily(
        name="kohort_group_state",
        help="State of the group (Stable, Empty, Assigning, Reconciling, …); the value is 1.",
        labels=("state",),
        values=lambda facts: {(facts.group.state.value,): 1},
    ),
    GroupFamily(
        name="kohort_group_members",
        help="Members by protocol; 0 for a group without members.",
        labels=("protocol",),
        values=_members,
    ),
    GroupFamily(
        name="kohort_group_generation",
        help="Generation of a classic group, if the source shows it: brokers do not, a broker's log does.",
        values=_generation,
    ),
    GroupFamily(
        name="kohort_group_epoch",
        help="Group epoch of a consumer, share or streams group.",
        values=lambda facts: facts.group.group_epoch,
    ),
    GroupFamily(
        name="kohort_group_assignment_epoch",
        help="Epoch of the target assignment; lower than the group epoch until a new target is computed.",
        values=lambda facts: facts.group.assignment_epoch,
    ),
    GroupFamily(
        name="kohort_group_member_epoch_min",
        help="Lowest epoch of a member; -2 is a static member that is away.",
        values=lambda facts: min(_epochs(facts.group), default=None),
    ),
    GroupFamily(
        name="kohort_group_member_epoch_max",
        help="Highest epoch of a member.",
        values=lambda facts: max(_epochs(facts.group), default=None),
    ),
    GroupFamily(
        name="kohort_group_members_behind",
        help="Members that have not reached the target assignment: their epoch is older, or their partitions differ.",
        values=_members_behind,
    ),
    GroupFamily(
        name="kohort_group_partitions_owned",
        help="Partitions that members own, if all assignments are known; one that several members of a share group "
        "read counts for each.",
        values=_owned,
    ),
    GroupFamily(
        name="kohort_group_partitions_without_owner",
        help="Partitions without an owner, of topics that members subscribe to by name or own partitions of.",
        values=without_owner,
    ),
    HistoryFamily(
        name="kohort_group_rebalances",
        kind=Kind.COUNTER,
        help="Rebalances since the exporter started: new group epochs; for classic groups those that polls observed.",
        values=lambda history: history.rebalances,
    ),
    GroupFamily(
        name="kohort_group_lag_records",
        help="Records after the committed offsets, over all partitions whose lag is known.",
        values=lambda facts: _lag(facts.rows),
    ),
    GroupFamily(
        name="kohort_group_lag_seconds",
        help="Age of the oldest record that can be read, in topics that members read, if it is known; 0: all are read.",
        values=_group_lag_seconds,
    ),
    GroupFamily(
        name="kohort_group_unread_records",
        help="Records that can be read, in topics that members read: the lag without deleted and aborted records.",
        values=lambda facts: total_lag(row.unread for row in facts.rows if row.is_subscribed),
    ),
    GroupFamily(
        name="kohort_group_lag_unsubscribed_records",
        help="The part of kohort_group_lag_records in topics that no member reads, while the group has members; "
        "absent if a subscription is not known, as while a classic group rebalances.",
        values=_unsubscribed_lag,
    ),
    GroupFamily(
        name="kohort_group_lost_records",
        help="Offsets between the committed offsets and the starts of the logs: deleted before the group read them.",
        values=lambda facts: _lost(facts.rows),
    ),
    GroupFamily(
        name="kohort_group_offsets_pending_partitions",
        help="Partitions with an offset in an open transaction: consumers that start there wait for its end.",
        values=_pending,
    ),
    GroupFamily(
        name="kohort_group_lag_unknown_partitions",
        help="Owned or committed partitions whose lag is not known: no committed offset, or no leader answers.",
        values=lambda facts: sum(row.lag is None for row in facts.rows),
    ),
    HistoryFamily(
        name="kohort_group_last_progress_timestamp_seconds",
        help="Time of the last poll that found a committed offset advanced.",
        values=_progress,
    ),
    GroupFamily(
        name="kohort_group_last_commit_timestamp_seconds",
        help="Time of the newest commit; for a live cluster only with --commit-times.",
        values=_last_commit,
    ),
    HistoryFamily(
        name="kohort_group_committed_records_per_second",
        help="Rate at which committed offsets advance between polls; negative after a reset.",
        values=_of_progress(lambda found: found.committed_per_s),
    ),
    HistoryFamily(
        name="kohort_group_produced_records_per_second",
        help="Rate at which records are produced to the group's partitions between polls.",
        values=_of_progress(lambda found: found.produced_per_s),
    ),
    HistoryFamily(
        name="kohort_group_catch_up_seconds",
        help="Time until the slowest partition has caught up at these rates; +Inf: never.",
        values=_of_progress(lambda found: found.catch_up_s),
    ),
    HistoryFamily(
        name="kohort_group_progress",
        help="Burrow's verdict of the worst partition: OK, WARN, REWIND, STALLED, STOPPED; the value is 1.",
        labels=("verdict",),
        values=_progress_verdict,
    ),
    HistoryFamily(
        name="kohort_group_verdict",
        help="Verdict of kohort diagnose over the last polls: ok, warning, error; the value is 1.",
        labels=("verdict",),
        values=_verdict,
    ),
    HistoryFamily(
        name="kohort_group_findings",
        help="Findings of kohort diagnose by rule and level (error, warning, note).",
        labels=("rule", "level"),
        values=_findings,
    ),
    GroupFamily(
        name="kohort_group_upgrade_blockers",
        help="Members of a classic group whose assignments carry user data, which blocks an online upgrade; 0: none.",
        values=_blocked,
    ),
)
OF_TOPICS = (
    RowsFamily(
        name="kohort_topic_lag_records",
        help="Records of a topic after the group's committed offsets.",
        values=_lag,
    ),
    RowsFamily(
        name="kohort_topic_lag_seconds",
        help="Age of the oldest record of a topic that can be read; 0: all are read.",
        values=_lag_seconds,
    ),
    RowsFamily(
        name="kohort_topic_lost_records",
        help="Offsets of a topic between the committed offsets and the starts of the logs: deleted unread.",
        values=_lost,
    ),
)
OF_PARTITIONS = (
    RowFamily(
        name="kohort_partition_lag_records",
        help="Records of a partition after the committed offset; negative: the offset is after the log's end.",
        values=attrgetter("lag"),
    ),
    RowFamily(
        name="kohort_partition_lag_seconds",
        help="Age of the first record of a partition that can be read; 0: all are read.",
        values=lambda row: None if row.lag_ms is None else row.lag_ms / 1000,
    ),
    RowFamily(
        name="kohort_partition_lost_records",
        help="Offsets between the committed offset and the start of the log: deleted unread.",
        values=attrgetter("lost"),
    ),
    RowFamily(
        name="kohort_partition_committed_offset",
        help="Committed offset; of a share group the offset from which it delivers.",
        values=attrgetter("committed"),
    ),
    RowFamily(
        name="kohort_partition_end_offset",
        help="Log end offset: the offset of the next record.",
        values=attrgetter("end"),
    ),
    RowFamily(
        name="kohort_partition_start_offset",
        help="Log start offset: the offset of the oldest record.",
        values=attrgetter("log_start"),
    ),
)
FAMILIES: tuple[Family, ...] = (READABLE, UNREAD, *OF_GROUPS, *OF_TOPICS, *OF_PARTITIONS)
