"""A group as observed, the thresholds, the input of a rule made from both, and the form of its findings."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from typing import TypeAlias, TypeVar

from groups import model
from groups.commits import known_offsets, timed_commits
from groups.counts import first_names
from groups.findings import Finding, Level, finding
from groups.lag import NextRecord, records_between
from groups.progress import COMMIT_INTERVAL_MS, PartitionProgress
from groups.settings import OFFSETS_RETENTION

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A group at one moment. Facts of the cluster, such as `topics`, are shared between its groups."""

    at_ms: int  # the time when the group had been described, in milliseconds since 1970
    group: model.Group | None
    """None if it could not be read; its `offsets` are None where only members were requested."""
    problem: model.Problem | None = None  # the reason if the group could not be read
    topics: Mapping[str, model.Topic] | None = None
    """That groups read, commit to or name; None: not requested."""
    missing_topics: frozenset[str] | None = None  # read, committed to or named; None when not known
    topic_names: frozenset[str] | None = None  # of the whole cluster; None when not known or not requested
    cluster: model.Cluster | None = None  # the version and settings of the brokers; None: not requested
    waiting_since_ms: Mapping[tuple[str, int], int | None] = field(default_factory=dict)
    """By requested partition, the later of the last commit and the first unread record; None: there is none."""
    next_records: Mapping[tuple[str, int], NextRecord] = field(default_factory=dict)  # where requested
    transactions: Mapping[tuple[str, int], tuple[model.OpenTransaction, ...]] | None = None
    """The earliest first, of partitions whose last stable offset is before the end; None: not requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits beyond which a rule reports a finding. Durations in milliseconds."""

    rebalance_ms: int = 15_000  # a longer one is stuck: members take part by heartbeats every 3 or 5 seconds
    storm: int = 3  # this many rebalances, or joins and departures of one host, are a storm
    commit_interval_ms: int = COMMIT_INTERVAL_MS  # of consumers; an offset still for three is stalled
    catch_up_ms: int = 3_600_000  # a group that takes longer to catch up, at the present rates, is slow
    hot: float = 10.0  # a partition with this many times the lag of the topic's other partitions is hot
    transaction_ms: int = 60_000  # open for this long, it blocks (the default of `transaction.timeout.ms`)
    expiry_ms: int = 24 * 3_600_000  # offsets that may expire within this time are reported
    skew: float = 2.0  # this many times the partitions of a member with the same subscription


@dataclass(frozen=True, kw_only=True)
class DiagnosisCase:
    """The observations of one group. At least one of them shows the group, except for rules with `of_unread`."""

    observations: tuple[Observation, ...]  # the observations, oldest first
    thresholds: Thresholds
    labels: Mapping[str, str]  # labels of members, including those that left, by id
    partitions: Mapping[
        model.TopicPartition, PartitionProgress
    ]  # over the observations that show its offsets

    @cached_property
    def seen(self) -> Sequence[tuple[Observation, model.Group]]:
        return [(seen, seen.group) for seen in self.observations if seen.group is not None]

    @property
    def last(self) -> Observation:
        return self.seen[-1][0]

    @property
    def group(self) -> model.Group:
        return self.seen[-1][1]

    @cached_property
    def offsets(self) -> model.Offsets:
        return self._newest(lambda seen: None if seen.group is None else seen.group.offsets) or {}

    def brokers_setting(self, name: str) -> str | None:
        """The value of a setting on which the brokers agree; None when not known."""
        cluster = self._newest(lambda seen: seen.cluster)
        return None if cluster is None else (cluster.settings or {}).get(name)

    @cached_property
    def pending(self) -> frozenset[model.TopicPartition]:
        pending = self._newest(lambda seen: None if seen.group is None else seen.group.pending)
        return frozenset() if pending is None else pending.places

    @cached_property
    def topics(self) -> Mapping[str, model.Topic]:
        return self._newest(lambda seen: seen.topics) or {}

    @cached_property
    def first_topics(self) -> Mapping[str, model.Topic]:
        return next((seen.topics for seen in self.observations if seen.topics is not None), {})

    @cached_property
    def topic_names(self) -> frozenset[str] | None:
        return self._newest(lambda seen: seen.topic_names)

    @cached_property
    def missing_topics(self) -> frozenset[str] | None:
        return self._newest(lambda seen: seen.missing_topics)

    def _newest(self, fact: Callable[[Observation], T | None]) -> T | None:
        known = map(fact, reversed(self.observations))
        return next((value for value in known if value is not None), None)

    @property
    def seen_ms(self) -> int:
        return self.observations[-1].at_ms - self.observations[0].at_ms

    def since_ms(self, holds: Callable[[model.Group], bool]) -> int | None:
        """The time since which a condition holds at every observation; None if it does not hold at the newest one."""
        since: int | None = None
        for observation in reversed(self.observations):
            if observation.group is None:
                continue
            if not holds(observation.group):
                break
            since = observation.at_ms
        return since

    def lasted_ms(self, since_ms: int | None) -> int:
        """The time from `since_ms` to the last observation; 0 for None."""
        return 0 if since_ms is None else self.observations[-1].at_ms - since_ms

    @property
    def in_shell(self) -> str:
        return in_shell(self.group.id)

    def named(self, members: Iterable[str]) -> str:
        return first_names([self.labels.get(member, member) for member in members])

    def member(self, member_id: str) -> model.Member | None:
        for observation in reversed(self.observations):
            for member in () if observation.group is None else observation.group.members:
                if member.id == member_id:
                    return member
        return None


