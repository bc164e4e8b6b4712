"""Work in numbered parts: in tasks of Spark or, without a session, in this process, for an input so small that Spark
would take longer to start. Both run the same functions on the same Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.tables.commits import RUNS
from pipeline.tables.schemas import BINARY, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Values: TypeAlias = Sequence[Any]  # the values of a row, in the order of its schema
Batches: TypeAlias = Iterator[pa.RecordBatch]
PASSED = table(
    ("row", BINARY, True), *((one.name, one.dataType, one.name not in ("group", "begin")) for one in RUNS)
)
"""What is passed to the task of a group: a run of its commits; a single commit; or a row, packed, at its place in the
log (`partition` and `begin`), with null in all other columns."""


_TASKS_PER_CORE = 2


def cores(spark: SparkSession | None) -> int:
    return 1 if spark is None else max(spark.sparkContext.defaultParallelism, 1)


def numbers(spark: SparkSession | None, count: int, tasks: int | None = None) -> DataFrame | pa.RecordBatch:
    """The numbers of parts from 0 on, in the column `id`; one per task, or in at most `tasks`."""
    if spark is None:
        return pa.RecordBatch.from_pydict({"id": range(count)})
    return spark.range(0, count, 1, max(min(count, tasks or count), 1))


def collected(
    inputs: DataFrame | pa.RecordBatch, work: Callable[[Batches], Batches], schema: StructType
) -> Iterable[Values]:
    """The rows that `work` returns for all inputs."""
    if isinstance(inputs, pa.RecordBatch):
        return [row for batch in work(iter([inputs])) for row in _rows(batch)]
    return inputs.mapInArrow(work, schema).collect()


def collected_by_group(
    spark: SparkSession | None,
    count: int,
    read: Callable[[int], Batches],
    work: Callable[[Batches], Batches],
    schema: StructType,
) -> Iterable[Values]:
    """The rows that `work` returns for the rows of all parts, `PASSED`, which `read` returns for each. All rows of a
    group are in one task, one after another: first those with packed rows, in the order of the log."""

    def reading(batches: Batches) -> Batches:
        return (rows for batch in batches for part in batch.column("id").to_pylist() for rows in read(part))

    inputs = numbers(spark, count, _TASKS_PER_CORE * cores(spark))
    if isinstance(inputs, pa.RecordBatch):
        passed = pa.Table.from_batches(reading(iter([inputs])), to_arrow_schema(PASSED, timezone="UTC"))
        keyed = passed.append_column("is_run", passed.column("row").is_null())
        keys = [(name, "ascending") for name in ("group", "is_run", "partition", "begin")]
        ordered = keyed.sort_by(keys).drop_columns("is_run").combine_chunks()
        return [row for batch in work(iter(ordered.to_batches())) for row in _rows(batch)]
    # The number is explicit: the rows are small but slow to process, and Spark would combine them into one task.
    tasks = int(inputs.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    together = inputs.mapInArrow(reading, PASSED).repartition(tasks, "group")
    ordered = together.sortWithinPartitions("group", f.col("row").isNull(), "partition", "begin")
    return ordered.mapInArrow(work, schema).collect()


def _rows(batch: pa.RecordBatch) -> Iterator[Values]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)
