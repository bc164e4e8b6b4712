"""Lag: the number of records that a group has not read, according to one rule for every table, graph and document.

It is Kafka's figure. Whatever is judged uses what can be read instead (`unread`): lag times, progress.

The lag of a partition is its log end offset less the committed offset. It is unknown if either is unknown or nothing
is committed (null, or -1 from brokers before 2.1). A lag that the coordinator counts takes precedence: the offset of
a share group is its start offset, not its progress. An offset committed beyond the end has a negative lag, as
kafka-consumer-groups prints it; in a sum it counts as 0, so that it does not hide the lag of other partitions.

Kafka's tool (`ConsumerGroupCommand.getLag`) has the same rule. It has no counted lag, because it shows no share
groups.

What can be read. Not every offset is a record that a consumer gets: records before the log start are deleted,
transaction markers and the gaps of compaction are no records, records of aborted transactions are not returned to
consumers with `isolation.level=read_committed`, and records from the last stable offset on not yet. No broker shows
the isolation level of a consumer, so nothing counts as readable that `read_committed` does not return. Offsets alone
give bounds; a `NextRecord`, which costs a fetch, shows whether there is a record at all. Offsets of a log are
its start, last stable offset and end (high watermark).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import repeat
from typing import NamedTuple, Self, TypeAlias

from groups.commits import CommittedColumns, Numbers, commit_columns
from groups.model import NOTHING_COMMITTED, Group, Member, Topic
from groups.times import duration_text, format_moment
from groups.use import unsubscribed_topics

CLOCKS_DIFFER_MS = 5_000  # a record may be this much in the future: its producer's clock is ahead
_UNKNOWN = Topic(name="", partitions=0)
_FIRST_RELEASE_MS = 1_293_840_000_000  # 2011; earlier times are no times, or seconds


class NextRecord(NamedTuple):
    """The first record from an offset on, of no aborted transaction. A tuple: a cluster may have 100,000 of them."""

    offset: int | None  # None: none before the log's end (`is_unknown`: before `searched_to`)
    written_ms: int | None = None  # its timestamp in ms since 1970; None if it has none
    aborted: int = 0  # the number of records of aborted transactions before it
    searched_to: int | None = None  # the offset at which a search without a result ended
    is_unknown: bool = False  # the search ended at its limit, before the log's end

    def age_ms(self, now_ms: int) -> int | None:
        written_ms = self.written_ms
        if written_ms is None or not (
            _FIRST_RELEASE_MS <= written_ms <= now_ms or not self.wrong_time(now_ms)
        ):
            return None
        return max(0, now_ms - written_ms)

    def wrong_time(self, now_ms: int) -> str | None:
        if self.offset is None:
            return None
        if self.written_ms is None:
            return "the first unread record has no timestamp"
        if self.written_ms < _FIRST_RELEASE_MS <= now_ms:
            return (
                f"the first unread record has the time {format_moment(self.written_ms)}, before Kafka existed"
            )
        ahead_ms = self.written_ms - now_ms
        if ahead_ms > CLOCKS_DIFFER_MS:
            return f"the first unread record has a time in the future, by {duration_text(ahead_ms)}"
        return None


Number: TypeAlias = int | None
NextRecords: TypeAlias = Mapping[tuple[str, int], Mapping[int, NextRecord]]  # by partition and offset asked


def records_between(offset: int | None, end: int | None) -> int | None:
    """The number of records from a committed offset to the end of the log; None unless both are known."""
    return None if offset is None or offset <= NOTHING_COMMITTED or end is None else end - offset


def total_lag(lags: Iterable[int | None]) -> int | None:
    return _known(sum, [lag if lag is None or lag > 0 else 0 for lag in lags])


def _known(of: Callable[[list[int]], int], numbers: Iterable[int | None]) -> int | None:
    """The sum or maximum of those that are known; None: none is."""
    known = [number for number in numbers if number is not None]
    return of(known) if known else None


class PartitionLag(NamedTuple):
    """A partition of a group; `committed` is None if unknown or nothing. A tuple, five times as fast to create."""

    topic: str
    partition: int
    member: Member | None = None
    is_subscribed: bool = True  # False: it is known that none of the members reads the topic
    committed: int | None = None
    counted: int | None = (
        None  # the lag as the coordinator counts it: `committed` is a share group's start offset
    )
    leader_epoch: int | None = None
    metadata: str | None = None
    last_commit_ms: int | None = None  # when the offset was committed, in ms since 1970
    log_start: int | None = None  # the offset of the oldest record that is kept
    stable: int | None = None  # the last stable offset
    end: int | None = None
    lag: int | None = None
    next_record: NextRecord | None = None  # from the committed offset on; None: not requested
    lag_ms: int | None = None
    """The first unread record's age, 0 without one; None: not requested, or a wrong time."""

    @property
    def lost(self) -> int | None:
        """The number of offsets between the committed offset and the log start, deleted unread; None: not known."""
        return _lost(self.committed, self.log_start, self.counted)

    @property
    def unread(self) -> int | None:
        """The number to judge by: the lag, unless the log has fewer; None: not known, the search ended early."""
        return _unread(self.lag, self.committed, self.end, self.log_start, self.counted, self.next_record)


