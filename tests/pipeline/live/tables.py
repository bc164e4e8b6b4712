"""What files and the live topic have in common, and ways to compare."""

from dataclasses import replace

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from coordinator.store.partition_files import partitions_for
from pipeline.as_of import with_outcome
from pipeline.sources.cluster import BOOTSTRAP, OffsetsTopic, offsets_topic
from pipeline.tables.schemas import ABORT, COMMIT, CONTROL
from tests.kafka.broker import Broker
from tests.pipeline.decoded import decoded, events, live_events


def both(spark: SparkSession, broker: Broker) -> tuple[DataFrame, DataFrame]:
    """The events of the live topic and, as far as they go, of the broker's files: the broker may be writing."""
    topic = offsets_topic(spark, {BOOTSTRAP: broker.bootstrap})
    live = events(live_events(spark, broker.bootstrap))
    ends = f.create_map(
        *(f.lit(number) for range_ in topic.ranges for number in (range_.partition, range_.stable_end))
    )
    within = f.col("offset") < ends[f.col("partition")]
    files = events(decoded(spark, [str(broker.data)]))
    return live.where(within), files.where(within)


def settled(of_files: DataFrame) -> DataFrame:
    """Events without what Kafka tells no consumer: what was not committed, ends of transactions, producers."""
    records = of_files.where(~f.col("kind").isin(COMMIT, ABORT, CONTROL))
    plain = records.where(f.col("producer_id").isNull())
    of_transactions = with_outcome(records.where(f.col("producer_id").isNotNull()), of_files)
    committed = of_transactions.where(f.col("outcome") == COMMIT).drop("outcome")
    return plain.unionByName(committed).withColumn("producer_id", f.lit(None).cast("long"))


def comparable(rows: DataFrame) -> list[Row]:
    ordered = rows.drop("source").orderBy("partition", "offset")
    return ordered.collect()


def held_back(topic: OffsetsTopic, partition: int) -> int:
    """Offsets of one partition behind the first transaction that is open."""
    return replace(topic, ranges=(topic.ranges[partition],)).held_back


def not_held_back(topic: OffsetsTopic, prefix: str) -> tuple[str, int]:
    """An unused name of a group, and its partition, where no transaction is open.

    The broker that wrote the real log was killed with one open, which stays so until it expires.
    """
    names = [f"{prefix}-{number}" for number in range(100)]
    of_names = partitions_for(names, len(topic.ranges))
    return next(pair for pair in zip(names, of_names, strict=True) if not held_back(topic, pair[1]))
