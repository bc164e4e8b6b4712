"""Runs of commits: summaries of consecutive commits, small enough to be sorted.

Theory of operation. The number of resets of an offset, and the longest gap between commits, depend on the order of
commits, and sorting every commit of a log costs more than decoding it. A log is already in order. So each batch of
events is reduced to runs, one for each day, group and partition, and the runs are sorted instead. A run contains the
data that its neighbors need: its first and its last commit. If runs of one partition of a group overlap (unordered
events, a transaction between other commits), every event becomes a separate run instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.tables.schemas import DATE, DOUBLE, INT, LONG, OFFSET, STRING, TIMESTAMP, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RUNS = table(
    ("day", DATE, False),
    ("partition", INT, False),
    ("group", STRING, False),
    ("topic", STRING, False),
    ("topic_partition", INT, False),
    ("producer_id", LONG, True),  # of a run in transactions, whose outcome is still unknown
    ("begin", LONG, False),  # offsets in the log of the first and the last record
    ("end", LONG, False),
    ("commits", LONG, False),  # a run consists of commits or of tombstones
    ("deleted", LONG, False),
    ("first_offset", LONG, True),
    ("last_offset", LONG, True),
    ("resets", LONG, False),
    ("longest_gap_s", DOUBLE, True),
    ("first", TIMESTAMP, False),
    ("last", TIMESTAMP, False),
)
KEY = ("partition", "group", "topic", "topic_partition")
"""The columns that are equal in the runs of one sequence."""
READ = (
    "day",
    "partition",
    "offset",
    "time",
    "kind",
    "tombstone",
    "producer_id",
    "group",
    "topic",
    "topic_partition",
    "committed",
)
"""The columns of events that runs need."""
MICROSECONDS = 1_000_000
_ROOM = 1 << 62

Ints = NDArray[np.int64]


def single_runs(events: DataFrame) -> DataFrame:
    """Every commit and tombstone as a separate run, in the schema `RUNS`."""
    value = ~f.col("tombstone")
    committed = f.when(value, f.col("committed"))
    return events.where(_is_offset()).select(
        "day",
        "partition",
        "group",
        "topic",
        "topic_partition",
        f.when(value, f.col("producer_id")).alias("producer_id"),
        f.col("offset").alias("begin"),
        f.col("offset").alias("end"),
        value.cast("long").alias("commits"),
        f.col("tombstone").cast("long").alias("deleted"),
        committed.alias("first_offset"),
        committed.alias("last_offset"),
        f.lit(0).cast("long").alias("resets"),
        f.lit(None).cast("double").alias("longest_gap_s"),
        f.col("time").alias("first"),
        f.col("time").alias("last"),
    )


def runs_of(events: pa.Table) -> pa.RecordBatch:
    """The runs of some events with the columns `READ`; only commits and tombstones of offsets count."""
    schema = to_arrow_schema(RUNS, timezone="UTC")
    table = _offsets_alone(events)
    if table.num_rows == 0:
        return pa.RecordBatch.from_pylist([], schema=schema)
    place, key = _numbers(table, "offset"), _keys(table)
    order = np.lexsort((place, key))
    place, key = place[order], key[order]
    day, time = _numbers(table, "day", pa.int32())[order], _numbers(table, "time")[order]
    committed = _numbers(table, "committed")[order]
    tombstone = table.column("tombstone").to_numpy(zero_copy_only=False)[order]
    producer = _numbers(table, "producer_id", missing=-1)[order]
    of_transaction = (producer >= 0) & ~tombstone

    same_key = np.append(False, key[1:] == key[:-1])
    begins = ~same_key | _changes(day) | _changes(tombstone) | of_transaction
    begins[1:] |= of_transaction[:-1]
    inside = ~begins & ~tombstone
    descends = np.append(0, committed[1:] < committed[:-1]) * inside
    gap = np.append(0, np.diff(time)) * inside
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(order)) - 1
    counts = ends - starts + 1
    dead = tombstone[starts]
    longest = np.maximum.reduceat(np.where(inside, gap, np.iinfo(np.int64).min), starts)
    rows = pa.array(order[starts])

    def taken(name: str) -> Any:
        return table.column(name).take(rows)

    columns = {
        "day": taken("day"),
        "partition": taken("partition"),
        "group": taken("group"),
        "topic": taken("topic"),
        "topic_partition": taken("topic_partition"),
        "producer_id": pa.array(producer[starts], mask=~of_transaction[starts]),
        "begin": pa.array(place[starts]),
        "end": pa.array(place[ends]),
        "commits": pa.array(np.where(dead, 0, counts)),
        "deleted": pa.array(np.where(dead, counts, 0)),
        "first_offset": pa.array(committed[starts], mask=dead),
        "last_offset": pa.array(committed[ends], mask=dead),
        "resets": pa.array(np.add.reduceat(descends, starts)),
        "longest_gap_s": pa.array(longest / MICROSECONDS, mask=dead | (counts == 1)),
        "first": taken("time"),
        "last": table.column("time").take(pa.array(order[ends])),
    }
    return pa.RecordBatch.from_arrays(
        [_cast(columns[each.name], each.type) for each in schema], schema=schema
    )


def _is_offset() -> Any:
    return (f.col("kind") == OFFSET) & f.col("group").isNotNull() & f.col("topic").isNotNull()


def _offsets_alone(events: pa.Table) -> pa.Table:
    table = events.select(READ)
    wanted = pc.equal(table.column("kind"), OFFSET)
    for column in ("group", "topic"):
        wanted = pc.and_(wanted, pc.is_valid(table.column(column)))
    table = table if pc.all(wanted).as_py() else table.filter(wanted)
    return table.unify_dictionaries().combine_chunks()


def _keys(table: pa.Table) -> Ints:
    """A number per row, equal for rows of the same log, group, topic and partition."""
    columns = [_numbers(table, name) for name in ("partition", "topic_partition")]
    columns += [_codes(table, name) for name in ("group", "topic")]
    keys = np.zeros(table.num_rows, dtype=np.int64)
    size = 1
    for column in columns:
        low = int(column.min())
        width = int(column.max()) - low + 1
        if size * width >= _ROOM:
            # Consecutive numbers from 0 on.
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            size = int(keys.max()) + 1
        keys = keys * width + (column - low)
        size *= width
    return keys


def _codes(table: pa.Table, name: str) -> Ints:
    column = table.column(name)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes: Ints = column.combine_chunks().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _numbers(table: pa.Table, name: str, kind: pa.DataType | None = None, missing: int = 0) -> Ints:
    """A column as int64; times in µs since 1970."""
    column = table.column(name)
    if kind is not None:
        column = column.cast(kind)
    elif pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz))
    numbers: Ints = column.cast(pa.int64()).fill_null(missing).to_numpy()
    return numbers


def _changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    changes: NDArray[np.bool_] = np.append(True, values[1:] != values[:-1])
    return changes


def _cast(column: Any, kind: pa.DataType) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(kind)
