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
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.tables.schemas import (
    COMMIT,
    COMMITS,
    DATE,
    DOUBLE,
    INT,
    LONG,
    OFFSET,
    STRING,
    TIMESTAMP,
    table,
)

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


def runs_of(events: pa.Table, *, single: bool = False) -> pa.RecordBatch:
    """The runs of some events with the columns `READ`; only commits and tombstones of offsets count. `single`: every
    commit and tombstone is a separate run."""
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
    begins = ~same_key | _changes(day) | _changes(tombstone) | of_transaction | single
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


MARKS = ("partition", "producer_id", "offset", "kind")
"""The columns of events that end transactions."""


def settled(runs: pa.Table, marks: pa.Table) -> pa.Table:
    """The runs that count: those outside of transactions, and of transactions that were committed. `marks` has the
    columns `MARKS`, and all ends of these transactions."""
    in_transaction = runs.column("producer_id").is_valid()
    plain, written = runs.filter(pc.invert(in_transaction)), runs.filter(in_transaction)
    if not written.num_rows:
        return plain
    partition, producer, place = (
        np.concatenate([_numbers(written, name), _numbers(marks, of_mark)])
        for name, of_mark in (("partition", "partition"), ("producer_id", "producer_id"), ("begin", "offset"))
    )
    order = np.lexsort((place, producer, partition))
    count, size = len(order), written.num_rows
    # Of each place in this order, the next end of a transaction.
    next_mark = np.where(order >= size, np.arange(count), count - 1)
    next_mark = order[np.minimum.accumulate(next_mark[::-1])[::-1]]
    is_of_same = (next_mark >= size) & (producer[next_mark] == producer[order])
    is_of_same &= partition[next_mark] == partition[order]
    is_commit = np.append(np.zeros(size, bool), pc.equal(marks.column("kind"), COMMIT).to_numpy())
    counts = np.zeros(count, bool)
    counts[order] = is_of_same & is_commit[next_mark]
    return pa.concat_tables([plain, written.filter(pa.array(counts[:size]))])


def commits_of(runs: pa.Table) -> pa.RecordBatch:
    """The rows of the table `COMMITS` of one group, from its runs that count. They must not overlap."""
    topics = _codes(runs, "topic")
    log, number, begin, day = (
        _numbers(runs, name, kind)
        for name, kind in (
            ("partition", None),
            ("topic_partition", None),
            ("begin", None),
            ("day", pa.int32()),
        )
    )
    order = np.lexsort((begin, number, topics, log))
    same_key = ~(_changes(log[order]) | _changes(topics[order]) | _changes(number[order]))
    columns = {name: _numbers(runs, name)[order] for name in _SUMMED}
    commits, first, last = columns["commits"], columns["first"], columns["last"]
    is_commit = commits > 0
    follows = same_key & is_commit & np.append(False, is_commit[:-1])
    columns["resets"] += follows & (columns["first_offset"] < np.roll(columns["last_offset"], 1))
    longest = runs.column("longest_gap_s").to_numpy().astype(float)[order]
    gap = np.where(follows, (first - np.roll(last, 1)) / MICROSECONDS, np.nan)
    longest = np.fmax(longest, gap)

    by_day = np.lexsort((begin[order], log[order], number[order], topics[order], day[order]))
    rows = order[by_day]
    columns = {name: column[by_day] for name, column in columns.items()}
    starts = np.flatnonzero(_changes(day[rows]) | _changes(topics[rows]) | _changes(number[rows]))
    index, is_commit = np.arange(len(rows)), columns["commits"] > 0
    first_commit = np.minimum.reduceat(np.where(is_commit, index, len(rows)), starts)
    last_commit = np.maximum.reduceat(np.where(is_commit, index, -1), starts)
    never = last_commit < 0
    longest = np.fmax.reduceat(longest[by_day], starts)
    taken = pa.array(rows[starts])
    values = {
        **{name: runs.column(name).take(taken) for name in ("day", "group", "topic", "topic_partition")},
        **{
            name: pa.array(np.add.reduceat(columns[name], starts))
            for name in ("commits", "resets", "deleted")
        },
        "first_offset": pa.array(columns["first_offset"][np.where(never, 0, first_commit)], mask=never),
        "last_offset": pa.array(columns["last_offset"][last_commit], mask=never),
        "longest_gap_s": pa.array(longest, mask=np.isnan(longest)),
        "first": pa.array(np.minimum.reduceat(columns["first"], starts)),
        "last": pa.array(np.maximum.reduceat(columns["last"], starts)),
    }
    schema = to_arrow_schema(COMMITS, timezone="UTC")
    return pa.RecordBatch.from_arrays(
        [_cast(values[field.name], field.type) for field in schema], schema=schema
    )


_SUMMED = ("commits", "deleted", "first_offset", "last_offset", "resets", "first", "last")


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
