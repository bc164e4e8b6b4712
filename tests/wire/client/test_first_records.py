"""The timestamp of the first record after an offset: on a real broker, with markers and gaps between records."""

from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin._resource import ResourceType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kafka.broker import Broker
from tests.kafka.configs import set_config
from tests.kafka.topics import delete_records, fresh_topic
from wire.client.client import KafkaClient
from wire.client.first_records import FirstRecord, FirstRecords, _Search
from wire.client.security import ConnectionSettings
from wire.errors import Failure
from wire.log.batches import encode_batch

FIRST_MS = 1_767_225_600_000
STEP_MS = 1_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    """Give a client of the shared broker."""
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:
        yield client


def topic(broker: Broker, partitions: int = 1) -> str:
    name = fresh_topic(broker, partitions)
    # The records are old: the broker would drop them some 30 s after its start.
    set_config(broker, ResourceType.TOPIC, name, {"retention.ms": "-1"})
    return name


def produce(
    broker: Broker,
    name: str,
    count: int,
    *,
    partition: int = 0,
    size: int = 0,
    settings: Mapping[str, str] | None = None,
) -> None:
    # Idempotent: a batch that is sent once more does not come behind its successors.
    own = settings or {}
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap, "log_level": 0, "enable.idempotence": True, **own}
    )
    if "transactional.id" in own:
        producer.init_transactions(30)
        producer.begin_transaction()
    for number in range(count):
        producer.produce(name, b"x" * size, partition=partition, timestamp=FIRST_MS + number * STEP_MS)
    assert producer.flush(30) == 0
    if "transactional.id" in own:
        producer.commit_transaction(30)


def found(
    client: KafkaClient, wanted: Mapping[tuple[str, int], list[int]]
) -> dict[tuple[str, int], FirstRecords]:
    answers = client.first_records(wanted)
    assert not answers.failed
    return dict(answers.found)


def at(offset: int, number: int | None = None) -> FirstRecord:
    """The record at an offset, which was the n-th of its producer."""
    return FirstRecord(
        offset=offset, timestamp_ms=FIRST_MS + (offset if number is None else number) * STEP_MS
    )


@pytest.mark.kafka
def test_the_exact_record_of_each_offset_in_every_codec(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker, len(CODECS) + 1)
    for partition, codec in enumerate(CODECS):
        # One batch, far longer than the first request allows.
        settings = {"linger.ms": "1000", "compression.type": codec}
        produce(broker, name, 300, partition=partition, size=100, settings=settings)
    wanted = {(name, partition): [0, 7, 8, 299, 300] for partition in range(len(CODECS))}
    expected = {0: at(0), 7: at(7), 8: at(8), 299: at(299), 300: None}
    empty = (name, len(CODECS))
    assert found(client, {**wanted, empty: [0]}) == {**dict.fromkeys(wanted, expected), empty: {0: None}}


@pytest.mark.kafka
def test_batches_longer_than_any_limit_next_to_short_ones(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker, 6)
    for partition in range(6):
        size = 200_000 if partition % 2 else 10
        produce(
            broker,
            name,
            3,
            partition=partition,
            size=size,
            settings={"linger.ms": "0", "batch.num.messages": "1"},
        )
    wanted = {(name, partition): [0, 1, 2] for partition in range(6)}
    assert found(client, wanted) == {place: {0: at(0), 1: at(1), 2: at(2)} for place in wanted}


@pytest.mark.kafka
def test_marks_of_transactions_are_no_records(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker)
    for _ in range(3):  # offsets 0 1 [2] 3 4 [5] 6 7 [8]
        produce(broker, name, 2, settings={"transactional.id": name})
    result = found(client, {(name, 0): [1, 2, 5, 7, 8]})[name, 0]
    assert result == {1: at(1, 1), 2: at(3, 0), 5: at(6, 0), 7: at(7, 1), 8: None}


@pytest.mark.kafka
def test_a_log_that_starts_after_the_offset(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker)
    produce(broker, name, 10)
    delete_records(broker, {(name, 0): 6})
    assert found(client, {(name, 0): [0, 5, 7]}) == {(name, 0): {0: at(6), 5: at(6), 7: at(7)}}
    # All is gone: there is nothing to read.
    delete_records(broker, {(name, 0): 10})
    assert found(client, {(name, 0): [3]}) == {(name, 0): {3: None}}
    result = client.first_records({(name, 0): [99]})
    assert result.failed[name, 0].message == "the log ends before offset 99"


@pytest.mark.kafka
def test_topics_and_partitions_that_are_not_there(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker)
    produce(broker, name, 1)
    answers = client.first_records({(name, 0): [0], (name, 1): [0], ("no-such-topic", 0): [0]})
    assert answers.found == {(name, 0): {0: at(0)}}
    assert {place: failure.code for place, failure in answers.failed.items()} == {
        (name, 1): 3,
        ("no-such-topic", 0): 3,
    }


@pytest.mark.kafka
def test_as_a_consumer_sees_it(broker: Broker, client: KafkaClient) -> None:
    """What a consumer reads first from an offset is the oracle, in batches of many sizes."""
    name = topic(broker)
    for count in (1, 40, 3, 1, 200):
        produce(broker, name, count, size=50, settings={"linger.ms": "50"})
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": name, "enable.auto.commit": False}
    )
    try:
        consumer.assign([TopicPartition(name, 0, 0)])
        times: dict[int, int] = {}
        while len(times) < 245:
            for message in consumer.consume(500, timeout=1.0):
                assert message.error() is None
                times[message.offset() or 0] = message.timestamp()[1]
    finally:
        consumer.close()
    result = found(client, {(name, 0): list(range(246))})[name, 0]
    expected = {offset: FirstRecord(offset=offset, timestamp_ms=ms) for offset, ms in times.items()}
    assert result == {**expected, 245: None}


def batches(*offsets: int) -> bytes:
    """A batch of one record at each offset, of ten times its number in ms."""
    return b"".join(
        encode_batch([(None, b"v")], base_offset=offset, timestamp=offset * 10) for offset in offsets
    )


@settings(suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=300), st.integers(0, 50), st.integers(-5, 60))
def test_no_bytes_of_a_broker_keep_a_search_from_ending(junk: bytes, cut: int, watermark: int) -> None:
    good = batches(3, 5, 9)
    search = _Search(("t", 0), [2, 4, 30])
    for records in (junk, good[:cut] + junk, good[: len(good) - cut]) * 4:
        if search.pending:
            search.take(records, watermark)
    assert not search.pending
    outcome = search.outcome
    if isinstance(outcome, dict):
        assert set(outcome) == {2, 4, 30}
    else:
        assert isinstance(outcome, Failure)


def test_a_leader_that_repeats_itself_is_left() -> None:
    search = _Search(("t", 0), [20])
    for _ in range(3):
        if search.pending:
            search.take(batches(3, 5), 99)
    assert isinstance(search.outcome, Failure)
    assert "returns no record at offset 20" in search.outcome.message


def test_gaps_of_compaction_are_passed() -> None:
    search = _Search(("t", 0), [4, 6, 10])
    search.take(batches(3, 5, 9), 12)
    assert search.outcome == {
        4: FirstRecord(offset=5, timestamp_ms=50),
        6: FirstRecord(offset=9, timestamp_ms=90),
    }
    assert search.pending == [10]
    search.take(batches(11), 12)
    assert search.outcome[10] == FirstRecord(offset=11, timestamp_ms=110)
