"""Lag: the number of records that a group has not read, according to one rule for every table, graph and document.

It is Kafka's figure. Whatever is judged uses what can be read instead (`readable`): lag times, progress.

The lag of a partition is its log end offset less the committed offset. It is unknown if either is unknown or nothing
is committed (null, or -1 from brokers before 2.1). A lag that the coordinator counts takes precedence: the offset of
a share group is its start offset, not its progress. An offset committed beyond the end has a negative lag, as
kafka-consumer-groups prints it; in a sum it counts as 0, so that it does not hide the lag of other partitions.

Kafka's tool (`ConsumerGroupCommand.getLag`) has the same rule. It has no counted lag, because it shows no share
groups.

What can be read. Not every offset is a record that a consumer gets: records before the log start are deleted,
transaction markers and the gaps of compaction are no records, records of aborted transactions are not returned to
consumers with `isolation.level=read_committed`, and records from the last stable offset on not yet. No broker shows
the isolation level of a consumer, so nothing counts as readable that `read_committed` does not return. `readable`
computes with offsets alone, which gives bounds; a `NextRecord`, which costs a fetch, shows whether there is a record
at all. Offsets of a log are its start, last stable offset and end (high watermark).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple, Self, TypeAlias

from groups.commits import commit_columns
from groups.model import NOTHING_COMMITTED, CommittedOffset, Group, Member, Topic
from groups.times import duration_text, format_moment
from groups.use import unsubscribed_topics

CLOCKS_DIFFER_MS = 5_000  # a record may be this much in the future: its producer's clock is ahead
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
        if written_ms is None:
            return None
        if _FIRST_RELEASE_MS <= written_ms <= now_ms:
            return now_ms - written_ms
        return None if self.wrong_time(now_ms) is not None else max(0, now_ms - written_ms)

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


class Readable(NamedTuple):
    """What a consumer can read of a partition from a committed offset. None means unknown."""

    lost: int | None = None  # the number of offsets that were deleted unread: they are below the log start
    most: int | None = None  # left to read; 0 is exact, others include markers, gaps and aborted records
    least: int = 0  # the number of records that are certain: a record was found, or none
    held: int | None = None  # how many of `most` wait, with `read_committed`, for a transaction's end
    aborted: int = 0  # records of aborted transactions before the first unread record, or the end

    @property
    def is_held(self) -> bool:
        """Whether everything that is left waits for the end of an open transaction."""
        return bool(self.most) and self.held == self.most


def readable(
    committed: int | None,
    *,
    start: int | None,
    stable: int | None,
    end: int | None,
    next_record: NextRecord | None = None,
) -> Readable:
    """What can be read from a committed offset; None or a negative offset: nothing is committed."""
    if committed is None or committed < 0:
        return Readable()
    lost = None if start is None else max(0, start - committed)
    position = committed + (lost or 0)
    if end is None:
        return Readable(lost)
    aborted = 0
    if next_record is not None:
        aborted = next_record.aborted
        if next_record.offset is None and not next_record.is_unknown:
            return Readable(lost, 0, 0, 0, aborted)
        position = max(position, next_record.offset or next_record.searched_to or 0)
    most = max(0, end - position)
    held = None if stable is None else max(0, end - max(position, stable))
    is_certain = next_record is not None and next_record.offset is not None
    return Readable(lost, most, int(is_certain and most > 0), held, aborted)


NextRecords: TypeAlias = Mapping[tuple[str, int], Mapping[int, NextRecord]]  # by partition and offset asked


def lag_of(committed: CommittedOffset | None, end: int | None) -> int | None:
    if committed is None:
        return None
    return records_between(committed.offset, end) if committed.lag is None else committed.lag


def records_between(offset: int | None, end: int | None) -> int | None:
    """The number of records from a committed offset to the end of the log; None unless both are known."""
    return None if offset is None or offset <= NOTHING_COMMITTED or end is None else end - offset


def total_lag(lags: Iterable[int | None]) -> int | None:
    known = [lag for lag in lags if lag is not None]
    return sum(max(lag, 0) for lag in known) if known else None


class PartitionLag(NamedTuple):
    """A partition of a group; `committed` is None if unknown or nothing. A tuple, five times as fast to create."""

    topic: str
    partition: int
    committed: int | None
    end: int | None
    lag: int | None
    leader_epoch: int | None
    metadata: str | None
    member: Member | None = None
    last_commit_ms: int | None = None  # when the offset was committed, in ms since 1970
    lag_ms: int | None = None
    """The first unread record's age, 0 without one; None: not requested, or a wrong time."""
    log_start: int | None = None  # the offset of the oldest record that is kept
    stable: int | None = None  # the last stable offset
    next_record: NextRecord | None = None  # from the committed offset on; None: not requested
    is_counted: bool = False  # by the coordinator: `committed` is a share group's start offset
    is_subscribed: bool = True  # False: it is known that none of the members reads the topic

    @property
    def readable(self) -> Readable:
        if self.is_counted:
            return Readable(most=None if self.lag is None else max(0, self.lag))
        offsets = {"start": self.log_start, "stable": self.stable, "end": self.end}
        return readable(self.committed, next_record=self.next_record, **offsets)

    @property
    def lost(self) -> int | None:
        """The number of offsets between the committed offset and the log start, deleted unread; None: not known."""
        committed, start = self.committed, self.log_start
        if committed is None or committed < 0 or start is None or self.is_counted:
            return None
        return start - committed if start > committed else 0

    @property
    def unread(self) -> int | None:
        """The number to judge by: the lag, unless the log has fewer; None: not known, the search ended early. It is
        `readable.most`, computed without its other figures: a fleet has millions of rows."""
        lag, record = self.lag, self.next_record
        if lag is None or lag <= 0:
            return lag
        if record is not None and record.is_unknown:
            return None
        committed, end, start = self.committed, self.end, self.log_start
        if self.is_counted or committed is None or committed < 0 or end is None:
            return lag
        if record is not None and record.offset is None:
            return 0
        first = max(
            committed if start is None else start, committed, 0 if record is None else record.offset or 0
        )
        return end - first if end > first else 0


