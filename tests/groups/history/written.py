"""A group's course, from the records that the embedded coordinator writes at given times.

Everything goes the way of a broker's log: encoded, decoded into rows of the table of events, walked through.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pyarrow as pa

from coordinator.engine.calls import CoordinatorResult
from coordinator.engine.records import OffsetRecord, Record, StoredOffset
from coordinator.engine.topics import TopicImage
from coordinator.store.history_events import GroupRecord, event_in
from coordinator.store.records import encode_record
from groups.history.commits import Commits
from groups.history.course import course_of as history_of
from groups.history.departures import Knowledge
from groups.history.events import KEY_VERSIONS, GroupEvent, Holding, PastRebalance
from pipeline.decode.records import records_to_arrow
from pipeline.tables.rebalances import COLUMNS, event_of
from tests.coordinator.engine.consumer import images
from tests.coordinator.engine.driver import START_MS, Driver
from wire.uuids import format_uuid

SOURCE = "__consumer_offsets"
PARTITION = 7


@dataclass(frozen=True, slots=True)
class Written:
    offset: int
    time_ms: int
    record: Record


class Clock(Driver):
    def __init__(self, topics: TopicImage, **settings: str) -> None:
        self.times: list[int] = []
        super().__init__(topics, **settings)

    def take(self, result: CoordinatorResult) -> None:
        super().take(result)
        self.times += [self.now_ms] * (len(self.records) - len(self.times))

    def put(self, *records: Record) -> None:
        """Let the log hold records that the coordinator would not write; it knows them, too."""
        self.records += records
        self.times += [self.now_ms] * len(records)
        for record in records:
            self.engine.replay(record)

    def written(self) -> list[Written]:
        return [
            Written(offset, time, record)
            for offset, (time, record) in enumerate(zip(self.times, self.records, strict=True))
        ]


def clock(*topics: tuple[str, int], **settings: str) -> Clock:
    """A coordinator with these topics, that computes each target at once."""
    return Clock(images(*topics), group_consumer_assignment_interval_ms="0", **settings)


def commit(time_ms: int, committed: int, number: int) -> Written:
    value = StoredOffset(
        offset=committed, leader_epoch=-1, metadata="", commit_ms=time_ms, topic_id=UUID(int=1)
    )
    return Written(0, time_ms, OffsetRecord(group="g", topic="foo", partition=number, value=value))


def names(topics: TopicImage) -> dict[str, str]:
    return {format_uuid(topic.id): topic.name for topic in topics.topics.values()}


def decoded(written: Iterable[Written], topics: TopicImage) -> Iterator[pa.RecordBatch]:
    """Rows of the table of events, and columns beyond."""
    log = list(written)
    pairs = [encode_record(entry.record) for entry in log]
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array([PARTITION] * len(log), pa.int32()),
            pa.array([entry.offset for entry in log], pa.int64()),
            pa.array([entry.time_ms for entry in log], pa.int64()),
            pa.array([key for key, _ in pairs], pa.binary()),
            pa.array([value for _, value in pairs], pa.binary()),
        ],
        names=["partition", "offset", "timestamp", "key", "value"],
    )
    return records_to_arrow([batch], source=SOURCE, names=names(topics))


def rows(written: Iterable[Written], topics: TopicImage) -> list[dict[str, Any]]:
    """Rows with the columns that a course is made of, of records of groups, times in µs."""
    records = []
    for batch in decoded(written, topics):
        table = pa.Table.from_batches([batch]).select(COLUMNS)
        for index, column in enumerate(table.schema):
            if pa.types.is_timestamp(column.type):
                table = table.set_column(index, column.name, table.column(index).cast(pa.int64()))
        records += [row for row in table.to_pylist() if row["key_version"] in KEY_VERSIONS]
    return sorted(records, key=lambda row: row["offset"])


@dataclass(frozen=True, slots=True)
class Course:
    rebalances: Sequence[PastRebalance]
    holdings: Sequence[Holding]

    def causes(self) -> list[tuple[str, int, str]]:
        """Protocol, epoch and causes of each rebalance."""
        return [(row.protocol.value, row.epoch, " ".join(row.causes)) for row in self.rebalances]

    def counts(self) -> list[tuple[int, int, int, int, int, int]]:
        """Epoch, members before and after, partitions, moved, revoked."""
        return [
            (row.epoch, row.members_before, row.members, row.partitions, row.moved, row.revoked)
            for row in self.rebalances
        ]

    def spans(self, number: int) -> list[tuple[str | None, int, float, float | None]]:
        """Member, epoch, and seconds since the start of the clock, of one partition; in order of time."""
        holdings = [holding for holding in self.holdings if holding.place[1] == number]
        return [
            (
                holding.member,
                holding.epoch,
                seconds(holding.since),
                None if holding.until is None else seconds(holding.until),
            )
            for holding in sorted(holdings, key=lambda holding: holding.since)
        ]


def seconds(time_us: int) -> float:
    return (time_us - START_MS * 1000) / 1_000_000


def course(written: Iterable[Written], topics: TopicImage, group: str = "g") -> Course:
    log = {entry.offset: entry for entry in written}
    events = []
    for row in rows(log.values(), topics):
        if row["group"] == group:
            events.append(event_of(row))
            assert events[-1] == _read_directly(log[events[-1].offset], topics)
    result = history_of(group, events, Commits.of(()), Knowledge(session_timeout_ms=45_000))
    return Course(result.rebalances, result.holdings)


def _read_directly(entry: Written, topics: TopicImage) -> GroupEvent:
    """The event of a record without Spark's rows, as `kohort why` reads it."""
    record = GroupRecord(entry.offset, entry.time_ms * 1000, *encode_record(entry.record))
    event = event_in(record, PARTITION, {topic.id: topic.name for topic in topics.topics.values()})
    assert event is not None
    return event


def course_of(driver: Clock) -> Course:
    return course(driver.written(), driver.engine.topics)


def compacted(written: Iterable[Written]) -> list[Written]:
    """What a cleaner leaves when it has been over everything, tombstones included."""
    last: dict[bytes, Written] = {}
    for entry in written:
        last[encode_record(entry.record)[0]] = entry
    left: Mapping[bytes, Written] = last
    return sorted(
        (entry for entry in left.values() if encode_record(entry.record)[1] is not None),
        key=lambda entry: entry.offset,
    )
