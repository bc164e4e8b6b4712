"""The progress of a group from its offsets, and those of the logs, at several moments. In most groups of a fleet
nothing moves: they are compared by columns, a topic at a time."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import repeat
from operator import lt, sub
from typing import NamedTuple

from groups.commits import TopicCommits
from groups.lag import NextRecord, partition_lags
from groups.model import CommittedOffset, Group, Topic, TopicPartition, commit_of, logs_of
from groups.progress import (
    COMMIT_INTERVAL_MS,
    FEW_RECORDS,
    PartitionProgress,
    Reading,
    group_progress,
    partition_progress,
    readings_of_rows,
)


class OffsetsAt(NamedTuple):
    at_ms: int
    group: Group
    topics: Mapping[str, Topic]
    waiting_since_ms: Mapping[TopicPartition, int | None] = {}  # None: only markers
    next_records: Mapping[TopicPartition, NextRecord] = {}

    @property
    def examined(self) -> Iterable[TopicPartition]:
        return (*self.waiting_since_ms, *self.next_records)


def progress_of(
    moments: Sequence[OffsetsAt], *, commit_interval_ms: int = COMMIT_INTERVAL_MS
) -> Mapping[TopicPartition, PartitionProgress]:
    """The progress of the partitions at the last of the moments, the oldest first."""
    still = _still(moments, commit_interval_ms)
    topics = {topic for topic, _ in still}
    if still and len(topics) == len(moments[-1].group.offsets or {}):
        return still
    readings = [readings_of(one, topics) for one in moments]
    moved = group_progress(readings, commit_interval_ms=commit_interval_ms).partitions
    return dict(sorted({**still, **moved}.items())) if still else moved


def _still(moments: Sequence[OffsetsAt], commit_interval_ms: int) -> dict[TopicPartition, PartitionProgress]:
    """Of a group without members, the partitions of topics in which nothing has moved. Their progress depends on the
    lag, and on its size only as far as it is less than `FEW_RECORDS`."""
    if len(moments) < 2 or any(one.group.members for one in moments):
        return {}
    *before, last = moments
    partitions: dict[TopicPartition, PartitionProgress] = {}
    others = {topic for one in before for topic, _ in one.examined}
    times = tuple(one.at_ms for one in moments)
    for topic in sorted((last.group.offsets or {}).keys() - others):
        columns = _unmoved(moments, topic)
        if columns is not None:
            numbers, lags = columns
            of_lag = {lag: _of_lag(lag, times, commit_interval_ms) for lag in set(lags)}
            partitions.update(zip(zip(repeat(topic), numbers), map(of_lag.__getitem__, lags), strict=True))
    for partition in {*last.examined} & partitions.keys():
        lag, record = partitions[partition].lag or 0, last.next_records.get(partition)
        since_ms, commit = last.waiting_since_ms.get(partition), commit_of(last.group.offsets, partition)
        if lag > 0 and since_ms is not None and record is not None and _is_first(record, commit):
            age_ms = record.age_ms(last.at_ms)
            alike = _of_few(_few(lag), times, commit_interval_ms, since_ms)
            progress = alike[0], lag, *alike[2:-1], None if age_ms is None else age_ms / 1000
            partitions[partition] = PartitionProgress._make(progress)
        else:
            others.add(partition[0])
    return (
        {place: one for place, one in partitions.items() if place[0] not in others} if others else partitions
    )


def _is_first(record: NextRecord, commit: CommittedOffset | None) -> bool:
    """Whether the record was found at the committed offset: everything from there on is left to read."""
    if commit is None or commit.offset is None or record.offset is None:
        return False
    return record.offset <= commit.offset


def _unmoved(moments: Sequence[OffsetsAt], topic: str) -> tuple[Sequence[int], Sequence[int]] | None:
    """The partitions and their lags; None if an offset or a log has moved, is not known, or was deleted unread."""
    columns = []
    for one in moments:
        commits = (one.group.offsets or {}).get(topic)
        if not isinstance(commits, TopicCommits):
            return None
        logs, numbers = logs_of(one.topics, topic), commits.numbers
        logs_at = [*map(logs.start.get, numbers)], [*map(logs.end.get, numbers)]
        columns.append((numbers, commits.offsets, logs_at))
    numbers, offsets, logs_at = columns[-1]
    if any(one != columns[-1] for one in columns) or min(offsets, default=0) < 0:
        return None
    starts, ends = ([at for at in column if at is not None] for column in logs_at)
    is_known = len(starts) == len(ends) == len(numbers)
    return (numbers, [*map(sub, ends, offsets)]) if is_known and not any(map(lt, offsets, starts)) else None


def _few(lag: int) -> int:
    return 0 if lag < 0 else lag if lag <= FEW_RECORDS else FEW_RECORDS + 1


@lru_cache(maxsize=1 << 14)
def _of_lag(lag: int, times: tuple[int, ...], commit_interval_ms: int) -> PartitionProgress:
    alike = _of_few(_few(lag), times, commit_interval_ms, None)
    return PartitionProgress._make((alike[0], lag, *alike[2:]))


@lru_cache(maxsize=1024)
def _of_few(
    lag: int, times: tuple[int, ...], commit_interval_ms: int, waiting_since_ms: int | None
) -> PartitionProgress:
    readings = [Reading(at_ms, 0, lag, lag, 0) for at_ms in times]
    readings[-1] = readings[-1]._replace(waiting_since_ms=waiting_since_ms)
    return partition_progress(readings, commit_interval_ms=commit_interval_ms)


def readings_of(moment: OffsetsAt, but: Container[str] = ()) -> dict[TopicPartition, Reading]:
    """Readings of owned or committed partitions that members read, `but` of some topics."""
    offsets = {topic: commits for topic, commits in (moment.group.offsets or {}).items() if topic not in but}
    rows = partition_lags(replace(moment.group, offsets=offsets), moment.topics)
    if moment.next_records:
        rows = [row._replace(next_record=moment.next_records.get(row[:2])) for row in rows]
    return readings_of_rows(moment.at_ms, rows, moment.waiting_since_ms)
