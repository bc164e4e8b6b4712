"""A poll: the facts that it reads of groups, with the first unread records as long as these are known."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Self

from cli.sources.source import Source
from groups import lag
from groups.diagnosis.assignments import has_regexes
from groups.listing import MALFORMED, Cause, GroupFilter, Problem
from groups.model import Group, Topic, each_commit

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
    """A group of a poll. `group` is None, and there are no sums and rows, if it could not be read at all."""

    id: str
    group: Group | None = None
    rows: Callable[[], Sequence[lag.PartitionLag]] = tuple
    """Made at each call: those of all groups take much more memory than their offsets."""
    topics: Mapping[str, lag.LagSums] = field(default_factory=dict)  # Sums by topic
    read: lag.LagSums = field(default_factory=lag.LagSums)  # Over topics that members read
    others: lag.LagSums = field(
        default_factory=lag.LagSums
    )  # Over topics of which it is known that no member reads them
    error: str | None = None  # Kafka's name of the error if it could not be read completely

    @classmethod
    def of(
        cls, group: Group, columns: Callable[..., Iterable[lag.LagColumns]], error: str | None = None
    ) -> Self:
        """`columns(once=…)` are those of the partitions to show, as `lag_columns`."""
        topics: dict[str, lag.LagSums] = {}
        both = {True: lag.LagSums(), False: lag.LagSums()}
        for of_topic in columns(once=True):
            sums = lag.LagSums.of(of_topic)
            topics[of_topic.topic] = topics.get(of_topic.topic, lag.LagSums()).with_(sums)
            both[of_topic.is_subscribed] = both[of_topic.is_subscribed].with_(sums)
        return cls(
            id=group.id,
            group=group,
            rows=lambda: lag.each_once(row for of_topic in columns(once=False) for row in of_topic.rows()),
            topics=topics,
            read=both[True],
            others=both[False],
            error=error,
        )


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def problem_of(self) -> Mapping[str | None, Problem]:
        """The first problem of each group."""
        return {problem.group: problem for problem in reversed(self.problems)}


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
    """Read the facts of all groups; `before` are the groups of the previous poll."""
    listed = source.select_groups(GroupFilter(has_name=scope.groups), described=False)
    read = read_chosen(source, scope, [listing.id for listing in listed.items], lag_times, now_ms)
    if not listed.problems:
        return read
    # A broker that does not answer lists none of its groups, but they still exist.
    gone = set(before) - {listing.id for listing in listed.items}
    unlisted = {name: PolledGroup(id=name, error=_error(listed.problems[0])) for name in gone}
    groups = dict(sorted({**read.groups, **unlisted}.items()))
    return replace(read, groups=groups, problems=(*listed.problems, *read.problems))


def read_chosen(
    source: Source, scope: Scope, names: Sequence[str], lag_times: LagTimes, now_ms: Callable[[], int]
) -> PollResult:
    """Read the facts of these groups; one that has been deleted is missing."""
    described = source.describe(names, offsets=True)
    # A group deleted since it was listed is not a problem.
    problems = [problem for problem in described.problems if problem.cause is not Cause.ABSENT]
    timed = source.with_commit_times(described.items) if scope.commit_times else described
    uncommitted = timed.problems if scope.commit_times else ()
    groups = {group.id: group for group in timed.items}
    topics_named = set(filter(scope.topics, lag.topics_read(groups.values())))
    read = source.topics(topics_named, end_offsets=True, start_offsets=True, stable_offsets=True)
    topics = {topic.name: topic for topic in read.items}
    unread_topics = frozenset(name for problem in read.problems for name in problem.topics)

    def columns(
        group: Group, records: lag.NextRecords | None = None, at_ms: int = 0, *, once: bool = True
    ) -> Iterator[lag.LagColumns]:
        of_all = lag.lag_columns(group, topics, records, at_ms, once=once)
        return (one for one in of_all if scope.topics is None or scope.topics(one.topic))

    unread = lag.unread_offsets(chain.from_iterable(map(columns, groups.values())))
    records, untimed, left_out = lag_times.of(source, unread, topics)
    at_ms = now_ms()
    names_of_all = None
    if scope.is_live and any(map(has_regexes, groups.values())):
        names_of_all = frozenset(topic.name for topic in source.topics(None, end_offsets=False).items)
    errors = _errors(problems, groups)
    return PollResult(
        at_ms=at_ms,
        groups={
            name: PolledGroup.of(group, partial(columns, group, records, at_ms), errors.get(name))
            if (group := groups.get(name)) is not None
            else PolledGroup(id=name, error=errors[name])
            for name in sorted(groups.keys() | errors.keys())
        },
        topics=topics,
        missing_topics=frozenset(topics_named - topics.keys() - unread_topics) if scope.is_live else None,
        topic_names=names_of_all,
        problems=(*problems, *uncommitted, *read.problems, *untimed),
        lag_times_left_out=left_out,
    )


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


def newest_commit_ms(groups: Iterable[Group]) -> int | None:
    """The time of the newest commit, as an estimate of the time that a file shows; None if unknown."""
    times = (commit.timestamp for group in groups for _, commit in each_commit(group.offsets))
    return max((ms for ms in times if ms is not None and ms >= 0), default=None)
