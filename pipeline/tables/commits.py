"""Commits of offsets: a row for each day, group and partition. Records of a transaction count if it was committed,
at their own place in the log (`coordinator.store.digest`). A tombstone ends the sequence: the first commit after it
is not a reset, however low, and no gap ends with it. A gap and a reset belong to the day of the later commit. In a
compacted part, resets and commits are too few and gaps too long. Sorting every commit of a log costs more than
decoding it, and a log is already in order. So each batch of events is reduced to runs, one for each day, group and
partition, and the runs are sorted instead. If runs of one partition of a group overlap (unordered events, a
transaction between other commits), every event becomes a separate run."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.tables.schemas import COMMITS, DATE, DOUBLE, INT, LONG, OFFSET, STRING, TIMESTAMP, shaped, table


def chained(runs: DataFrame, events: DataFrame) -> DataFrame:
    """The runs that count, each with the reset and the gap after the run before. Runs must not overlap."""
    in_transactions = with_outcome(runs.where(f.col("producer_id").isNotNull()), events, column="begin")
    settled = (
        in_transactions.where(f.col("outcome") == "commit")
        .drop("outcome")
        .unionByName(runs.where(f.col("producer_id").isNull()))
    )
    in_order = Window.partitionBy(*KEY).orderBy("begin")
    before = f.lag(f.struct("commits", "last_offset", "last")).over(in_order)
    follows = (f.col("before.commits") > 0) & (f.col("commits") > 0)
    reset = follows & (f.col("first_offset") < f.col("before.last_offset"))
    gap_us = f.unix_micros("first") - f.unix_micros("before.last")
    gap = f.when(follows, gap_us / f.lit(1_000_000.0))
    return (
        settled.withColumn("before", before)
        .withColumn("resets", f.col("resets") + f.coalesce(reset.cast("long"), f.lit(0)))
        .withColumn("longest_gap_s", f.greatest("longest_gap_s", gap))
        .drop("before")
    )


def commits_by_day(runs: DataFrame) -> DataFrame:
    """The table `COMMITS` from runs of `chained`."""
    position = f.struct("partition", "begin")
    is_commit = f.col("commits") > 0
    rows = runs.groupBy("day", "group", "topic", "topic_partition").agg(
        f.sum("commits").alias("commits"),
        f.min_by("first_offset", f.when(is_commit, position)).alias("first_offset"),
        f.max_by("last_offset", f.when(is_commit, position)).alias("last_offset"),
        f.sum("resets").alias("resets"),
        f.max("longest_gap_s").alias("longest_gap_s"),
        f.sum("deleted").alias("deleted"),
        f.min("first").alias("first"),
        f.max("last").alias("last"),
    )
    return shaped(rows, COMMITS)


ENDS = ("commit", "abort")  # the kinds of events that end a transaction


def with_outcome(written: DataFrame, events: DataFrame, *, column: str = "offset") -> DataFrame:
    """`written` with a column `outcome`: commit, abort, or null while the transaction is open. It has the columns
    `partition`, `producer_id` and the place in the log, named by the argument, and no markers."""
    ends = events.where(f.col("kind").isin(*ENDS)).select(
        "partition", "producer_id", f.col("offset").alias(column), f.col("kind").alias("mark")
    )
    both = written.withColumn("mark", f.lit(None).cast("string")).unionByName(ends, allowMissingColumns=True)
    later = Window.partitionBy("partition", "producer_id").orderBy(f.desc(column))
    outcomes = both.withColumn("outcome", f.last("mark", ignorenulls=True).over(later))
    return outcomes.where(f.col("mark").isNull()).select(*written.columns, "outcome")


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
KEY = ("partition", "group", "topic", "topic_partition")  # equal in the runs of one sequence
READ = ("day", *KEY, "offset", "time", "kind", "tombstone", "producer_id", "committed")
"""The columns of events that runs need."""
MICROSECONDS = 1_000_000
_ROOM = 1 << 62

Ints = NDArray[np.int64]


def single_runs(events: DataFrame) -> DataFrame:
    """Every commit and tombstone as a separate run, in the schema `RUNS`."""
    value = ~f.col("tombstone")
    committed = f.when(value, f.col("committed"))
    is_offset = (f.col("kind") == OFFSET) & f.col("group").isNotNull() & f.col("topic").isNotNull()
    return events.where(is_offset).select(
        "day",
        *KEY,
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
    offsets, key = _numbers(table, "offset"), _keys(table)
    order = np.lexsort((offsets, key))
    offsets, key = offsets[order], key[order]
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

    columns = {
        **{name: table.column(name).take(rows) for name in ("day", *KEY)},
        "producer_id": pa.array(producer[starts], mask=~of_transaction[starts]),
        "begin": pa.array(offsets[starts]),
        "end": pa.array(offsets[ends]),
        "commits": pa.array(np.where(dead, 0, counts)),
        "deleted": pa.array(np.where(dead, counts, 0)),
        "first_offset": pa.array(committed[starts], mask=dead),
        "last_offset": pa.array(committed[ends], mask=dead),
        "resets": pa.array(np.add.reduceat(descends, starts)),
        "longest_gap_s": pa.array(longest / MICROSECONDS, mask=dead | (counts == 1)),
        "first": table.column("time").take(rows),
        "last": table.column("time").take(pa.array(order[ends])),
    }
    arrays = [_cast(columns[field.name], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _offsets_alone(events: pa.Table) -> pa.Table:
    table = events.select(READ)
    mask = pc.equal(table.column("kind"), OFFSET)
    for column in ("group", "topic"):
        mask = pc.and_(mask, pc.is_valid(table.column(column)))
    table = table if pc.all(mask).as_py() else table.filter(mask)
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
