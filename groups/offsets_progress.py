"""The progress of a group from its offsets, and those of the logs, at several moments. In most groups of a fleet
nothing moves: they are compared by columns, a topic at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import repeat
from operator import lt, sub
from typing import NamedTuple

from groups.commits import TopicCommits
from groups.lag import NextRecord, PartitionLag, partition_lags
from groups.model import CommittedOffset, Group, Topic, TopicPartition, commit_of, logs_of
from groups.progress import (
    COMMIT_INTERVAL_MS,
    FEW_RECORDS,
    GroupProgress,
    PartitionProgress,
    Reading,
    group_progress,
    partition_progress,
    progress_in,
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
) -> GroupProgress:
    """The progress of the partitions at the last of the moments, the oldest first."""
    still, others = _still(moments, commit_interval_ms)
    topics = {topic for topic, _ in still}
    if still and not others and len(topics) == len(moments[-1].group.offsets or {}):
        return progress_in(still)
    rest = [one._replace(group=_without(one.group, topics, others)) for one in moments] if still else moments
    moved = group_progress([readings_of(one) for one in rest], commit_interval_ms=commit_interval_ms)
    return progress_in(dict(sorted({**still, **moved.partitions}.items()))) if still else moved


def _without(group: Group, topics: Iterable[str], but: Iterable[TopicPartition]) -> Group:
    """The group without commits of the topics, but those of some partitions."""
    offsets = dict(group.offsets or {}) | {topic: {} for topic in topics}
    for topic, number in but:
        commit = commit_of(group.offsets, (topic, number))
        if commit is not None:
            offsets[topic] = {**offsets[topic], number: commit}
    return replace(group, offsets=offsets)


def _still(
    moments: Sequence[OffsetsAt], commit_interval_ms: int
) -> tuple[dict[TopicPartition, PartitionProgress], list[TopicPartition]]:
    """Of a group without members, the partitions of topics in which nothing has moved, and those of them that must be
    judged by their readings. The progress of the others depends on their lag, and on its size only as far as it is
    less than `FEW_RECORDS`."""
    if len(moments) < 2 or any(one.group.members for one in moments):
        return {}, []
    partitions: dict[TopicPartition, PartitionProgress] = {}
    times = tuple(one.at_ms for one in moments)
    for topic in sorted(moments[-1].group.offsets or {}):
        columns = _unmoved(moments, topic)
        if columns is not None:
            numbers, lags = columns
            of_lag = {lag: _of_lag(lag, times, commit_interval_ms) for lag in set(lags)}
            partitions.update(zip(zip(repeat(topic), numbers), map(of_lag.__getitem__, lags), strict=True))
    *before, last = moments
    earlier = {partition for one in before for partition in one.examined}
    others = [partition for partition in earlier if partition in partitions]
    for partition in {*last.examined} & partitions.keys() - earlier:
        lag, record = partitions[partition].lag or 0, last.next_records.get(partition)
        since_ms, commit = last.waiting_since_ms.get(partition), commit_of(last.group.offsets, partition)
        if lag > 0 and since_ms is not None and record is not None and _is_first(record, commit):
            age_ms = record.age_ms(last.at_ms)
            age_s = None if age_ms is None else age_ms / 1000
            partitions[partition] = _of_lag(lag, times, commit_interval_ms, since_ms, age_s)
        else:
            others.append(partition)
    return partitions, others


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
        numbers, offsets = commits.offsets()
        logs = logs_of(one.topics, topic)
        columns.append((numbers, offsets, [*map(logs.start.get, numbers)], [*map(logs.end.get, numbers)]))
    numbers, offsets, starts, ends = columns[-1]
    if any(one != columns[-1] for one in columns) or min(offsets, default=0) < 0:
        return None
    known_starts, known_ends = ([at for at in column if at is not None] for column in (starts, ends))
    is_known = len(known_starts) == len(known_ends) == len(numbers)
    if not is_known or any(map(lt, offsets, known_starts)):
        return None
    return numbers, [*map(sub, known_ends, offsets)]


def _of_lag(
    lag: int,
    times: tuple[int, ...],
    commit_interval_ms: int,
    waiting_since_ms: int | None = None,
    age_s: float | None = None,
) -> PartitionProgress:
    few = min(max(lag, 0), FEW_RECORDS + 1)
    alike = _of_few(few, times, commit_interval_ms, waiting_since_ms)
    return PartitionProgress._make((alike.verdict, lag, *alike[2:-1], age_s))


@lru_cache(maxsize=1024)
def _of_few(
    lag: int, times: tuple[int, ...], commit_interval_ms: int, waiting_since_ms: int | None
) -> PartitionProgress:
    readings = [Reading(at_ms, 0, lag, lag, 0) for at_ms in times]
    readings[-1] = readings[-1]._replace(waiting_since_ms=waiting_since_ms)
    return partition_progress(readings, commit_interval_ms=commit_interval_ms)


def readings_of(moment: OffsetsAt) -> dict[TopicPartition, Reading]:
    """Readings of owned or committed partitions that members read."""
    rows = partition_lags(moment.group, moment.topics)
    if moment.next_records:
        found = [moment.next_records.get(row[:2]) for row in rows]
        rows = [
            PartitionLag._make((*row[:_NEXT_RECORD], record, *row[_NEXT_RECORD + 1 :])) if record else row
            for row, record in zip(rows, found, strict=True)
        ]
    return readings_of_rows(moment.at_ms, rows, moment.waiting_since_ms)


_NEXT_RECORD = PartitionLag._fields.index("next_record")