def partition_lags(group: Group, topics: Mapping[str, Topic]) -> list[PartitionLag]:
    """In kafka-consumer-groups' order: the member with most partitions first, then those without a member."""
    owners = sorted(
        (member for member in group.members if member.owned),
        key=lambda member: -sum(map(len, (member.owned or {}).values())),
    )
    rows: list[PartitionLag] = []
    owned: set[tuple[str, int]] = set()
    for member in owners:
        for topic, partitions in sorted((member.owned or {}).items()):
            rows += _of_topic(group, topics, topic, sorted(partitions), member)
            owned.update((topic, partition) for partition in partitions)
    unsubscribed = unsubscribed_topics(group) or ()
    for topic, committed in sorted((group.offsets or {}).items()):
        left = [partition for partition in sorted(committed) if (topic, partition) not in owned]
        rows += _of_topic(group, topics, topic, left, None, is_subscribed=topic not in unsubscribed)
    return rows


def each_once(rows: Iterable[PartitionLag]) -> list[PartitionLag]:
    """One row for each partition, for sums: members of a share group own the same partitions, each in its own row."""
    listed = list(rows)
    if all(row.member is None for row in listed):
        return listed
    return list({(row.topic, row.partition): row for row in listed}.values())


def _of_topic(
    group: Group,
    topics: Mapping[str, Topic],
    topic: str,
    partitions: Sequence[int],
    member: Member | None,
    *,
    is_subscribed: bool = True,
) -> Iterable[PartitionLag]:
    commits = commit_columns((group.offsets or {}).get(topic, {}), partitions)
    log = topics.get(topic)
    starts, stable, ends = (
        [*map((known or {}).get, partitions)]
        for known in (
            (None,) * 3 if log is None else (log.start_offsets, log.stable_offsets, log.end_offsets)
        )
    )
    lags = [
        records_between(offset, end) if counted is None else counted
        for offset, end, counted in zip(commits.positions, ends, commits.lags, strict=True)
    ]
    return map(
        PartitionLag._make,
        zip(
            repeat(topic),
            partitions,
            commits.positions,
            ends,
            lags,
            commits.leader_epochs,
            commits.metadata,
            repeat(member),
            commits.timestamps,
            repeat(None),  # lag_ms
            starts,
            stable,
            repeat(None),  # next_record
            [counted is not None for counted in commits.lags],
            repeat(is_subscribed),
            strict=False,  # some repeat without an end
        ),
    )


