"""What librdkafka sends in every codec and a real broker stores: read as it was produced, and written the same."""

import pytest
from confluent_kafka import Producer

from tests.kafka.broker import Broker
from tests.kafka.topics import fresh_topic
from wire.log.columns import columns_of
from wire.log.compression import Codec
from wire.log.log_records import records_of
from wire.log.segments import read_log

pytestmark = pytest.mark.kafka

COUNT = 2000
NOW_MS = 1_700_000_000_000
HEADERS: list[tuple[str, str | bytes | None]] = [("trace", b"\x00\x01"), ("empty", None)]


@pytest.mark.parametrize("codec", Codec)
def test_every_codec(broker: Broker, codec: Codec) -> None:
    topic = fresh_topic(broker, 1, prefix="produced")
    sent = [(b"key-%d" % i, None if i % 7 == 0 else b"value " * (i % 50), NOW_MS + i) for i in range(COUNT)]
    settings: dict[str, str | int] = {"compression.type": codec.name.lower(), "linger.ms": 50}
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True} | settings)
    for key, value, timestamp in sent:
        producer.produce(topic, value, key, partition=0, timestamp=timestamp, headers=HEADERS)
    assert producer.flush(30) == 0
    (segment,) = read_log(broker.data / f"{topic}-0")
    assert {batch.codec for batch in segment.batches} == {codec}
    read = [record for batch in segment.batches for record in records_of(batch, segment.data)]
    assert [(record.key, record.value, record.timestamp) for record in read] == sent
    assert [record.offset for record in read] == list(range(COUNT))
    assert {record.headers for record in read} == {tuple(HEADERS)}
    assert [(c.key(i), c.value(i)) for c in columns_of(segment.batches) for i in range(len(c))] == [
        (key, value) for key, value, _ in sent
    ]
