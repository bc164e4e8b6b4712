"""The live `__consumer_offsets` through Spark's Kafka source: once as it stands, or on and on.

The rows are those that the files of the same log give, but for what Kafka tells no consumer: ends of transactions
have no row, and no row names a producer. So only what is settled is read, up to the last stable offset of each
partition: what an aborted transaction wrote is left out, and what stands behind an open one, whatever it is, waits
for its end (`OffsetsTopic.held_back`). What was read of a partition is so always a beginning of its log, without
gaps, to which later reads add.

Reading leaves nothing in the topic that it reads: partitions are assigned, not subscribed to, so that Spark's
consumers join no group, and commit nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import functions as f

from pipeline.decode.raw import plain_records
from pipeline.decode.records import Reading, records_to_arrow
from pipeline.sources.cluster import (
    BOOTSTRAP,
    GROUP_PREFIX,
    OFFSETS_TOPIC,
    OffsetsTopic,
    offsets_topic,
    topic_names,
)
from pipeline.sources.names import HEARD, hear, heard_names
from wire.uuids import format_uuid

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamReader

    AnyReader = TypeVar("AnyReader", DataFrameReader, DataStreamReader)

Sink = Callable[[Reading, int], None]
"""Takes what a batch of a stream read, and the batch's number. After a failure it may be given the same batch again,
and must leave one copy of it."""

SEES_INTERNAL_TOPICS = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
"""The newer way of finding offsets leaves internal topics out, silently."""

_DEFAULTS: Mapping[str, str] = {
    "groupIdPrefix": GROUP_PREFIX,
    "kafka.isolation.level": "read_committed",
    "maxRecordsPerPartition": "500000",  # of a task: one large partition of the topic is many tasks
    "kafka.max.poll.records": "10000",
    "kafka.max.partition.fetch.bytes": str(8 << 20),
}
_STREAM_DEFAULTS: Mapping[str, str] = {**_DEFAULTS, "maxOffsetsPerTrigger": "5000000"}


def live_reading(
    spark: SparkSession,
    bootstrap: str,
    options: Mapping[str, str] | None = None,
) -> Reading:
    """All records that the topic has now, decoded.

    However often it is computed, it ends where the topic ended when this was called; what the broker's cleaner
    removes meanwhile is gone.

    :param bootstrap: servers as host:port, with commas between
    :param options: of Spark's Kafka source; with the prefix `kafka.` its client's, as `client_options` gives them
    :raises MissingKafkaSource: the session was started without the jars of the Kafka source
    :raises ClusterUnreadable: the cluster cannot be reached, refuses the client or has no such topic
    """
    asked = {**_DEFAULTS, **(options or {}), BOOTSTRAP: bootstrap}
    topic = offsets_topic(spark, asked)
    raw = _records(batch_of(spark, topic, asked))
    return _reading(raw, topic, _heard(raw) | topic_names(spark, asked))


def batch_of(spark: SparkSession, topic: OffsetsTopic, options: Mapping[str, str]) -> DataFrame:
    """The settled records of `topic`, as Spark's Kafka source gives them."""
    begins = {str(each.partition): each.begin for each in topic.ranges}
    ends = {str(each.partition): each.stable_end for each in topic.ranges}
    return (
        _assigned(spark, spark.read, topic, options)
        .option("startingOffsets", json.dumps({OFFSETS_TOPIC: begins}))
        .option("endingOffsets", json.dumps({OFFSETS_TOPIC: ends}))
        .load()
    )


def stream_events(
    spark: SparkSession,
    bootstrap: str,
    options: Mapping[str, str] | None = None,
    *,
    sink: Sink,
    checkpoint: str,
    every: str | None = None,
) -> StreamingQuery:
    """Follow the topic from its beginning, or from where the checkpoint says: `sink` is given one batch after another.

    :param checkpoint: a directory, of this stream alone, wherever Spark writes to
    :param every: how often to look, as in `1 minute`; None: read what is there now, in batches, then end
    :raises MissingKafkaSource: the session was started without the jars of the Kafka source
    :raises ClusterUnreadable: the cluster cannot be reached, refuses the client or has no such topic
    """
    asked = {**_STREAM_DEFAULTS, **(options or {}), BOOTSTRAP: bootstrap}
    topic = offsets_topic(spark, asked)

    known: dict[str, str] = {}

    def take(batch: DataFrame, number: int) -> None:
        raw = _records(batch)
        # Asked for each time: topics come and go while the stream runs.
        known.update(_heard(raw) | topic_names(spark, asked))
        sink(_reading(raw, topic, known), number)

    raw = _assigned(spark, spark.readStream, topic, asked).option("startingOffsets", "earliest").load()
    writer = raw.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint)
    timed = writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=every)
    return timed.start()


def _assigned(
    spark: SparkSession, reader: AnyReader, topic: OffsetsTopic, options: Mapping[str, str]
) -> AnyReader:
    spark.conf.set(SEES_INTERNAL_TOPICS, "true")
    partitions = json.dumps({OFFSETS_TOPIC: [each.partition for each in topic.ranges]})
    return reader.format("kafka").options(**options).option("assign", partitions)


def _records(raw: DataFrame) -> DataFrame:
    """What decoding needs of the source's columns; times in ms since 1970."""
    return raw.select("partition", "offset", f.unix_millis("timestamp").alias("timestamp"), "key", "value")


def _heard(records: DataFrame) -> dict[str, str]:
    """The names of topics that records tell, by id."""

    def listen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return hear(plain_records(batch, source=OFFSETS_TOPIC, partition=-1) for batch in batches)

    found = heard_names(records.mapInArrow(listen, HEARD))
    return {format_uuid(topic_id): name for topic_id, name in found.items()}


def _reading(records: DataFrame, topic: OffsetsTopic, names: Mapping[str, str]) -> Reading:
    source = f"kafka://{topic.cluster_id}/{OFFSETS_TOPIC}"
    known = dict(names)

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return records_to_arrow(batches, source=source, names=known)

    return Reading(tasks=records, read=decode, cluster=topic.cluster_id, held_back=topic.held_back)
