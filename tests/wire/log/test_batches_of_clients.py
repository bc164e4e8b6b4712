"""What librdkafka sends in every codec and a real broker stores: read as it was produced, and written the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from coordinator.store.partition_files import parse_partition_name
from tests.kafka.broker import Broker
from tests.kafka.topics import fresh_topic
from wire.log.batches import Codec, columns_of, records_of, rewrite_batch
from wire.log.segments import Segment, read_log

pytestmark = pytest.mark.kafka

COUNT = 2000
NOW_MS = 1_700_000_000_000
HEADERS: list[tuple[str, str | bytes | None]] = [("trace", b"\x00\x01"), ("empty", None)]


@pytest.mark.parametrize("codec", Codec)
def test_every_codec(broker: Broker, codec: Codec) -> None:
    topic = fresh_topic(broker, 1, prefix="produced")
    sent = [(b"key-%d" % i, None if i % 7 == 0 else b"value " * (i % 50), NOW_MS + i) for i in range(COUNT)]
    producer = Producer(_settings(broker) | {"compression.type": codec.name.lower(), "linger.ms": 50})
    for key, value, timestamp in sent:
        producer.produce(topic, value, key, partition=0, timestamp=timestamp, headers=HEADERS)
    assert producer.flush(30) == 0
    (segment,) = _log(broker, topic)
    assert {batch.codec for batch in segment.batches} == {codec}
    read = [record for batch in segment.batches for record in records_of(batch, segment.data)]
    assert [(record.key, record.value, record.timestamp) for record in read] == sent
    assert [record.offset for record in read] == list(range(COUNT))
    assert {record.headers for record in read} == {tuple(HEADERS)}
    assert [(c.key(i), c.value(i)) for c in columns_of(segment.batches) for i in range(len(c))] == [
        (key, value) for key, value, _ in sent
    ]


def test_all_that_a_broker_stores_is_written_the_same(broker: Broker) -> None:
    compared = 0
    for segment in _segments(broker.data):
        for batch in segment.batches:
            # With the broker's timestamp the records' own are there, and are not shown.
            if batch.codec is Codec.NONE and not batch.log_append_time:
                stored = segment.data[batch.position : batch.position + batch.size]
                assert rewrite_batch(batch, records_of(batch, segment.data)) == stored
                compared += 1
    assert compared > 20


def _settings(broker: Broker) -> dict[str, str | int]:
    return {"bootstrap.servers": broker.bootstrap, "enable.idempotence": True}


def _log(broker: Broker, topic: str) -> list[Segment]:
    return list(read_log(broker.data / f"{topic}-0"))


def _segments(log_directory: Path) -> Iterator[Segment]:
    for path in sorted(log_directory.iterdir()):
        if path.is_dir() and parse_partition_name(path.name):
            yield from read_log(path)
