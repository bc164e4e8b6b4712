"""Courses of many groups in a task of Spark: batches of events in, batches of rows out, one group in memory at a
time. The events are ordered by group, and the events of a group are in the order of its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.rebalances import events as group_events
from pipeline.rebalances.classic import ClassicLifetime
from pipeline.rebalances.consumer import ConsumerLifetime
from pipeline.rebalances.holders import Holders, PartitionHistory, Predecessor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


_BATCH_ROWS = 4096
_EVENTS_AT_ONCE = 64
"""The number of rows passed to Python, and of Python objects, at a time: a row of a large classic group has thousands
of members, and takes a megabyte."""
_BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(_EVENTS_AT_ONCE),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}


class GroupReplay:
    """The course of one group: `on_rebalance` gets rebalances, `emit` spans, each when it ends or at `finish`."""

    def __init__(
        self,
        group: str,
        *,
        on_rebalance: Callable[[group_events.RebalanceRow], None] = lambda _: None,
        emit: Callable[[group_events.Holding], None] = lambda _: None,
    ) -> None:
        self._trail = PartitionHistory(group=group, on_rebalance=on_rebalance, holders=Holders(group, emit))
        self._life: ClassicLifetime | ConsumerLifetime | None = None
        self._past: Predecessor | None = None
        self._last = (-1, -1)
        self._time = 0

    def add(self, event: group_events.GroupEvent) -> None:
        """Add the next record; a record that was added before, from another copy of the log, is skipped."""
        position = event.partition, event.offset
        if position <= self._last:
            return
        self._last, self._time = position, event.time
        if event.key_version == group_events.CLASSIC_GROUP:
            self._classic(event)
        else:
            self._consumer(event)

    def finish(self) -> None:
        """Report open rebalances and spans at the end of the log."""
        if isinstance(self._life, ConsumerLifetime):
            self._life.finish()
        if self._life is None:
            self._trail.clear(self._time)
        self._trail.holders.finish()

    def _classic(self, event: group_events.GroupEvent) -> None:
        life = self._life
        if event.tombstone:
            if isinstance(life, ClassicLifetime):
                self._past, self._life = life.end(event.time), None
            return
        is_older = isinstance(life, ClassicLifetime) and (event.epoch or 0) < (life.generation or 0)
        if life is not None and (is_older or isinstance(life, ConsumerLifetime)):
            self._abandon(life, event.time)
        if not isinstance(self._life, ClassicLifetime):
            self._begin(group_events.Protocol.CLASSIC, event.time)
            self._life = ClassicLifetime(trail=self._trail, past=self._past)
        self._life.record(event)

    def _consumer(self, event: group_events.GroupEvent) -> None:
        life = self._life
        if event.tombstone and not isinstance(life, ConsumerLifetime):
            return
        if (
            event.tombstone
            and event.key_version == group_events.GROUP_EPOCH
            and isinstance(life, ConsumerLifetime)
        ):
            self._past, self._life = life.end(event.time), None
            return
        if isinstance(life, ClassicLifetime):
            self._abandon(life, event.time)
        if not isinstance(self._life, ConsumerLifetime):
            self._begin(group_events.Protocol.CONSUMER, event.time)
            self._life = ConsumerLifetime(trail=self._trail, past=self._past)
        self._life.record(event)

    def _begin(self, protocol: group_events.Protocol, time: int) -> None:
        """Start a group. If the deleted group before was not converted into it, no partition has an owner."""
        past = self._past
        if past is not None and not past.becomes(protocol, time):
            self._trail.clear(past.time)

    def _abandon(self, life: ClassicLifetime | ConsumerLifetime, time: int) -> None:
        """End a group without a record of its end, which compaction removed: another group of the name starts."""
        life.end(time)
        self._trail.clear(time)
        self._life = self._past = None


def rows_of_groups(
    events: DataFrame,
    schema: StructType,
    *,
    rebalance: Callable[[group_events.RebalanceRow], group_events.Row],
    holding: Callable[[group_events.Holding], group_events.Row],
) -> DataFrame:
    """A table made of the rebalances and the spans of all groups in the table of events. `rebalance` and `holding`
    create its rows, with times in µs, on workers."""
    arrow = to_arrow_schema(schema, timezone="UTC")

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = _rows(batches, rebalance, holding)
        while held := list(islice(rows, _BATCH_ROWS)):
            yield pa.RecordBatch.from_pylist(held, schema=arrow)

    of_groups = events.where(
        f.col("key_version").isin(*group_events.KEY_VERSIONS) & f.col("group").isNotNull()
    )
    # The number is explicit: the rows are small but slow to process, and Spark would combine them into one task.
    tasks = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    by_group = of_groups.select(*group_events.COLUMNS).repartition(tasks, "group")
    return by_group.sortWithinPartitions("group", "partition", "offset").mapInArrow(task, schema)


@contextmanager
def in_small_batches(spark: SparkSession) -> Iterator[None]:
    """A context in which `rows_of_groups` is computed faster, and with as little memory. Spark limits the bytes of
    a batch, and computes them after every row: for rows with nested lists this takes longer than to process them.
    Here the rows of a batch are limited instead."""
    before = {name: spark.conf.get(name, None) for name in _BATCHES}
    for name, value in _BATCHES.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, was in before.items():
            if was is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, was)


def _rows(
    batches: Iterable[pa.RecordBatch],
    rebalance: Callable[[group_events.RebalanceRow], group_events.Row],
    holding: Callable[[group_events.Holding], group_events.Row],
) -> Iterator[group_events.Row]:
    out: list[group_events.Row] = []
    group, walk = None, GroupReplay("")
    for row in _python_rows(batches):
        if row["group"] != group:
            walk.finish()
            group = row["group"]
            walk = GroupReplay(
                row["group"],
                on_rebalance=lambda one: out.append(rebalance(one)),
                emit=lambda one: out.append(holding(one)),
            )
        walk.add(group_events.event_of(row))
        yield from out
        out.clear()
    walk.finish()
    yield from out


def _python_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[group_events.Row]:
    for batch in batches:
        is_time = pa.types.is_timestamp
        columns = [one.cast(pa.int64()) if is_time(one.type) else one for one in batch.columns]
        plain = pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
        for start in range(0, plain.num_rows, _EVENTS_AT_ONCE):
            yield from plain.slice(start, _EVENTS_AT_ONCE).to_pylist()
