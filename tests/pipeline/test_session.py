"""The session: what it runs on, what it leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def test_workers_run_python_on_arrow_batches(spark: SparkSession) -> None:
    def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        for batch in batches:
            yield pa.RecordBatch.from_arrays([pc.multiply(batch.column(0), 2)], ["id"])

    frame = spark.range(5).mapInArrow(doubled, "id long")
    assert sorted(row.id for row in frame.collect()) == [0, 2, 4, 6, 8]
