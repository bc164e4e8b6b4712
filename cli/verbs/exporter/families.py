"""The metrics of groups (docs/exporter.md). Unknown values have no sample; a level's metrics are on no other level."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeAlias, TypeVar

from cli.polls.history import PolledHistory
from cli.sources.journal.schema import REBALANCES, WITHOUT_OWNER_US
from cli.verbs.exporter.options import SampleLevel
from groups.lag import LagSums, PartitionLag
from groups.model import Group, GroupType, Topic
from groups.progress import GroupProgress
from groups.use import unsubscribed_topics
from migration.inspection import blocking_upgrade

T = TypeVar("T")
V = TypeVar("V")
Labels: TypeAlias = tuple[str, ...]
Values: TypeAlias = float | dict[Labels, float] | None  # One, or one per value of the labels; None: unknown


class Kind(Enum):
    GAUGE = "gauge"
    COUNTER = "counter"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    group: Group
    topics: Mapping[str, Topic]
    sums: LagSums  # Over all partitions
    read: LagSums  # Over those of topics that members read
    others: LagSums


@dataclass(frozen=True, eq=False)
class MetricFamily(Generic[T, V]):
    """A metric without its kind's suffix; computed from a group's facts or history, a topic's sums, or one row."""

    name: str
    help: str
    values: Callable[[T], V]
    level: SampleLevel = SampleLevel.GROUP
    kind: Kind = Kind.GAUGE
    labels: Labels = ()  # Labels in addition to the labels of its level
    of_history: bool = False  # Whether it is about several polls, of which the last may have failed
    sample: str = field(init=False)  # The name of its samples

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", self.name + _SUFFIXES[self.kind])


_SUFFIXES = {Kind.GAUGE: "", Kind.COUNTER: "_total", Kind.INFO: "_info"}

AnyFamily: TypeAlias = MetricFamily[Any, Any]
_of_facts = MetricFamily[GroupFacts, Values]
_of_history = partial(MetricFamily[PolledHistory, Values], of_history=True)
_of_topic = partial(MetricFamily[LagSums, float | None], level=SampleLevel.TOPIC)
_of_row = partial(MetricFamily[PartitionLag, float | None], level=SampleLevel.PARTITION)


def _info(facts: GroupFacts) -> Values:
    group = facts.group
    return {(group.type.value, group.protocol_type or "", group.protocol or ""): 1}


def _members(facts: GroupFacts) -> Values:
    """Members by protocol; a group without members has a 0 for its own protocol."""
    usual = facts.group.type.value
    protocols = [(member.protocol.value if member.protocol else usual,) for member in facts.group.members]
    return dict[Labels, float](Counter(protocols)) or {(usual,): 0}


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
    """Partitions without an owner in topics that members subscribe to by name, or partly own; None if unknown."""
    group = facts.group
    if not group.members or any(member.owned is None or member.unreadable for member in group.members):
        return None
    owned = {partition for member in group.members for partition in _places(member.owned)}
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


def _unsubscribed_lag(facts: GroupFacts) -> float | None:
    """None if a member may read topics that no other member reads, as while a classic group rebalances."""
    return None if unsubscribed_topics(facts.group) is None else facts.others.lag or 0


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000


def _of_progress(pick: Callable[[GroupProgress], float | None]) -> Callable[[PolledHistory], Values]:
    return lambda history: None if history.progress is None else pick(history.progress)


def _progress_verdict(history: PolledHistory) -> Values:
    progress = history.progress
    return None if progress is None or progress.verdict is None else {(progress.verdict.value,): 1}


def _recorded_rebalances(totals: Mapping[str, int]) -> Values:
    return {
        (name.removeprefix(REBALANCES),): value
        for name, value in totals.items()
        if name.startswith(REBALANCES)
    }


def _findings(history: PolledHistory) -> Values:
    if history.diagnosis is None:
        return None
    return dict[Labels, float](
        Counter((finding.rule, finding.level.value) for finding in history.diagnosis.findings)
    )


