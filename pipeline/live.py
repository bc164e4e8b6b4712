"""The live `__consumer_offsets` through Spark's Kafka source: once, or continuously, with the history kept current.
The rows are the same as from the files of the same log, except for data that Kafka does not send to consumers:
transaction markers have no row, and no row has a producer. So records are read up to the last stable offset of each
partition, and all records after an open transaction wait for its end (`OffsetsTopic.held_back`). Reading leaves no
trace in the topic: partitions are assigned, not subscribed to, so Spark's consumers join no group."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

from pipeline.decode.raw import plain_records
from pipeline.decode.records import LogReader, records_to_arrow
from pipeline.history import HistoryProgress, HistoryRun, run_history
from pipeline.sources import cluster
from pipeline.sources.names import NAMES_BY_ID, collect_names, names_of
from wire.uuids import format_uuid

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamReader

    AnyReader = TypeVar("AnyReader", DataFrameReader, DataStreamReader)

Sink = Callable[[LogReader, int], None]
"""Handles a batch of a stream, given with its number. After a failure it may be called with the same batch again, and
must keep only one copy of it."""

SEES_INTERNAL_TOPICS = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
"""The setting for the older way to find offsets: the newer one silently leaves internal topics out."""

_DEFAULTS: Mapping[str, str] = {
    "groupIdPrefix": cluster.GROUP_PREFIX,
    "kafka.isolation.level": "read_committed",
    "maxRecordsPerPartition": "500000",  # per task: several tasks read a large partition
    "kafka.max.poll.records": "10000",
    "kafka.max.partition.fetch.bytes": str(8 << 20),
}
_STREAM_DEFAULTS: Mapping[str, str] = {**_DEFAULTS, "maxOffsetsPerTrigger": "5000000"}


def live_reading(spark: SparkSession, bootstrap: str, options: Mapping[str, str] | None = None) -> LogReader:
    """All records that the topic has now, decoded. Computations end where the topic ended at the call. `bootstrap`:
    servers as host:port, separated by commas; `options` are those of Spark's Kafka source, with the prefix `kafka.` its
    client's (`client_options`). Raises MissingKafkaSource: the session has no jars of the Kafka source. Raises
    ClusterUnreadable: the cluster cannot be reached, refuses the client or has no such topic."""
    asked = {**_DEFAULTS, **(options or {}), cluster.BOOTSTRAP: bootstrap}
    topic = cluster.offsets_topic(spark, asked)
    raw = _records(batch_of(spark, topic, asked))
    return _reading(raw, topic, _collected_names(raw) | cluster.topic_names(spark, asked))


def batch_of(spark: SparkSession, topic: cluster.OffsetsTopic, options: Mapping[str, str]) -> DataFrame:
    """The decided records of `topic`, as returned by Spark's Kafka source."""
    begins = {str(range_.partition): range_.begin for range_ in topic.ranges}
    ends = {str(range_.partition): range_.stable_end for range_ in topic.ranges}
    return (
        _assigned(spark, spark.read, topic, options)
        .option("startingOffsets", json.dumps({cluster.OFFSETS_TOPIC: begins}))
        .option("endingOffsets", json.dumps({cluster.OFFSETS_TOPIC: ends}))
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
    """Follow the topic from its start or the checkpoint, a directory of only this stream: `sink` gets one batch
    after another. `every`: the interval, as in `1 minute`; None: read the existing records, in batches, then stop.
    Raises as `live_reading`."""
    asked = {**_STREAM_DEFAULTS, **(options or {}), cluster.BOOTSTRAP: bootstrap}
    topic = cluster.offsets_topic(spark, asked)

    known: dict[str, str] = {}

    def take(batch: DataFrame, number: int) -> None:
        raw = _records(batch)
        # Requested each time: topics are created and deleted while the stream runs.
        known.update(_collected_names(raw) | cluster.topic_names(spark, asked))
        sink(_reading(raw, topic, known), number)

    raw = _assigned(spark, spark.readStream, topic, asked).option("startingOffsets", "earliest").load()
    writer = raw.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint)
    timed = writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=every)
    return timed.start()


def _assigned(
    spark: SparkSession, reader: AnyReader, topic: cluster.OffsetsTopic, options: Mapping[str, str]
) -> AnyReader:
    spark.conf.set(SEES_INTERNAL_TOPICS, "true")
    partitions = json.dumps({cluster.OFFSETS_TOPIC: [range_.partition for range_ in topic.ranges]})
    return reader.format("kafka").options(**options).option("assign", partitions)


def _records(raw: DataFrame) -> DataFrame:
    """The columns of the source that decoding needs; times in ms since 1970."""
    return raw.select("partition", "offset", f.unix_millis("timestamp").alias("timestamp"), "key", "value")


def _collected_names(records: DataFrame) -> dict[str, str]:
    """The names of topics in the records, by id."""

    def listen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return collect_names(
            plain_records(batch, source=cluster.OFFSETS_TOPIC, partition=-1) for batch in batches
        )

    names = names_of(records.mapInArrow(listen, NAMES_BY_ID))
    return {format_uuid(topic_id): name for topic_id, name in names.items()}


def _reading(records: DataFrame, topic: cluster.OffsetsTopic, names: Mapping[str, str]) -> LogReader:
    source = f"kafka://{topic.cluster_id}/{cluster.OFFSETS_TOPIC}"
    known = dict(names)

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return records_to_arrow(batches, source=source, names=known)

    return LogReader(tasks=records, read=decode, cluster=topic.cluster_id, held_back=topic.held_back)


class Following:
    """A stream that updates tables."""

    def __init__(self, query: StreamingQuery, failures: list[Exception]) -> None:
        self._query, self._failures = query, failures

    def wait(self, seconds: int | None = None) -> bool:
        """Wait at most `seconds`, or with None until the stream stops; returns whether it has stopped. Raises the
        error of `run_history` that stopped it, or StreamingQueryException."""
        try:
            return bool(self._query.awaitTermination(seconds))
        except StreamingQueryException as error:
            if self._failures:
                raise self._failures[0] from error
            raise

    def stop(self) -> None:
        """Stop the stream, even within a batch: the next stream with its checkpoint reads the batch again."""
        with suppress(StreamingQueryException):
            self._query.stop()


def follow_history(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    options: Mapping[str, str] | None = None,
    *,
    checkpoint: str,
    every: str | None = None,
    progress: Callable[[HistoryProgress], None] = lambda _: None,
    done: Callable[[HistoryRun], None] = lambda _: None,
) -> Following:
    """A stream that adds new records of the topic to the tables in `out`, with a run of the history for each batch.
    Neither a crash nor a lost checkpoint loses or duplicates a record. Every batch computes all tables but that of
    events again, so do not use intervals below a minute. `progress` and `done`, which is called after every run,
    are called in a thread of the stream. `checkpoint`, `every` and errors are as for `stream_events`; an error of
    `run_history` stops the stream, and `Following.wait` raises it."""
    failures: list[Exception] = []

    def add(batch: LogReader, _: int) -> None:
        try:
            run = run_history(spark, batch, out, progress=progress)
        except Exception as error:
            failures.append(error)
            raise
        done(run)

    query = stream_events(spark, bootstrap, options, sink=add, checkpoint=checkpoint, every=every)
    return Following(query, failures)