class Need(Enum):
    """Data that a rule needs; the value is the text for people if they are missing."""

    TWO_OBSERVATIONS = "needs two observations"
    MEMBERS = "the source does not show what members own"
    TOPICS = "the topics are not known"
    MISSING_TOPICS = "the source does not know which topics do not exist"
    TOPIC_NAMES = "the source does not know every topic of the cluster"
    OFFSETS = "the committed offsets are not known"
    COMMITS = "no offset of the partitions that its members own is committed"
    END_OFFSETS = "the end offsets are not known"
    START_OFFSETS = "the log start offsets are not known"
    TWO_OFFSETS = "needs two observations of the committed offsets"
    TRANSACTIONS = "open transactions are not known"
    PENDING = "offsets in open transactions are not known"
    COMMIT_TIMES = "the source does not show when offsets were committed"
    RETENTION = "the brokers' offsets.retention.minutes is not known"


_MET: Mapping[Need, Callable[[DiagnosisCase], bool]] = {
    Need.TWO_OBSERVATIONS: lambda case: len(case.seen) > 1,
    Need.MEMBERS: lambda case: all(member.owned is not None for member in case.group.members),
    Need.TOPICS: lambda case: any(observation.topics is not None for observation in case.observations),
    Need.MISSING_TOPICS: lambda case: case.missing_topics is not None,
    Need.TOPIC_NAMES: lambda case: case.topic_names is not None,
    Need.OFFSETS: lambda case: any(group.offsets is not None for _, group in case.seen),
    Need.COMMITS: lambda case: (
        not any(member.owned for member in case.group.members) or any(True for _ in committed(case))
    ),
    Need.END_OFFSETS: lambda case: any(topic.end_offsets is not None for topic in case.topics.values()),
    Need.START_OFFSETS: lambda case: any(topic.start_offsets is not None for topic in case.topics.values()),
    Need.TWO_OFFSETS: lambda case: sum(group.offsets is not None for _, group in case.seen) > 1,
    Need.TRANSACTIONS: lambda case: case.last.transactions is not None,
    Need.PENDING: lambda case: any(group.pending is not None for _, group in case.seen),
    Need.COMMIT_TIMES: lambda case: any(one.timestamp is not None for _, one in timed_commits(case.offsets)),
    Need.RETENTION: lambda case: case.brokers_setting(OFFSETS_RETENTION) is not None,
}


def unmet_needs(case: DiagnosisCase) -> list[Need]:
    """The data that the observations do not contain. Data that do not apply to the group are not missing."""
    return [need for need, is_met in _MET.items() if not is_met(case)]


