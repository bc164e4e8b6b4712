"""One poll of all groups: the facts that it reads, and the rows of lag."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cli.sources.source import Source
from groups.diagnosis.assignments import has_regexes
from groups.lag import (
    NextRecord,
    NextRecords,
    PartitionLag,
    each_once,
    partition_lags,
    topics_read,
    unread_offsets,
    with_next_records,
)
from groups.listing import MALFORMED, Cause, GroupFilter, Problem
from groups.model import Group, Topic

UNREACHABLE = "UNREACHABLE"
"""The error if no broker answered: Kafka has no name for it."""
MOST_LAG_TIMES = 20_000
"""Maximum number of offsets whose records are looked up in one poll; the others follow in the next ones."""
Matches = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The groups to read, and the topics to show; None means all."""

    groups: Matches | None = None
    topics: Matches | None = None
    commit_times: bool = False
    """Whether a cluster's `__consumer_offsets` is read for the times of commits."""
    is_live: bool = False
    """Whether a cluster is read: a file does not show which topics do not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolledGroup:
    """A group of a poll. `group` is None, and `rows` are empty, if it could not be read at all."""

    id: str
    group: Group | None = None
    rows: Sequence[PartitionLag] = ()
    error: str | None = None
    """Kafka's name of the error if the group, one of its members or its offsets could not be read, else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollResult:
    """The result of a poll; `at_ms` is its end."""

    at_ms: int
    groups: Mapping[str, PolledGroup] = field(default_factory=dict)
    """Groups by id, sorted."""
    topics: Mapping[str, Topic] = field(default_factory=dict)
    missing_topics: frozenset[str] | None = None
    """Topics that a group subscribes to but that do not exist; None if not known."""
    topic_names: frozenset[str] | None = None
    """The names of all topics of the cluster; None if not read, because no member has a regex."""
    problems: tuple[Problem, ...] = ()
    lag_times_left_out: int = 0


class LagTimes:
    """The first unread records; a record does not change, so it is read once, until it is deleted.

    A search without a result continues where it ended at the next poll.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], dict[int, NextRecord]] = {}
        self._begin = 0

    def of(
        self,
        source: Source,
        wanted: Mapping[tuple[str, int], Collection[int]],
        topics: Mapping[str, Topic],
    ) -> tuple[NextRecords, tuple[Problem, ...], int]:
        """Records by partition and offset; problems; and the number of offsets left to the next poll."""
        known: dict[tuple[str, int], dict[int, NextRecord]] = {}
        missing: list[tuple[tuple[str, int], int, NextRecord]] = []
        for place, offsets in wanted.items():
            before = self._known.get(place, {})
            for offset in offsets:
                record = before.get(offset)
                if record is not None and _is_final(record, place, topics):
                    known.setdefault(place, {})[offset] = record
                else:
                    missing.append((place, offset, record or _NOT_SEARCHED))
                    if record is not None and record.searched_to is not None:
                        known.setdefault(place, {})[offset] = record._replace(is_unknown=True)
        left_out = max(0, len(missing) - MOST_LAG_TIMES)
        if left_out:  # so that each offset gets its turn
            begin = self._begin % len(missing)
            missing = (missing[begin:] + missing[:begin])[:MOST_LAG_TIMES]
            self._begin = begin + MOST_LAG_TIMES
        asked: dict[tuple[str, int], set[int]] = {}
        for place, offset, searched in missing:
            asked.setdefault(place, set()).add(searched.searched_to or offset)
        read = source.next_records(asked) if asked else None
        records = read.records if read else {}
        for place, offset, searched in missing:
            record = records.get(place, {}).get(searched.searched_to or offset)
            if record is not None:
                aborted = record.aborted + (searched.aborted if searched.searched_to else 0)
                known.setdefault(place, {})[offset] = record._replace(aborted=aborted)
        self._known = known
        return known, read.problems if read else (), left_out


_NOT_SEARCHED = NextRecord(None)


def _is_final(record: NextRecord, place: tuple[str, int], topics: Mapping[str, Topic]) -> bool:
    """Whether the record is kept, and is not of a transaction that was open when it was read, and may be aborted."""
    topic = topics.get(place[0])
    if record.offset is None or topic is None:
        return False
    start, stable = ((offsets or {}).get(place[1]) for offsets in (topic.start_offsets, topic.stable_offsets))
    return (start is None or record.offset >= start) and (stable is None or record.offset < stable)


def read_groups(
    source: Source, scope: Scope, before: Collection[str], lag_times: LagTimes, now_ms: Callable[[], int]
) -> PollResult:
    """Read the facts for the metrics; `before` are the groups of the previous poll.

    :raises WireError: :raises CommandError: nothing can be read
    """
    listed = source.select_groups(GroupFilter(has_name=scope.groups), described=False)
    described = source.describe([each.id for each in listed.items], offsets=True)
    # A group deleted since it was listed is not a problem.
    problems = [each for each in described.problems if each.cause is not Cause.ABSENT]
    timed = source.with_commit_times(described.items) if scope.commit_times else described
    groups = {group.id: group for group in timed.items}
    wanted = set(filter(scope.topics, topics_read(groups.values())))
    read = source.topics(wanted, end_offsets=True, start_offsets=True, stable_offsets=True)
    topics = {topic.name: topic for topic in read.items}
    unread_topics = frozenset(name for problem in read.problems for name in problem.topics)
    rows = {name: _rows(group, topics, scope) for name, group in groups.items()}
    records, untimed, left_out = lag_times.of(source, unread_offsets(rows.values()), topics)
    at_ms = now_ms()
    errors = _errors(problems, groups)
    if listed.problems:
        # A broker that does not answer lists none of its groups, but they still exist.
        errors |= dict.fromkeys(set(before) - {each.id for each in listed.items}, _error(listed.problems[0]))
    return PollResult(
        at_ms=at_ms,
        groups={
            name: PolledGroup(
                id=name,
                group=groups.get(name),
                rows=with_next_records(rows.get(name, ()), records, at_ms),
                error=errors.get(name),
            )
            for name in sorted(groups.keys() | errors.keys())
        },
        topics=topics,
        missing_topics=frozenset(wanted - topics.keys() - unread_topics) if scope.is_live else None,
        topic_names=_topic_names(source, groups.values()) if scope.is_live else None,
        problems=(
            *listed.problems,
            *problems,
            *(timed.problems if scope.commit_times else ()),
            *read.problems,
            *untimed,
        ),
        lag_times_left_out=left_out,
    )


def _rows(group: Group, topics: Mapping[str, Topic], scope: Scope) -> list[PartitionLag]:
    rows = each_once(partition_lags(group, topics))
    return [row for row in rows if scope.topics is None or scope.topics(row.topic)]


def _topic_names(source: Source, groups: Iterable[Group]) -> frozenset[str] | None:
    """The names of all topics, if a member has a regex."""
    if not any(map(has_regexes, groups)):
        return None
    return frozenset(topic.name for topic in source.topics(None, end_offsets=False).items)


def _errors(problems: Iterable[Problem], groups: Mapping[str, Group]) -> dict[str, str]:
    """Errors by group: why the group, a member, or all of its offsets could not be read."""
    malformed = {
        name: MALFORMED
        for name, group in groups.items()
        if any(member.unreadable for member in group.members)
    }
    return malformed | {
        each.group: _error(each)
        for each in problems
        if each.group is not None and (each.group not in groups or groups[each.group].offsets is None)
    }


def _error(problem: Problem) -> str:
    return problem.error or UNREACHABLE