def _lost(committed: int | None, start: int | None, counted: int | None) -> int | None:
    if committed is None or committed < 0 or start is None or counted is not None:
        return None
    return start - committed if start > committed else 0


def _unread(
    lag: Number, committed: Number, end: Number, start: Number, counted: Number, record: NextRecord | None
) -> int | None:
    if lag is None or lag <= 0:
        return lag
    if record is not None and record.is_unknown:
        return None
    if counted is not None or committed is None or committed < 0 or end is None:
        return lag
    first = committed if start is None or start < committed else start
    if record is not None:
        if record.offset is None:
            return 0
        first = max(first, record.offset)
    return end - first if end > first else 0


class LagColumns(NamedTuple):
    """Partitions of a topic with the same owner, or none, in columns: a fleet has millions. As `PartitionLag`."""

    topic: str
    numbers: Sequence[int]
    member: Member | None
    is_subscribed: bool
    commits: CommittedColumns
    starts: Numbers
    stable: Numbers
    ends: Numbers
    lags: Numbers
    next_records: Sequence[NextRecord | None]
    lag_ms: Numbers
    unread: Numbers

    def rows(self) -> Iterator[PartitionLag]:
        of_all = repeat(self.topic), self.numbers, repeat(self.member), repeat(self.is_subscribed)
        return map(PartitionLag._make, zip(*of_all, *self.commits, *self[5:-1], strict=False))


def lag_columns(
    group: Group,
    topics: Mapping[str, Topic],
    records: NextRecords | None = None,
    now_ms: int = 0,
    *,
    once: bool,
) -> Iterator[LagColumns]:
    """In kafka-consumer-groups' order: the member with most partitions first, then those without a member. Lag times
    are known with the first unread `records` only. `once`: a partition that several members own, as in a share group,
    is only among those of the first."""
    owners = sorted(
        (member for member in group.members if member.owned),
        key=lambda member: -sum(map(len, (member.owned or {}).values())),
    )
    owned: set[tuple[str, int]] = set()
    for member in owners:
        for topic, partitions in sorted((member.owned or {}).items()):
            numbers = [number for number in sorted(partitions) if not once or (topic, number) not in owned]
            owned.update((topic, number) for number in numbers)
            if numbers:
                yield _of_topic(group, topics, (topic, numbers, member, True), records, now_ms)
    unsubscribed = unsubscribed_topics(group) or ()
    for topic, committed in sorted((group.offsets or {}).items()):
        numbers = [number for number in sorted(committed) if not owned or (topic, number) not in owned]
        if numbers:
            yield _of_topic(group, topics, (topic, numbers, None, topic not in unsubscribed), records, now_ms)


def partition_lags(
    group: Group, topics: Mapping[str, Topic], records: NextRecords | None = None, now_ms: int = 0
) -> list[PartitionLag]:
    """As `lag_columns`, in rows."""
    return [
        row for columns in lag_columns(group, topics, records, now_ms, once=False) for row in columns.rows()
    ]


def each_once(rows: Iterable[PartitionLag]) -> list[PartitionLag]:
    """One row for each partition, for sums: members of a share group own the same partitions, each in its own row."""
    listed = list(rows)
    if all(row.member is None for row in listed):
        return listed
    return list({(row.topic, row.partition): row for row in listed}.values())


def _of_topic(
    group: Group,
    topics: Mapping[str, Topic],
    of_all: tuple[str, Sequence[int], Member | None, bool],
    records: NextRecords | None,
    now_ms: int,
) -> LagColumns:
    topic, numbers, _, _ = of_all
    commits = commit_columns((group.offsets or {}).get(topic, {}), numbers)
    log = topics.get(topic, _UNKNOWN)
    starts, stable, ends = (
        [*map((known or {}).get, numbers)]
        for known in (log.start_offsets, log.stable_offsets, log.end_offsets)
    )
    lags = [
        records_between(offset, end) if counted is None else counted
        for offset, end, counted in zip(commits.positions, ends, commits.lags, strict=True)
    ]
    next_records: list[NextRecord | None] = [None] * len(numbers)
    lag_ms: list[int | None] = [None] * len(numbers)
    if records:
        next_records = [
            None if lag is None or position is None else records.get((topic, number), {}).get(position)
            for number, position, lag in zip(numbers, commits.positions, lags, strict=True)
        ]
    unread = [*map(_unread, lags, commits.positions, ends, starts, commits.lags, next_records)]
    if records is not None:
        lag_ms = [
            0 if count == 0 else None if record is None else record.age_ms(now_ms)
            for record, count in zip(next_records, unread, strict=True)
        ]
    return LagColumns(*of_all, commits, starts, stable, ends, lags, next_records, lag_ms, unread)


