"""The batches in which Python receives events."""

from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa
from pyspark.sql import SparkSession

from pipeline.tables.courses import in_small_batches

_ROWS = 1000
_SETTINGS = ("spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.maxBytesPerBatch")


def _largest_batch(spark: SparkSession) -> int:
    def sizes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows]})

    counts = spark.range(_ROWS, numPartitions=1).mapInArrow(sizes, "rows long").collect()
    assert sum(row["rows"] for row in counts) == _ROWS
    return int(max(row["rows"] for row in counts))


def test_batches_are_small_inside_and_as_before_afterwards(spark: SparkSession) -> None:
    before = [spark.conf.get(name) for name in _SETTINGS]
    with in_small_batches(spark):
        assert _largest_batch(spark) == 64
    with suppress(ValueError), in_small_batches(spark):
        raise ValueError
    assert [spark.conf.get(name) for name in _SETTINGS] == before
    assert _largest_batch(spark) == _ROWS