error, warning, note = (partial(finding, level) for level in (Level.ERROR, Level.WARNING, Level.NOTE))
Judge: TypeAlias = Callable[[DiagnosisCase], Iterable[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """The least time of observation: in less, a rule without an error or warning is not checked, if it may apply."""

    ms: Callable[[Thresholds], int]
    may_hide: Callable[[DiagnosisCase], bool] = lambda _: True  # whether a longer one could show it
    observed_ms: Callable[[DiagnosisCase], int] = lambda case: case.seen_ms  # e.g. since the last assignment

    def lacking_ms(self, case: DiagnosisCase) -> int | None:
        """The least time if the observation is shorter, and the group may have the problem."""
        least_ms = self.ms(case.thresholds)
        return least_ms if self.observed_ms(case) < least_ms and self.may_hide(case) else None


EVENTS = Least(
    ms=lambda _: 60_000,
    may_hide=lambda case: any(group.members or group.protocol_type for _, group in case.seen),
)  # For joins and departures, found while they happen: a process that restarts every 20 seconds does so twice


@dataclass(frozen=True, slots=True)
class DiagnosisRule:
    name: str
    source: str  # the source of the rule: a KIP, a class of Kafka, an issue
    needs: tuple[Need, ...]
    least: Least | None  # None: one observation shows the problem, or the observed time does not matter
    applies: Callable[[model.Group], bool]  # for other groups the rule is not reported as not checked
    of_unread: bool  # whether it also checks a group that no observation shows
    judge: Judge

    def findings(self, case: DiagnosisCase) -> Iterator[Finding]:
        return (replace(symptom, rule=self.name, source=self.source) for symptom in self.judge(case))


def in_shell(group: str) -> str:
    """A group's id, quoted for a shell; an empty one is not accepted as an argument, but matched."""
    return shlex.quote(group) if group else "--match '^$'"


def rule(
    name: str,
    *,
    source: str,
    needs: Sequence[Need] = (),
    least: Least | None = None,
    applies: Callable[[model.Group], bool] = lambda _: True,
    of_unread: bool = False,
) -> Callable[[Judge], DiagnosisRule]:
    return lambda judge: DiagnosisRule(name, source, tuple(needs), least, applies, of_unread, judge)


def committed(case: DiagnosisCase) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
    """The topics with committed offsets: the partitions of each, and their offsets."""
    for topic, commits in case.offsets.items():
        numbers, offsets = known_offsets(commits)
        if min(offsets, default=0) < 0:
            known = {number: at for number, at in zip(numbers, offsets, strict=True) if at >= 0}
            numbers, offsets = [*known], [*known.values()]
        if numbers:
            yield topic, numbers, offsets


def names(partitions: Iterable[model.TopicPartition]) -> str:
    """The first of the partitions, and the number of the others."""
    listed = sorted(partitions)
    return first_names([*map(model.partition_name, listed[:3])], of=len(listed))


def all_names(partitions: Iterable[model.TopicPartition]) -> tuple[str, ...]:
    return tuple(map(model.partition_name, sorted(partitions)))


def unread(case: DiagnosisCase, partition: model.TopicPartition) -> int:
    """The number of records between the committed offset and the end; 0 if it is not known."""
    commit = model.commit_of(case.offsets, partition)
    end = model.log_of(case.topics, partition).end
    return max(records_between(None if commit is None else commit.offset, end) or 0, 0)


def waits_for_transaction(case: DiagnosisCase, partition: model.TopicPartition) -> bool:
    """Whether no record before the last stable offset is left to read, and records of open transactions follow."""
    commit = model.commit_of(case.offsets, partition)
    record = case.last.next_records.get(partition)
    return commit is not None and is_held(model.log_of(case.topics, partition), commit.offset, record)


def is_held(log: model.LogOffsets, committed: int | None, next_record: NextRecord | None) -> bool:
    """Whether everything that can be read from a committed offset waits for the end of an open transaction."""
    if committed is None or committed < 0 or log.stable is None or log.end is None:
        return False
    position = max(committed, log.start or 0)
    if next_record is not None:
        if next_record.offset is None and not next_record.is_unknown:
            return False
        position = max(position, next_record.offset or next_record.searched_to or 0)
    return log.stable <= position < log.end
