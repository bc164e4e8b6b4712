"""What librdkafka sends in every codec and a real broker stores: read as it was produced, and written the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from coordinator.store.partition_files import parse_partition_name
from tests.kafka.broker import Broker
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until
from wire.log.batches import Codec, ControlType, columns_of, control_type, records_of, rewrite_batch
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


def test_transactions(broker: Broker) -> None:
    topic = fresh_topic(broker, 1, prefix="produced")
    producer = Producer(_settings(broker) | {"transactional.id": topic})
    producer.init_transactions()
    for value, end in ((b"taken back", producer.abort_transaction), (b"kept", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(30)
        end()
    # The coordinator answers before it has written the last mark.
    wait_until(lambda: len(_log(broker, topic)[0].batches) == 4, "both transactions have their marks")
    (segment,) = _log(broker, topic)
    first, abort, second, commit = segment.batches
    assert [batch.is_transactional for batch in segment.batches] == [True] * 4
    assert [batch.is_control for batch in segment.batches] == [False, True, False, True]
    assert len({batch.producer_id for batch in segment.batches}) == 1
    assert [records_of(batch, segment.data)[0].value for batch in (first, second)] == [b"taken back", b"kept"]
    kinds = [control_type(records_of(batch, segment.data)[0]) for batch in (abort, commit)]
    assert kinds == [ControlType.ABORT, ControlType.COMMIT]


def test_all_that_a_broker_stores_is_written_the_same(broker: Broker) -> None:
    """Every uncompressed batch in its log directory, those of the metadata quorum among them."""
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
