"""Polls: the facts that each reads of all groups, and what several of them show. Brokers do not report the generation
of a classic group: its rebalances are counted when it starts one, or its members or partitions have changed."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from cli.sources.source import Source
from groups import lag
from groups import progress as progresses
from groups.diagnosis.assignments import has_regexes
from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import Diagnosis, diagnose
from groups.listing import MALFORMED, Cause, GroupFilter, Problem
from groups.model import Group, GroupState, GroupType, Topic
from groups.progress import GroupProgress, group_progress, readings_of_rows

UNREACHABLE = "UNREACHABLE"  # The error if no broker answered: Kafka has no name for it
MOST_LAG_TIMES = 20_000  # Most offsets looked up in one poll; the others follow in the next ones
Matches = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The groups to read, and the topics to show; None means all."""

    groups: Matches | None = None
    topics: Matches | None = None
    commit_times: bool = False  # Whether a cluster's `__consumer_offsets` is read for the times of commits
    is_live: bool = False  # Whether a cluster is read: a file does not show which topics do not exist


@dataclass(frozen=True, slots=True, kw_only=True)
class PolledGroup:
    """A group of a poll. `group` is None, and `rows` are empty, if it could not be read at all."""

    id: str
    group: Group | None = None
    rows: Sequence[lag.PartitionLag] = ()
    error: str | None = None  # Kafka's name of the error if it could not be read completely


@dataclass(frozen=True, slots=True, kw_only=True)
class PollResult:
    """The result of a poll; `at_ms` is its end."""

    at_ms: int
    groups: Mapping[str, PolledGroup] = field(default_factory=dict)  # Groups by id, sorted
    topics: Mapping[str, Topic] = field(default_factory=dict)
    missing_topics: frozenset[str] | None = None  # Subscribed topics that do not exist; None: not known
    topic_names: frozenset[str] | None = None  # All of the cluster; None: no member has a regex
    problems: tuple[Problem, ...] = ()
    lag_times_left_out: int = 0
    totals: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # Of the journal, by group and name


