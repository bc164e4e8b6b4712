"""The timestamp of the first record after an offset: on a real broker, with markers and gaps between records."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin._resource import ResourceType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import delete_records, fresh_topic, set_config
from tests.kafka.wait import wait_until
from wire.client.cluster import KafkaClient
from wire.client.first_records import MOST_BYTES, FirstRecord, FirstRecords, _Search, first_records
from wire.client.offsets import LAST_STABLE, LATEST, offsets_at
from wire.client.security import ConnectionSettings
from wire.errors import Failure
from wire.log.batch_writer import encode_batch

FIRST_MS = 1_767_225_600_000
STEP_MS = 1_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:
        yield client


def topic(broker: Broker, partitions: int = 1) -> str:
    name = fresh_topic(broker, partitions)
    # The records are old: the broker would drop them some 30 s after its start.
    set_config(broker, ResourceType.TOPIC, name, {"retention.ms": "-1"})
    return name


SINGLE = {"linger.ms": "0", "batch.num.messages": "1"}  # settings of a producer whose batches have one record


def producer_of(broker: Broker, settings: Mapping[str, str]) -> Producer:
    # Idempotent: a batch that is sent once more does not come behind its successors.
    common = {"bootstrap.servers": broker.bootstrap, "log_level": 0, "enable.idempotence": True}
    producer = Producer({**common, **settings})
    if "transactional.id" in settings:
        producer.init_transactions(30)
        producer.begin_transaction()
    return producer


def produce(
    broker: Broker, name: str, count: int, settings: Mapping[str, str], *, partition: int = 0, size: int = 0
) -> None:
    producer = producer_of(broker, settings)
    for number in range(count):
        producer.produce(name, b"x" * size, partition=partition, timestamp=FIRST_MS + number * STEP_MS)
    assert producer.flush(30) == 0
    if "transactional.id" in settings:
        producer.commit_transaction(30)


def wait_stable(client: KafkaClient, name: str) -> None:
    """Brokers answer EndTxn before they write the markers."""
    wait_until(
        lambda: len(set(offsets_at(client, [(name, 0)], [LAST_STABLE, LATEST]).found[name, 0])) == 1,
        "the transaction has ended",
    )


def transact(broker: Broker, client: KafkaClient, name: str, count: int, *, commit: bool) -> None:
    """A transaction of a new producer, with a batch for each record."""
    producer = producer_of(broker, {"transactional.id": fresh_name("till"), **SINGLE})
    for _ in range(count):
        producer.produce(name, b"", timestamp=FIRST_MS)
    assert producer.flush(30) == 0
    if commit:
        producer.commit_transaction(30)
    else:
        producer.abort_transaction(30)
    wait_stable(client, name)


def found(
    client: KafkaClient, offsets: Mapping[tuple[str, int], list[int]]
) -> dict[tuple[str, int], FirstRecords]:
    answers = first_records(client, offsets)
    assert not answers.failed
    return dict(answers.found)


def at(offset: int, number: int | None = None) -> FirstRecord:
    """The record at an offset, which was the n-th of its producer."""
    return FirstRecord(
        offset=offset, timestamp_ms=FIRST_MS + (offset if number is None else number) * STEP_MS
    )


def nothing_to(end: int, aborted: int = 0) -> FirstRecord:
    return FirstRecord(None, searched_to=end, aborted=aborted)


@pytest.mark.kafka
def test_the_exact_record_of_each_offset_in_every_codec(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker, len(CODECS) + 1)
    for partition, codec in enumerate(CODECS):
        # One batch, far longer than the first request allows.
        settings = {"linger.ms": "1000", "compression.type": codec}
        produce(broker, name, 300, settings, partition=partition, size=100)
    requested = {(name, partition): [0, 7, 8, 299, 300] for partition in range(len(CODECS))}
    expected = {0: at(0), 7: at(7), 8: at(8), 299: at(299), 300: nothing_to(300)}
    empty = (name, len(CODECS))
    result = found(client, {**requested, empty: [0]})
    assert result == {**dict.fromkeys(requested, expected), empty: {0: nothing_to(0)}}


@pytest.mark.kafka
def test_batches_longer_than_any_limit_next_to_short_ones(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker, 6)
    for partition in range(6):
        produce(broker, name, 3, SINGLE, partition=partition, size=200_000 if partition % 2 else 10)
    requested = {(name, partition): [0, 1, 2] for partition in range(6)}
    assert found(client, requested) == {key: {0: at(0), 1: at(1), 2: at(2)} for key in requested}


@pytest.mark.kafka
def test_a_log_that_starts_after_the_offset(broker: Broker, client: KafkaClient) -> None:
    name = topic(broker)
    produce(broker, name, 10, {})
    delete_records(broker, {(name, 0): 6})
    assert found(client, {(name, 0): [0, 5, 7]}) == {(name, 0): {0: at(6), 5: at(6), 7: at(7)}}
    # All is gone: there is nothing to read.
    delete_records(broker, {(name, 0): 10})
    assert found(client, {(name, 0): [3]}) == {(name, 0): {3: nothing_to(10)}}
    result = first_records(client, {(name, 0): [99]})
    assert result.failed[name, 0].message == "the log ends before offset 99"


@contextmanager
def consumer_of(broker: Broker, group: str, *, eof: bool = False) -> Iterator[Consumer]:
    config = {"isolation.level": "read_committed", "enable.partition.eof": eof, "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, **config})
    try:
        yield consumer
    finally:
        consumer.close()


def batches(*offsets: int) -> bytes:
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


@pytest.mark.kafka
def test_records_of_aborted_transactions_are_skipped(broker: Broker, client: KafkaClient) -> None:
    aborts, opens, mixed = (topic(broker) for _ in range(3))
    for name in (aborts, opens, mixed):
        produce(broker, name, 10, {})
    transact(broker, client, aborts, 5, commit=False)  # offsets 10 to 14, and the marker 15
    transact(broker, client, mixed, 3, commit=False)  # 10 to 12, 13
    transact(broker, client, mixed, 2, commit=True)  # 14 15, 16
    transact(broker, client, mixed, 4, commit=False)  # 17 to 20, 21
    till = producer_of(broker, {"transactional.id": opens})
    till.produce(opens, b"", timestamp=FIRST_MS)
    assert till.flush(30) == 0
    produce(
        broker, opens, 2, {}
    )  # behind the last stable offset, where an aborted transaction cannot be known
    requested = {(aborts, 0): [9, 10, 12, 16], (opens, 0): [10, 11], (mixed, 0): [10, 13, 14, 16, 17, 20]}
    result = found(client, requested)
    assert result[aborts, 0] == {9: at(9), 10: nothing_to(16, 5), 12: nothing_to(16, 3), 16: nothing_to(16)}
    assert result[opens, 0] == {10: at(10, 0), 11: at(11, 0)}
    assert result[mixed, 0] == {
        10: FirstRecord(offset=14, timestamp_ms=FIRST_MS, aborted=3),
        13: at(14, 0),
        14: at(14, 0),
        16: nothing_to(22, 4),
        17: nothing_to(22, 4),
        20: nothing_to(22, 1),
    }
    # A consumer is the oracle.
    with consumer_of(broker, mixed, eof=True) as consumer:
        for name, offset, first in ((aborts, 10, None), (mixed, 10, 14), (mixed, 16, None)):
            consumer.assign([TopicPartition(name, 0, offset)])
            message = consumer.poll(30)
            assert message is not None
            assert (None if message.error() else message.offset()) == first
    till.abort_transaction(30)
    wait_stable(client, opens)
    after = found(client, {(opens, 0): [10]})[opens, 0]
    assert after[10] == FirstRecord(offset=11, timestamp_ms=FIRST_MS, aborted=1)


def test_a_search_among_aborted_records_has_a_limit() -> None:
    search = _Search(("t", 0), [0])
    batch = encode_batch(
        [(None, b"x" * 100_000)], base_offset=0, timestamp=10, producer_id=7, transactional=True
    )
    search.high_watermark = 10**6
    offset = 0
    while search.pending:
        search.take(batch[:0] + offset.to_bytes(8, "big") + batch[8:], 10**6, [(7, 0)])
        offset += 1
    assert search.found == {0: FirstRecord(None, searched_to=offset, is_unknown=True, aborted=offset)}
    assert offset == MOST_BYTES // len(batch) + 1
