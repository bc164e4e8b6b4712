"""Records through real clients, and fetches that wait."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from coordinator.server.apis.produce import MANY_RECORDS
from tests.conformance.record_stories import CLOSED, Asker, batch_of, patched
from tests.conformance.servers import kohort_serve
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until
from wire.errors import ErrorCode
from wire.log.batch_header import HEADER_BYTES, batch_at
from wire.log.compression import Codec

LONG_WAIT_MS = 60_000


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    settings = {"group.initial.rebalance.delay.ms": "0", "log.retention.check.interval.ms": "200"}
    with kohort_serve(tmp_path_factory.mktemp("records") / "log", settings) as number:
        yield number


@pytest.fixture
def new_asker(port: int) -> Iterator[Asker]:
    asker = Asker(port)
    yield asker
    asker.close()


@pytest.fixture
def asker(new_asker: Asker) -> Asker:
    new_asker.create()
    return new_asker


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_batches_stay_as_their_producer_compressed_them(port: int, asker: Asker, codec: str) -> None:
    producer = Producer({"bootstrap.servers": f"{HOST}:{port}", "compression.type": codec, "linger.ms": 5})
    for number in range(100):
        producer.produce(asker.topic, f"librdkafka {number} {'x' * 100}")
    assert producer.flush(20) == 0
    fetched = asker.raw("Fetch", 12, **asker.fetch_fields([{"partition": 0}, {"partition": 1}]))
    batches = [batch_at(one.records) for one in fetched.responses[0].partitions if one.records]
    assert {batch.codec for batch in batches} == {Codec[codec.upper()]}


def waiting(asker: Asker, *partitions: int, version: int = 12, **fields: Any) -> Asker:
    other = Asker(asker.port)
    other.topic, other.topic_id = asker.topic, asker.topic_id
    asked = [{"partition": partition} for partition in partitions]
    other.send("Fetch", version, **other.fetch_fields(asked, max_wait_ms=LONG_WAIT_MS, **fields))
    return other


def test_a_fetch_that_waits_is_answered_when_a_record_comes(asker: Asker) -> None:
    other = waiting(asker, 0, 1)
    asker.produce("one", batch_of(b"a"), partition=1)
    (topic,) = other.receive("Fetch", 12).responses
    assert [(one.partition_index, bool(one.records)) for one in topic.partitions] == [(0, False), (1, True)]
    other.close()


def test_a_fetch_waits_for_as_many_bytes_as_it_wants(asker: Asker) -> None:
    batch = batch_of(bytes(100))
    other = waiting(asker, 0, min_bytes=2 * len(batch))
    asker.produce("one", batch)
    asker.produce("two", batch)
    (topic,) = other.receive("Fetch", 12).responses
    assert len(topic.partitions[0].records) == 2 * len(batch)
    other.close()


def test_a_fetch_without_records_is_answered_after_its_wait(asker: Asker) -> None:
    began = time.monotonic()
    answer = asker.raw("Fetch", 12, **asker.fetch_fields([{"partition": 0}], max_wait_ms=300))
    assert time.monotonic() - began >= 0.29  # the loop counts whole milliseconds
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("version", "error"), [(12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (13, ErrorCode.UNKNOWN_TOPIC_ID)]
)
def test_a_fetch_ends_when_its_topic_is_deleted(asker: Asker, version: int, error: ErrorCode) -> None:
    other = waiting(asker, 0, version=version)
    asker.delete()
    (topic,) = other.receive("Fetch", version).responses
    assert topic.partitions[0].error_code == error
    other.close()


def test_a_producer_that_wants_no_answer_gets_none(asker: Asker) -> None:
    asker.send_records(batch_of(b"a"), acks=0)
    offset = asker.list_offset("after it", -1).topics[0].partitions[0].offset
    assert offset == 1
    asker.send_records(b"no batch", acks=0)
    assert asker.receive("Fetch", 12) == CLOSED


def test_a_batch_of_many_records_is_taken(new_asker: Asker) -> None:
    new_asker.create({"max.message.bytes": "10000000"}, partitions=1)
    count = 2 * MANY_RECORDS
    answer = new_asker.produce("many", batch_of(*[b""] * count))
    assert answer.responses[0].partition_responses[0].base_offset == 0
    assert new_asker.list_offset("its end", -1).topics[0].partitions[0].offset == count
    damaged = patched(batch_of(*[b""] * count), HEADER_BYTES, ">b", 2)
    answer = new_asker.produce("many and damaged", damaged)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.INVALID_RECORD


def test_no_two_producers_get_the_same_id(asker: Asker, tmp_path: Path) -> None:
    ids = [asker.new_producer_id() for _ in range(3)]
    with kohort_serve(tmp_path / "log", {}) as port:
        later = Asker(port)
        ids += [later.new_producer_id() for _ in range(3)]
        later.close()
    assert len(set(ids)) == 6


def test_records_are_deleted_by_time(new_asker: Asker) -> None:
    new_asker.create({"retention.ms": "60000"}, partitions=1)
    now_ms = int(time.time() * 1000)
    new_asker.produce("old", batch_of(b"a", timestamp=now_ms - 120_000))
    wait_until(lambda: new_asker.start_of(0) == 1, "the old record is deleted")
    new_asker.produce("new", batch_of(b"b", timestamp=now_ms))
    assert new_asker.start_of(0) == 1
