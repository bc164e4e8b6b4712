"""What was decoded, apart: events, and what could not be read; and logs decoded without Spark."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.decode.raw import raw_records
from pipeline.decode.records import LogReader, decode
from pipeline.live import live_reading
from pipeline.sources.segments import reading
from pipeline.tables.commits import MARKS, READ, commits_of, runs_of, settled
from pipeline.tables.schemas import COMMITS, DECODED, EVENTS, NO_OFFSET, decoded_arrow
from wire.log.columns import columns_of
from wire.log.segments import list_segments, read_segment


def rows_of(reader: LogReader) -> DataFrame:
    assert isinstance(reader.tasks, DataFrame)
    read = reader.read
    return reader.tasks.mapInArrow(lambda batches: plain(read(batches)), DECODED)


def plain(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches without dictionary arrays, as the JVM needs them."""
    schema = decoded_arrow()
    return (batch if batch.schema == schema else batch.cast(schema) for batch in batches)


def decoded(spark: SparkSession, paths: Sequence[str], **options: Any) -> DataFrame:
    """A row of `DECODED` per record in the segments at `paths`, and per thing that cannot be read."""
    return rows_of(reading(spark, paths, **options))


def live_events(spark: SparkSession, bootstrap: str, *options: dict[str, str]) -> DataFrame:
    return rows_of(live_reading(spark, bootstrap, *options))


def commits(events: DataFrame, *, single: bool = True) -> DataFrame:
    """The table `COMMITS` of events in any order: every commit, or every run of them, is sorted."""
    happened = events.toArrow()
    runs = pa.Table.from_batches([runs_of(happened.select(READ), single=single)])
    ends = happened.filter(pa.compute.is_in(happened["kind"], pa.array(["commit", "abort"]))).select(MARKS)
    counted = settled(runs, ends)
    of_groups = [
        counted.filter(pa.compute.equal(counted["group"], name)) for name in counted["group"].unique()
    ]
    schema = to_arrow_schema(COMMITS, timezone="UTC")
    table = pa.Table.from_batches(map(commits_of, of_groups), schema)
    return events.sparkSession.createDataFrame(table, COMMITS)


def events(decoded: DataFrame) -> DataFrame:
    """A row per record that could be read; exactly `EVENTS`."""
    return decoded.where(f.col("reason").isNull()).select(*EVENTS.names)


def quarantine(decoded: DataFrame) -> DataFrame:
    """A row per thing that could not; exactly `QUARANTINE`. `offset` null: it is no single record."""
    offset = f.when(f.col("offset") != NO_OFFSET, f.col("offset"))
    return decoded.where(f.col("reason").isNotNull()).select(
        "source",
        f.coalesce("file", "source").alias("file"),
        "position",
        offset.alias("offset"),
        f.coalesce("reason", f.lit("")).alias("reason"),
    )


def decoded_batches(directory: Path) -> Iterator[pa.RecordBatch]:
    """Batches of `DECODED` of a partition's directory, whose name ends with the partition."""
    partition = int(directory.name.rpartition("-")[2])
    for path in list_segments(directory):
        for columns in columns_of(read_segment(path).batches):
            if len(columns):
                for raw in raw_records(
                    columns, source=directory.name, partition=partition, file=str(path), base=0
                ):
                    yield from decode(raw, {})
