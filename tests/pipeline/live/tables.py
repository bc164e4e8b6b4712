"""What files and the live topic have in common, and ways to compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from pipeline.decode.kinds import ABORT, COMMIT, CONTROL
from pipeline.decode.tables import events
from pipeline.sources.segments import decoded
from pipeline.tables.transactions import with_outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


def events_of_files(spark: SparkSession, data: Path) -> DataFrame:
    """The events of a broker's log directory."""
    return events(decoded(spark, [str(data)]))


def settled(of_files: DataFrame) -> DataFrame:
    """Events without what Kafka tells no consumer: what was not committed, ends of transactions, producers."""
    records = of_files.where(~f.col("kind").isin(COMMIT, ABORT, CONTROL))
    plain = records.where(f.col("producer_id").isNull())
    of_transactions = with_outcome(records.where(f.col("producer_id").isNotNull()), of_files)
    committed = of_transactions.where(f.col("outcome") == COMMIT).drop("outcome")
    return plain.unionByName(committed).withColumn("producer_id", f.lit(None).cast("long"))


def comparable(rows: DataFrame) -> list[Row]:
    """Events in the order of the log, without the source."""
    ordered = rows.drop("source").orderBy("partition", "offset")
    return ordered.collect()
