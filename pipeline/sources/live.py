"""The live `__consumer_offsets` through Spark's Kafka source: once as it stands, or on and on.

The rows are those that the files of the same log give, but for what Kafka tells no consumer: ends of transactions
have no row, and no row names a producer. So only what is committed is read, up to the last stable offset: what an
aborted transaction wrote is left out, and what comes behind an open one waits for its end.

Reading leaves nothing in the topic that it reads: partitions are assigned, not subscribed to, so that Spark's
consumers join no group, and commit nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pipeline.decode.records import records_to_arrow
from pipeline.decode.schema import DECODED
from pipeline.sources.cluster import BOOTSTRAP, OFFSETS_TOPIC, OffsetsTopic, offsets_topic, topic_names

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Sink = Callable[["DataFrame", int], None]
"""Takes the rows of a batch and its number. After a failure it may be given the same batch again, and must leave one
copy of it."""

SEES_INTERNAL_TOPICS = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
"""The newer way of finding offsets leaves internal topics out, silently."""

DEFAULTS: Mapping[str, str] = {
    "maxRecordsPerPartition": "500000",  # of a task: one large partition of the topic is many tasks
    "kafka.max.poll.records": "10000",
    "kafka.max.partition.fetch.bytes": str(8 << 20),
}
STREAM_DEFAULTS: Mapping[str, str] = {**DEFAULTS, "maxOffsetsPerTrigger": "5000000"}
_OWN: Mapping[str, str] = {"kafka.isolation.level": "read_committed"}


def live_events(spark: SparkSession, bootstrap: str, options: Mapping[str, str] | None = None) -> DataFrame:
    """All records that the topic has now, decoded: `DECODED`, for `pipeline.decode.tables` and `run_history`.

    However often the frame is computed, it ends where the topic ended when this was called; what the broker's cleaner
    removes meanwhile is gone.

    :param bootstrap: servers as host:port, with commas between
    :param options: of Spark's Kafka source; with the prefix `kafka.` its client's, as `client_options` gives them
    :raises MissingKafkaSource: the session was started without the jars of the Kafka source
    :raises ClusterUnreadable: the cluster cannot be reached, refuses the client or has no such topic
    """
    asked = {**DEFAULTS, **(options or {}), BOOTSTRAP: bootstrap}
    topic = offsets_topic(spark, asked)
    names = topic_names(spark, asked)
    return _decoded(batch_of(spark, topic, asked), topic, names)


def batch_of(spark: SparkSession, topic: OffsetsTopic, options: Mapping[str, str]) -> DataFrame:
    """The records of `topic` between its ends, as Spark's Kafka source gives them."""
    spark.conf.set(SEES_INTERNAL_TOPICS, "true")
    begins = {str(each.partition): each.begin for each in topic.ranges}
    ends = {str(each.partition): each.stable_end for each in topic.ranges}
    reader = spark.read.format("kafka").options(**{**options, **_OWN}).option("assign", _partitions(topic))
    return (
        reader.option("startingOffsets", json.dumps({OFFSETS_TOPIC: begins}))
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
    asked = {**STREAM_DEFAULTS, **(options or {}), BOOTSTRAP: bootstrap}
    topic = offsets_topic(spark, asked)
    spark.conf.set(SEES_INTERNAL_TOPICS, "true")

    def take(batch: DataFrame, number: int) -> None:
        # Asked for each time: topics come while the stream runs.
        sink(_decoded(batch, topic, topic_names(spark, asked)), number)

    source = (
        spark.readStream.format("kafka").options(**{**asked, **_OWN}).option("assign", _partitions(topic))
    )
    raw = source.option("startingOffsets", "earliest").load()
    writer = raw.writeStream.queryName(f"{OFFSETS_TOPIC} of {topic.cluster_id}").foreachBatch(take)
    writer = writer.option("checkpointLocation", checkpoint)
    timed = writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=every)
    return timed.start()


def _partitions(topic: OffsetsTopic) -> str:
    return json.dumps({OFFSETS_TOPIC: [each.partition for each in topic.ranges]})


def _decoded(raw: DataFrame, topic: OffsetsTopic, names: Mapping[str, str]) -> DataFrame:
    source = f"kafka://{topic.cluster_id}/{OFFSETS_TOPIC}"

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return records_to_arrow(batches, source=source, names=names)

    return _records(raw).mapInArrow(decode, DECODED)


def _records(raw: DataFrame) -> DataFrame:
    """What decoding needs of the source's columns; times in ms since 1970."""
    from pyspark.sql import functions as f

    millis: Any = f.unix_millis("timestamp")
    return raw.select("partition", "offset", millis.alias("timestamp"), "key", "value")