READABLE = MetricFamily[str | None, Values](
    name="kohort_group_readable",
    help="Whether the last poll could read the group, its members and its offsets: 1, or 0 with the reason in "
    "kohort_group_unread.",
    values=lambda error: int(error is None),
)
UNREAD = MetricFamily[str | None, Values](
    name="kohort_group_unread",
    help="Why the group or its offsets could not be read: Kafka's name of the error, UNREACHABLE, or MALFORMED for a "
    "member; the value is 1.",
    labels=("error",),
    values=lambda error: None if error is None else {(error,): 1},
)
OF_JOURNALS: tuple[AnyFamily, ...] = (  # Of the journal of `kohort record`, which pushes them too
    _of_history(
        "kohort_group_recorded_rebalances",
        "Rebalances by cause since the journal of kohort record was begun; only with --journal.",
        lambda history: _recorded_rebalances(history.totals),
        kind=Kind.COUNTER,
        labels=("cause",),
    ),
    _of_history(
        "kohort_group_without_owner_seconds",
        "Seconds without an owner since the journal was begun, over all partitions, each when it has an owner again; "
        "only with --journal.",
        lambda history: history.totals.get(WITHOUT_OWNER_US, 0) / 1_000_000 if history.totals else None,
        kind=Kind.COUNTER,
    ),
)
OF_GROUPS: tuple[AnyFamily, ...] = (
    _of_facts(
        "kohort_group",
        "Type of the group (classic, consumer, share, streams), protocol type and assignor.",
        _info,
        kind=Kind.INFO,
        labels=("type", "protocol_type", "protocol"),
    ),
    _of_facts(
        "kohort_group_state",
        "State of the group (Stable, Empty, Assigning, Reconciling, …); the value is 1.",
        lambda facts: {(facts.group.state.value,): 1},
        labels=("state",),
    ),
    _of_facts(
        "kohort_group_members",
        "Members by protocol; 0 for a group without members.",
        _members,
        labels=("protocol",),
    ),
    _of_facts(
        "kohort_group_generation",
        "Generation of a classic group, if the source shows it: brokers do not, a broker's log does.",
        lambda facts: facts.group.generation if facts.group.type is GroupType.CLASSIC else None,
    ),
    _of_facts(
        "kohort_group_epoch",
        "Group epoch of a consumer, share or streams group.",
        lambda facts: facts.group.group_epoch,
    ),
    _of_facts(
        "kohort_group_assignment_epoch",
        "Epoch of the target assignment; lower than the group epoch until a new target is computed.",
        lambda facts: facts.group.assignment_epoch,
    ),
    _of_facts(
        "kohort_group_member_epoch_min",
        "Lowest epoch of a member; -2 is a static member that is away.",
        lambda facts: min(_epochs(facts.group), default=None),
    ),
    _of_facts(
        "kohort_group_member_epoch_max",
        "Highest epoch of a member.",
        lambda facts: max(_epochs(facts.group), default=None),
    ),
    _of_facts(
        "kohort_group_members_behind",
        "Members that have not reached the target assignment: their epoch is older, or their partitions differ.",
        _members_behind,
    ),
    _of_facts(
        "kohort_group_partitions_owned",
        "Partitions that members own, if all assignments are known; one that several members of a share group "
        "read counts for each.",
        _owned,
    ),
    _of_facts(
        "kohort_group_partitions_without_owner",
        "Partitions without an owner, of topics that members subscribe to by name or own partitions of.",
        without_owner,
    ),
    _of_history(
        "kohort_group_rebalances",
        "Rebalances since the exporter started: new group epochs; for classic groups those that polls "
        "observed.",
        lambda history: history.rebalances,
        kind=Kind.COUNTER,
    ),
    *OF_JOURNALS,
    _of_facts(
        "kohort_group_lag_records",
        "Records after the committed offsets, over all partitions whose lag is known.",
        lambda facts: facts.sums.lag,
    ),
    _of_facts(
        "kohort_group_lag_seconds",
        "Age of the oldest record that can be read, in topics that members read, if it is known; 0: all are "
        "read.",
        lambda facts: _seconds(facts.read.longest.ms),
    ),
    _of_facts(
        "kohort_group_unread_records",
        "Records that can be read, in topics that members read: the lag without deleted and aborted records.",
        lambda facts: facts.read.unread,
    ),
    _of_facts(
        "kohort_group_lag_unsubscribed_records",
        "The part of kohort_group_lag_records in topics that no member reads, while the group has members; "
        "absent if a subscription is not known, as while a classic group rebalances.",
        _unsubscribed_lag,
    ),
    _of_facts(
        "kohort_group_lost_records",
        "Offsets between the committed offsets and the starts of the logs: deleted before the group read them.",
        lambda facts: facts.sums.lost,
    ),
    _of_facts(
        "kohort_group_offsets_pending_partitions",
        "Partitions with an offset in an open transaction: consumers that start there wait for its end.",
        lambda facts: None if facts.group.pending is None else len(facts.group.pending.places),
    ),
    _of_facts(
        "kohort_group_lag_unknown_partitions",
        "Owned or committed partitions whose lag is not known: no committed offset, or no leader answers.",
        lambda facts: facts.sums.unknown,
    ),
    _of_history(
        "kohort_group_last_progress_timestamp_seconds",
        "Time of the last poll that found a committed offset advanced.",
        lambda history: _seconds(history.progress_ms),
    ),
    _of_facts(
        "kohort_group_last_commit_timestamp_seconds",
        "Time of the newest commit; for a live cluster only with --commit-times.",
        lambda facts: _seconds(facts.sums.last_commit_ms),
    ),
    _of_history(
        "kohort_group_committed_records_per_second",
        "Rate at which committed offsets advance between polls; negative after a reset.",
        _of_progress(lambda progress: progress.committed_per_s),
    ),
    _of_history(
        "kohort_group_produced_records_per_second",
        "Rate at which records are produced to the group's partitions between polls.",
        _of_progress(lambda progress: progress.produced_per_s),
    ),
    _of_history(
        "kohort_group_catch_up_seconds",
        "Time until the slowest partition has caught up at these rates; +Inf: never.",
        _of_progress(lambda progress: progress.catch_up_s),
    ),
    _of_history(
        "kohort_group_progress",
        "Burrow's verdict of the worst partition: OK, WARN, REWIND, STALLED, STOPPED; the value is 1.",
        _progress_verdict,
        labels=("verdict",),
    ),
    _of_history(
        "kohort_group_verdict",
        "Verdict of kohort diagnose over the last polls: ok, warning, error; the value is 1.",
        lambda history: None if history.diagnosis is None else {(history.diagnosis.verdict.value,): 1},
        labels=("verdict",),
    ),
    _of_history(
        "kohort_group_findings",
        "Findings of kohort diagnose by rule and level (error, warning, note).",
        _findings,
        labels=("rule", "level"),
    ),
    _of_facts(
        "kohort_group_upgrade_blockers",
        "Members of a classic group whose assignments carry user data, which blocks an online upgrade; 0: none.",
        lambda facts: None if (blockers := blocking_upgrade(facts.group)) is None else len(blockers),
    ),
)
OF_TOPICS: tuple[MetricFamily[LagSums, float | None], ...] = (
    _of_topic(
        "kohort_topic_lag_records",
        "Records of a topic after the group's committed offsets.",
        attrgetter("lag"),
    ),
    _of_topic(
        "kohort_topic_lag_seconds",
        "Age of the oldest record of a topic that can be read; 0: all are read.",
        lambda sums: _seconds(sums.longest.ms),
    ),
    _of_topic(
        "kohort_topic_lost_records",
        "Offsets of a topic between the committed offsets and the starts of the logs: deleted unread.",
        attrgetter("lost"),
    ),
)
OF_PARTITIONS: tuple[MetricFamily[PartitionLag, float | None], ...] = (
    _of_row(
        "kohort_partition_lag_records",
        "Records of a partition after the committed offset; negative: the offset is after the log's end.",
        attrgetter("lag"),
    ),
    _of_row(
        "kohort_partition_lag_seconds",
        "Age of the first record of a partition that can be read; 0: all are read.",
        lambda row: _seconds(row.lag_ms),
    ),
    _of_row(
        "kohort_partition_lost_records",
        "Offsets between the committed offset and the start of the log: deleted unread.",
        attrgetter("lost"),
    ),
    _of_row(
        "kohort_partition_committed_offset",
        "Committed offset; of a share group the offset from which it delivers.",
        attrgetter("committed"),
    ),
    _of_row(
        "kohort_partition_end_offset", "Log end offset: the offset of the next record.", attrgetter("end")
    ),
    _of_row(
        "kohort_partition_start_offset",
        "Log start offset: the offset of the oldest record.",
        attrgetter("log_start"),
    ),
)
FAMILIES: tuple[AnyFamily, ...] = (READABLE, UNREAD, *OF_GROUPS, *OF_TOPICS, *OF_PARTITIONS)