class LongestLag(NamedTuple):
    """The longest lag time of some rows. Topics that no member reads count if there are no others."""

    is_subscribed: bool = False
    known_ms: int | None = None
    is_behind: bool = False  # Whether any has lag
    is_behind_known: bool = False  # Whether the lag time of any of these is known

    @classmethod
    def of(cls, lag_ms: Numbers, unread: Numbers, *, is_subscribed: bool) -> Self:
        known = [count for count, time_ms in zip(unread, lag_ms, strict=True) if time_ms is not None]
        return cls(is_subscribed, _known(max, lag_ms), any(unread), any(known))

    def with_(self, other: Self) -> Self:
        """The longest of the rows of both."""
        if self.is_subscribed != other.is_subscribed:
            return self if self.is_subscribed else other
        return self._replace(
            known_ms=_known(max, (self.known_ms, other.known_ms)),
            is_behind=self.is_behind or other.is_behind,
            is_behind_known=self.is_behind_known or other.is_behind_known,
        )

    @property
    def ms(self) -> int | None:
        """None if it is not known for any with lag: the zeros of the others would look like no lag."""
        return None if self.is_behind and not self.is_behind_known else self.known_ms


def longest_lag(rows: Iterable[PartitionLag]) -> LongestLag:
    """Of the rows of topics that members read, or of all if there are no such topics."""
    listed = list(rows)
    subscribed = [row for row in listed if row.is_subscribed]
    times = [(row.lag_ms, row.unread) for row in subscribed or listed]
    return LongestLag.of(*zip(*times, strict=True), is_subscribed=bool(subscribed)) if times else LongestLag()


class LagSums(NamedTuple):
    """Sums over partitions. None: not known of any. Lags below 0 count as 0."""

    partitions: int = 0
    unknown: int = 0  # how many have a lag that is not known
    lag: int | None = None
    unread: int | None = None
    lost: int | None = None
    last_commit_ms: int | None = None
    longest: LongestLag = LongestLag()

    @classmethod
    def of(cls, columns: LagColumns) -> "LagSums":
        lags, commits = columns.lags, columns.commits
        return cls(
            partitions=len(lags),
            unknown=lags.count(None),
            lag=total_lag(lags),
            unread=total_lag(columns.unread),
            lost=_known(sum, map(_lost, commits.positions, columns.starts, commits.lags)),
            last_commit_ms=_known(max, commits.timestamps),
            longest=LongestLag.of(columns.lag_ms, columns.unread, is_subscribed=columns.is_subscribed),
        )

    def with_(self, other: "LagSums") -> "LagSums":
        """The sums over the partitions of both."""
        sums = (_known(sum, both) for both in zip(self[:5], other[:5], strict=True))
        times = self.last_commit_ms, other.last_commit_ms
        return LagSums._make((*sums, _known(max, times), self.longest.with_(other.longest)))

    @classmethod
    def over(cls, sums: Iterable["LagSums"]) -> "LagSums":
        return reduce(cls.with_, sums, cls())


def unread_offsets(columns: Iterable[LagColumns]) -> dict[tuple[str, int], set[int]]:
    offsets: dict[tuple[str, int], set[int]] = {}
    for of_topic in columns:
        for number, committed, unread in zip(
            of_topic.numbers, of_topic.commits.positions, of_topic.unread, strict=True
        ):
            if committed is not None and unread is not None and unread > 0:
                offsets.setdefault((of_topic.topic, number), set()).add(committed)
    return offsets


def topics_with_offsets(groups: Iterable[Group]) -> set[str]:
    """Every topic that a member owns or a group committed to; lag needs the end offsets of these topics."""
    listed = list(groups)
    owned = {topic for group in listed for member in group.members for topic in member.owned or ()}
    return owned | {topic for group in listed for topic in group.offsets or ()}


def topics_read(groups: Iterable[Group]) -> set[str]:
    """Every topic with an owner, an owner in the target, a subscriber or a committed offset."""
    listed = list(groups)
    members = [member for group in listed for member in group.members]
    targets = {topic for member in members for topic in member.target or ()}
    named = {topic for member in members if member.subscription for topic in member.subscription.topics}
    return topics_with_offsets(listed) | targets | named
