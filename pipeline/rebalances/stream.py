"""Courses of many groups in a task of Spark: batches of events in, batches of rows out, one group in memory at a time.

The events come group by group, each in the order of its log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark.sql import functions as f

from pipeline.rebalances.events import COLUMNS, KEY_VERSIONS, Holding, RebalanceRow, event_of
from pipeline.rebalances.group_replay import GroupReplay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Row: TypeAlias = dict[str, Any]

_BATCH_ROWS = 4096
_EVENTS_AT_ONCE = 64
"""Rows on their way to Python, and Python's objects, at a time: one of a large classic group has thousands of
members, and takes a megabyte."""
_BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(_EVENTS_AT_ONCE),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}


def rows_of_groups(
    events: DataFrame,
    schema: StructType,
    *,
    rebalance: Callable[[RebalanceRow], Row],
    holding: Callable[[Holding], Row],
) -> DataFrame:
    """A table made of the rebalances and of the spans of all groups in the table of events.

    `rebalance` and `holding` make its rows, with times in µs; these functions are shipped to workers.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    arrow = to_arrow_schema(schema, timezone="UTC")

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _batches(_rows(batches, rebalance, holding), arrow)

    wanted = events.where(f.col("key_version").isin(*KEY_VERSIONS) & f.col("group").isNotNull())
    # With a number: small rows take long to walk, and Spark would bring few bytes together into one task.
    tasks = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    by_group = wanted.select(*COLUMNS).repartition(tasks, "group")
    return by_group.sortWithinPartitions("group", "partition", "offset").mapInArrow(task, schema)


@contextmanager
def in_small_batches(spark: SparkSession) -> Iterator[None]:
    """What `rows_of_groups` gives is computed faster in here, and in as little memory.

    Spark bounds a batch by its bytes, and after every row goes through all its columns for them: of rows with lists
    in lists that takes longer than to walk them. In here a batch is bounded by its rows.
    """
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
    rebalance: Callable[[RebalanceRow], Row],
    holding: Callable[[Holding], Row],
) -> Iterator[Row]:
    out: list[Row] = []

    def tell(row: RebalanceRow) -> None:
        out.append(rebalance(row))

    def emit(row: Holding) -> None:
        out.append(holding(row))

    group, walk = None, GroupReplay("")
    for row in _python_rows(batches):
        if row["group"] != group:
            walk.finish()
            group = row["group"]
            walk = GroupReplay(row["group"], tell=tell, emit=emit)
        walk.add(event_of(row))
        yield from out
        out.clear()
    walk.finish()
    yield from out


def _python_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        plain = _with_numbers_for_times(batch)
        for start in range(0, plain.num_rows, _EVENTS_AT_ONCE):
            yield from plain.slice(start, _EVENTS_AT_ONCE).to_pylist()


def _with_numbers_for_times(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _batches(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    held: list[Row] = []
    for row in rows:
        held.append(row)
        if len(held) >= _BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(held, schema=schema)
            held = []
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=schema)
