"""The live topic gives what its files give, as a batch and as a stream, and reading leaves nothing in it."""

from itertools import pairwise
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pyspark.sql import SparkSession
from pyspark.testing import assertSchemaEqual

from pipeline.decode.records import LogReader
from pipeline.live import stream_events
from pipeline.sources.cluster import BOOTSTRAP, ClusterUnreadable, OffsetsTopic, offsets_topic, topic_names
from pipeline.tables.schemas import DECODED
from tests.coordinator.store.real_log import RealLog
from tests.coordinator.store.real_log_story import ORDERS, PAYMENTS, commit
from tests.coordinator.store.restart import broker_on
from tests.kafka.broker import CLUSTER_ID, Broker
from tests.kafka.ports import HOST, free_ports
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.pipeline.decoded import decoded, events, live_events, quarantine, rows_of
from tests.pipeline.live.tables import both, comparable, held_back, not_held_back, settled
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]


def test_the_live_topic_gives_the_events_of_its_files(live_spark: SparkSession, old_broker: Broker) -> None:
    live, of_files = both(live_spark, old_broker)
    rows = comparable(live)
    assert rows == comparable(settled(of_files))
    assert len(rows) > 5_000
    assert {row.key_version for row in rows} >= {1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 14, 16}


def test_a_compacted_topic_is_read_over_its_gaps(
    live_spark: SparkSession, compacted_log: Path, kafka_jars: Path, tmp_path: Path
) -> None:
    with broker_on(kafka_jars, compacted_log, tmp_path / "broker") as broker:
        live, of_files = both(live_spark, broker)
        rows = comparable(live)
        assert rows == comparable(settled(of_files))
    holes = sum(a.partition == b.partition and a.offset + 1 < b.offset for a, b in pairwise(rows))
    assert holes > 50


def test_reading_leaves_nothing_in_the_topic(live_spark: SparkSession, old_broker: Broker) -> None:
    before = _groups_written(live_spark, old_broker)
    for _ in range(2):
        live_events(live_spark, old_broker.bootstrap).count()
    assert _groups_written(live_spark, old_broker) == before


def test_a_frame_ends_where_the_topic_ended_at_the_call(live_spark: SparkSession, old_broker: Broker) -> None:
    late, _ = not_held_back(_topic(live_spark, old_broker), "comes-late")
    live = live_events(live_spark, old_broker.bootstrap)
    count = live.count()
    commit(old_broker, late, ORDERS, {0: 1})
    assert live.count() == count
    later = events(live_events(live_spark, old_broker.bootstrap))
    assert later.where(f"`group` = '{late}' and kind = 'offset'").count() == 1


def test_a_stream_in_many_batches_gives_what_one_batch_gives(
    live_spark: SparkSession, old_broker: Broker, tmp_path: Path
) -> None:
    out, numbers = str(tmp_path / "rows"), []

    def add(batch: LogReader, number: int) -> None:
        numbers.append(number)
        rows_of(batch).write.mode("append").parquet(out)

    stream = stream_events(
        live_spark, old_broker.bootstrap, {"maxOffsetsPerTrigger": "2500"}, sink=add,
        checkpoint=str(tmp_path / "checkpoint"),
    )  # fmt: skip
    stream.awaitTermination()
    assert len(numbers) >= 3
    streamed = comparable(events(live_spark.read.schema(DECODED).parquet(out)))
    ends = {row.partition: row.offset for row in streamed}
    at_once = comparable(events(live_events(live_spark, old_broker.bootstrap)))
    assert streamed == [row for row in at_once if row.offset <= ends[row.partition]]


def test_records_after_an_open_transaction_wait_for_its_end(
    live_spark: SparkSession, old_broker: Broker
) -> None:
    group, partition = not_held_back(_topic(live_spark, old_broker), "waits-for-the-end")
    settings = {"transactional.id": group, "transaction.timeout.ms": 600_000}
    producer = Producer({"bootstrap.servers": old_broker.bootstrap, **settings})
    producer.init_transactions(30)
    producer.begin_transaction()
    consumer = Consumer({"bootstrap.servers": old_broker.bootstrap, "group.id": group})
    topic_partition = TopicPartition(PAYMENTS, 0, 1)
    producer.send_offsets_to_transaction([topic_partition], consumer.consumer_group_metadata(), 30)
    consumer.close()
    commit(old_broker, group, PAYMENTS, {1: 2})

    def committed() -> list[tuple[int, int]]:
        rows = events(live_events(live_spark, old_broker.bootstrap)).where(f"`group` = '{group}'")
        return sorted((row.topic_partition, row.committed) for row in rows.collect())

    assert committed() == []
    # The broker may write besides: that a member expired, for one.
    assert held_back(_topic(live_spark, old_broker), partition) >= 2
    producer.commit_transaction(30)
    # The producer is answered before the end is in the log.
    wait_until(lambda: held_back(_topic(live_spark, old_broker), partition) == 0, "the transaction has ended")
    assert committed() == [(0, 1), (1, 2)]


def test_topic_names_are_the_clusters(
    live_spark: SparkSession, old_broker: Broker, real_log: RealLog
) -> None:
    create_topics(old_broker, {"a.topic-with_signs": 1})
    result = topic_names(live_spark, {BOOTSTRAP: old_broker.bootstrap})
    assert {ORDERS, PAYMENTS, "a.topic-with_signs", "__consumer_offsets"} <= set(result.values())
    live = events(live_events(live_spark, old_broker.bootstrap))
    targets = [
        set(row.assignment) for row in live.where("kind = 'target' and assignment is not null").collect()
    ]
    assert any(ORDERS in topics for topics in targets)


def test_a_cluster_without_the_topic_is_an_error(
    live_spark: SparkSession, kafka_jars: Path, tmp_path: Path
) -> None:
    broker = Broker(kafka_jars, tmp_path / "fresh")
    broker.directory.mkdir()
    try:
        broker.start()
        with pytest.raises(
            ClusterUnreadable, match="there is no __consumer_offsets that this client may see"
        ):
            live_events(live_spark, broker.bootstrap)
    finally:
        broker.stop()


def test_an_unreachable_cluster_is_an_error(live_spark: SparkSession) -> None:
    nowhere = f"{HOST}:{free_ports(1)[0]}"
    options = {"kafka.default.api.timeout.ms": "500", "kafka.request.timeout.ms": "400"}
    with pytest.raises(ClusterUnreadable, match=f"^{nowhere}: TimeoutException: "):
        live_events(live_spark, nowhere, options)


def test_the_rows_are_those_that_decoding_gives(live_spark: SparkSession, old_broker: Broker) -> None:
    live = live_events(live_spark, old_broker.bootstrap)
    assertSchemaEqual(live.schema, DECODED)
    assert quarantine(live).isEmpty()
    sources = {row.source for row in live.select("source").distinct().collect()}
    assert sources == {f"kafka://{CLUSTER_ID}/__consumer_offsets-{number}" for number in range(5)}


def _topic(spark: SparkSession, broker: Broker) -> OffsetsTopic:
    return offsets_topic(spark, {BOOTSTRAP: broker.bootstrap})


def _groups_written(spark: SparkSession, broker: Broker) -> set[str]:
    rows = events(decoded(spark, [str(broker.data)])).select("group").distinct().dropna().collect()
    return {row.group for row in rows}