class LagTimes:
    """The first unread records, each read once; a search without a result continues where it ended at the next poll."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], dict[int, lag.NextRecord]] = {}
        self._begin = 0

    def of(
        self, source: Source, unread: Mapping[tuple[str, int], Collection[int]], topics: Mapping[str, Topic]
    ) -> tuple[lag.NextRecords, tuple[Problem, ...], int]:
        """Records by partition and offset; problems; and the number of offsets left to the next poll."""
        known: dict[tuple[str, int], dict[int, lag.NextRecord]] = {}
        missing: list[tuple[tuple[str, int], int, lag.NextRecord]] = []
        for partition, offsets in unread.items():
            before = self._known.get(partition, {})
            for offset in offsets:
                record = before.get(offset)
                if record is not None and _is_final(record, partition, topics):
                    known.setdefault(partition, {})[offset] = record
                else:
                    missing.append((partition, offset, record or _NOT_SEARCHED))
                    if record is not None and record.searched_to is not None:
                        known.setdefault(partition, {})[offset] = record._replace(is_unknown=True)
        left_out = max(0, len(missing) - MOST_LAG_TIMES)
        if left_out:  # so that each offset gets its turn
            begin = self._begin % len(missing)
            missing = (missing[begin:] + missing[:begin])[:MOST_LAG_TIMES]
            self._begin = begin + MOST_LAG_TIMES
        asked: dict[tuple[str, int], set[int]] = {}
        for partition, offset, searched in missing:
            asked.setdefault(partition, set()).add(searched.searched_to or offset)
        read = source.next_records(asked) if asked else None
        records = read.records if read else {}
        for partition, offset, searched in missing:
            record = records.get(partition, {}).get(searched.searched_to or offset)
            if record is not None:
                aborted = record.aborted + (searched.aborted if searched.searched_to else 0)
                known.setdefault(partition, {})[offset] = record._replace(aborted=aborted)
        self._known = known
        return known, read.problems if read else (), left_out


_NOT_SEARCHED = lag.NextRecord(None)


def _is_final(record: lag.NextRecord, partition: tuple[str, int], topics: Mapping[str, Topic]) -> bool:
    """Whether the record is kept, and is not of a transaction that was open when it was read, and may be aborted."""
    topic = topics.get(partition[0])
    if record.offset is None or topic is None:
        return False
    start = (topic.start_offsets or {}).get(partition[1])
    stable = (topic.stable_offsets or {}).get(partition[1])
    return (start is None or record.offset >= start) and (stable is None or record.offset < stable)


def read_groups(
    source: Source, scope: Scope, before: Collection[str], lag_times: LagTimes, now_ms: Callable[[], int]
) -> PollResult:
    """Read the facts for the metrics; `before` are the groups of the previous poll."""
    listed = source.select_groups(GroupFilter(has_name=scope.groups), described=False)
    described = source.describe([listing.id for listing in listed.items], offsets=True)
    # A group deleted since it was listed is not a problem.
    problems = [problem for problem in described.problems if problem.cause is not Cause.ABSENT]
    timed = source.with_commit_times(described.items) if scope.commit_times else described
    uncommitted = timed.problems if scope.commit_times else ()
    groups = {group.id: group for group in timed.items}
    names = set(filter(scope.topics, lag.topics_read(groups.values())))
    read = source.topics(names, end_offsets=True, start_offsets=True, stable_offsets=True)
    topics = {topic.name: topic for topic in read.items}
    unread_topics = frozenset(name for problem in read.problems for name in problem.topics)
    rows = {name: _rows(group, topics, scope) for name, group in groups.items()}
    records, untimed, left_out = lag_times.of(source, lag.unread_offsets(rows.values()), topics)
    at_ms = now_ms()
    names_of_all = None
    if scope.is_live and any(map(has_regexes, groups.values())):
        names_of_all = frozenset(topic.name for topic in source.topics(None, end_offsets=False).items)
    errors = _errors(problems, groups)
    if listed.problems:
        # A broker that does not answer lists none of its groups, but they still exist.
        gone = set(before) - {listing.id for listing in listed.items}
        errors |= dict.fromkeys(gone, _error(listed.problems[0]))
    return PollResult(
        at_ms=at_ms,
        groups={
            name: PolledGroup(
                id=name,
                group=groups.get(name),
                rows=lag.with_next_records(rows.get(name, ()), records, at_ms),
                error=errors.get(name),
            )
            for name in sorted(groups.keys() | errors.keys())
        },
        topics=topics,
        missing_topics=frozenset(names - topics.keys() - unread_topics) if scope.is_live else None,
        topic_names=names_of_all,
        problems=(*listed.problems, *problems, *uncommitted, *read.problems, *untimed),
        lag_times_left_out=left_out,
    )


def _rows(group: Group, topics: Mapping[str, Topic], scope: Scope) -> list[lag.PartitionLag]:
    rows = lag.each_once(lag.partition_lags(group, topics))
    return [row for row in rows if scope.topics is None or scope.topics(row.topic)]


def _errors(problems: Iterable[Problem], groups: Mapping[str, Group]) -> dict[str, str]:
    """Errors by group: why the group, a member, or all of its offsets could not be read."""
    malformed = {
        name: MALFORMED
        for name, group in groups.items()
        if any(member.unreadable for member in group.members)
    }
    return malformed | {
        problem.group: _error(problem)
        for problem in problems
        if problem.group is not None
        and (problem.group not in groups or groups[problem.group].offsets is None)
    }


def _error(problem: Problem) -> str:
    return problem.error or UNREACHABLE


WINDOW_MS = 30_000
_REBALANCING = frozenset({GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE})
_THRESHOLDS = Thresholds()
Readings = Mapping[tuple[str, int], progresses.Reading]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolledHistory:
    last: Group | None = None  # The group at the last poll that could read it, without offsets
    rebalances: int = 0
    progress_ms: int | None = None  # Time of the poll that first observed the last progress
    observations: tuple[Observation, ...] = ()  # Of the last polls, oldest first, as far as needed
    readings: tuple[tuple[int, Readings], ...] = ()  # Of the last polls that read it, with the times
    totals: Mapping[str, int] = field(default_factory=dict)  # Counters of the journal, by name
    progress: GroupProgress | None = None  # None if it was read once, or not by the last poll
    diagnosis: Diagnosis | None = None  # None after one poll, or if no rule explains what is unread


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterHistory:
    interval_ms: int = 0  # The time between polls
    groups: Mapping[str, PolledHistory] = field(default_factory=dict)

    def after(self, reading: PollResult) -> "ExporterHistory":
        """The history after another poll. Deleted groups are dropped; one that cannot be read is kept."""
        kept_ms = WINDOW_MS - self.interval_ms
        before = {name: self.groups.get(name, PolledHistory()) for name in reading.groups}
        groups = {name: _after(before[name], seen, reading, kept_ms) for name, seen in reading.groups.items()}
        return replace(self, groups=groups)


def _after(before: PolledHistory, seen: PolledGroup, reading: PollResult, kept_ms: int) -> PolledHistory:
    at_ms = reading.at_ms
    problem = next((problem for problem in reading.problems if problem.group == seen.id), None)
    records = {
        (row.topic, row.partition): row.next_record for row in seen.rows if row.next_record is not None
    }
    observation = Observation(
        at_ms=at_ms,
        group=seen.group,
        problem=problem if seen.error else None,
        topics=reading.topics,
        missing_topics=reading.missing_topics,
        topic_names=reading.topic_names,
        next_records=records,
    )
    observations = (*_recent(before.observations, at_ms, WINDOW_MS), observation)
    totals = reading.totals.get(seen.id, before.totals)
    kept = _recent(observations, at_ms, kept_ms)
    if seen.group is None:
        # Earlier observations do not show the current state of the group.
        diagnosis = _judged(seen, observations, None)
        return replace(before, observations=kept, progress=None, diagnosis=diagnosis, totals=totals)
    readings = (
        *_within(before.readings, at_ms, WINDOW_MS),
        (at_ms, readings_of_rows(at_ms, seen.rows, reading.topics)),
    )
    progress = group_progress([of_poll for _, of_poll in readings]) if len(readings) > 1 else None
    return PolledHistory(
        last=replace(seen.group, offsets=None),
        totals=totals,
        rebalances=before.rebalances + (rebalances_between(before.last, seen.group) if before.last else 0),
        progress_ms=at_ms if _has_moved(readings[-2:]) else before.progress_ms,
        observations=kept,
        readings=_within(readings, at_ms, kept_ms),
        progress=progress and progress._replace(partitions={}),
        diagnosis=_judged(seen, observations, progress),
    )


def _judged(
    seen: PolledGroup, observations: Sequence[Observation], progress: GroupProgress | None
) -> Diagnosis | None:
    """The verdict; from observations without the group only if something was found: else it may not be healthy."""
    if seen.group is not None:
        return (
            diagnose(seen.id, observations, _THRESHOLDS, progress=progress) if len(observations) > 1 else None
        )
    unread = list(takewhile(lambda observation: observation.group is None, reversed(observations)))
    diagnosis = diagnose(seen.id, unread[::-1], _THRESHOLDS)
    return diagnosis if diagnosis.findings else None


def _recent(observations: Sequence[Observation], at_ms: int, window_ms: int) -> tuple[Observation, ...]:
    """The observations in the window, and always the newest; only the newest keeps its offsets."""
    older, newest = observations[:-1], observations[-1:]
    recent = (old for old in older if at_ms - old.at_ms <= window_ms)
    bare = (
        replace(old, group=replace(old.group, offsets=None), topics=None)
        if old.group is not None and old.group.offsets is not None
        else old
        for old in recent
    )
    return (*bare, *newest)


def _within(
    readings: tuple[tuple[int, Readings], ...], at_ms: int, window_ms: int
) -> tuple[tuple[int, Readings], ...]:
    return tuple(of_poll for of_poll in readings if at_ms - of_poll[0] <= window_ms) or readings[-1:]


def rebalances_between(before: Group, after: Group) -> int:
    """The number of rebalances that started between two descriptions of a group, as far as these show it."""
    if before.type is not after.type:
        return 1
    earlier, later = before.group_epoch, after.group_epoch
    if after.type is GroupType.CLASSIC:
        earlier, later = before.generation, after.generation
    if earlier is not None and later is not None:
        return max(0, later - earlier)
    was, now = before.state in _REBALANCING, after.state in _REBALANCING
    if now or was:
        return int(now and not was)
    owned, owned_later = ({member.id: member.owned for member in group.members} for group in (before, after))
    return int(owned != owned_later)


def _has_moved(readings: Sequence[tuple[int, Readings]]) -> bool:
    """Whether a committed offset advanced. A reset backwards and a first commit are not progress."""
    if len(readings) < 2:
        return False
    (_, before), (_, after) = readings
    return any(
        now.committed is not None
        and (earlier := before.get(partition)) is not None
        and earlier.committed is not None
        and now.committed > earlier.committed
        for partition, now in after.items()
    )