def with_next_records(rows: Iterable[PartitionLag], records: NextRecords, now_ms: int) -> list[PartitionLag]:
    """Add the first unread records to the rows, and their ages as lag times."""
    return [row if row.lag is None else _with_next_record(row, records, now_ms) for row in rows]


def _with_next_record(row: PartitionLag, records: NextRecords, now_ms: int) -> PartitionLag:
    of_partition = records.get((row.topic, row.partition))
    known = None if of_partition is None or row.committed is None else of_partition.get(row.committed)
    if known is None:
        return row._replace(next_record=None, lag_ms=0) if row.unread == 0 else row
    # Like _replace, which is slower: a fleet has millions of rows.
    *first, _, start, stable, _, is_counted, is_subscribed = row
    row = PartitionLag._make((*first, known.age_ms(now_ms), start, stable, known, is_counted, is_subscribed))
    return row._replace(lag_ms=0) if row.unread == 0 else row


class LongestLag(NamedTuple):
    """The longest lag time of some rows. Topics that no member reads count if there are no others."""

    is_subscribed: bool = False
    known_ms: int | None = None
    is_behind: bool = False  # Whether any has lag
    is_behind_known: bool = False  # Whether the lag time of any of these is known

    @classmethod
    def of(cls, rows: Iterable[PartitionLag]) -> Self:
        listed = list(rows)
        subscribed = [row for row in listed if row.is_subscribed]
        known_ms, is_behind, is_behind_known = None, False, False
        for row in subscribed or listed:
            if row.lag is None:
                continue
            time_ms = row.lag_ms
            if time_ms is not None and (known_ms is None or time_ms > known_ms):
                known_ms = time_ms
            if (not is_behind or (time_ms is not None and not is_behind_known)) and row.unread:
                is_behind = True
                is_behind_known = is_behind_known or time_ms is not None
        return cls(bool(subscribed), known_ms, is_behind, is_behind_known)

    def with_(self, other: Self) -> Self:
        """The longest of the rows of both."""
        if self.is_subscribed != other.is_subscribed:
            return self if self.is_subscribed else other
        known = [time_ms for time_ms in (self.known_ms, other.known_ms) if time_ms is not None]
        return self._replace(
            known_ms=max(known, default=None),
            is_behind=self.is_behind or other.is_behind,
            is_behind_known=self.is_behind_known or other.is_behind_known,
        )

    @property
    def ms(self) -> int | None:
        """None if it is not known for any with lag: the zeros of the others would look like no lag."""
        return None if self.is_behind and not self.is_behind_known else self.known_ms


NO_LAG = LongestLag()


def longest_lag_ms(rows: Iterable[PartitionLag]) -> int | None:
    """The longest known; None if it is not known for any with lag. Topics that no member reads count if alone."""
    return LongestLag.of(rows).ms


def unread_offsets(groups: Iterable[Iterable[PartitionLag]]) -> dict[tuple[str, int], set[int]]:
    offsets: dict[tuple[str, int], set[int]] = {}
    for rows in groups:
        for row in rows:
            if row.committed is not None and (row.unread or 0) > 0:
                place = row.topic, row.partition
                if place in offsets:
                    offsets[place].add(row.committed)
                else:
                    offsets[place] = {row.committed}
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
