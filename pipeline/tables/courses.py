"""Courses of many groups in a task of Spark: batches of events in, batches of rows out, one group in memory at a
time. The events are ordered by group, and the events of a group are in the order of its log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from groups.history.events import (
    KEY_VERSIONS,
    MEMBER,
    GroupEvent,
    Holding,
    MemberRecord,
    PastRebalance,
    Place,
)
from groups.history.replay import GroupReplay
from pipeline.tables.schemas import TableRow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Row: TypeAlias = TableRow  # the values of an event, or of a row, by column

_AS_WRITTEN = (
    *("group", "partition", "offset", "time", "key_version", "tombstone", "epoch", "state_since"),
    *("assignor", "state"),
)
_OF_MEMBER = ("member", "instance", "client_id", "host")
_TIMEOUTS = ("session_timeout_ms", "rebalance_timeout_ms")
COLUMNS = (*_AS_WRITTEN, *_OF_MEMBER, "topics", "regex", "assignment", "revoking", "members", "fields")
"""The columns of events that a course needs."""

_BATCH_ROWS = 4096
_EVENTS_AT_ONCE = 64
"""The number of rows passed to Python, and of Python objects, at a time: a row of a large classic group has thousands
of members, and takes a megabyte."""
_BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(_EVENTS_AT_ONCE),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}


def event_of(row: Row) -> GroupEvent:
    """An event from a row with `COLUMNS`, as returned by Arrow's `to_pylist` with times as integers."""
    record = None
    if row["member"] is not None:
        subscribed, regex = frozenset(row["topics"] or ()), row["regex"] or None
        timeouts = json.loads(row["fields"] or "{}") if row["key_version"] == MEMBER else {}
        record = _member_record(
            row,
            topics=subscribed,
            regex=regex,
            assignor=row["assignor"],
            session_timeout_ms=timeouts.get("sessionTimeoutMs"),
            rebalance_timeout_ms=timeouts.get("rebalanceTimeoutMs"),
        )
    members = []
    for member in row["members"] or ():
        topics = None if member["topics"] is None else frozenset(member["topics"])
        classic = _member_record(member, topics=topics, **{name: member[name] for name in _TIMEOUTS})
        members.append((classic, _places(member["assignment"])))
    return GroupEvent(
        **{name: row[name] for name in _AS_WRITTEN},
        record=record,
        places=(*_places(row["assignment"]), *_places(row["revoking"])),
        members=tuple(members),
    )


def _member_record(row: Row, **others: Any) -> MemberRecord:
    known = {name: row[name] for name in _OF_MEMBER}
    return MemberRecord(**known | {"instance": row["instance"] or None}, **others)


def _places(assignment: Iterable[tuple[str, Iterable[int]]] | None) -> tuple[Place, ...]:
    return tuple((topic, number) for topic, numbers in assignment or () for number in numbers)


def rows_of_groups(
    events: DataFrame,
    schema: StructType,
    *,
    rebalance: Callable[[PastRebalance], Row],
    holding: Callable[[Holding], Row],
) -> DataFrame:
    """A table made of the rebalances and the spans of all groups in the table of events. `rebalance` and `holding`
    create its rows, with times in µs, on workers."""
    arrow = to_arrow_schema(schema, timezone="UTC")

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = _rows(batches, rebalance, holding)
        while held := list(islice(rows, _BATCH_ROWS)):
            yield pa.RecordBatch.from_pylist(held, schema=arrow)

    of_groups = events.where(f.col("key_version").isin(*KEY_VERSIONS) & f.col("group").isNotNull())
    # The number is explicit: the rows are small but slow to process, and Spark would combine them into one task.
    tasks = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    by_group = of_groups.select(*COLUMNS).repartition(tasks, "group")
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
    rebalance: Callable[[PastRebalance], Row],
    holding: Callable[[Holding], Row],
) -> Iterator[Row]:
    out: list[Row] = []
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
        walk.add(event_of(row))
        yield from out
        out.clear()
    walk.finish()
    yield from out


def _python_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        is_time = pa.types.is_timestamp
        columns = [one.cast(pa.int64()) if is_time(one.type) else one for one in batch.columns]
        plain = pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
        for start in range(0, plain.num_rows, _EVENTS_AT_ONCE):
            yield from plain.slice(start, _EVENTS_AT_ONCE).to_pylist()
