"""Topics with `cleanup.policy=compact`: the same records remain here, on a broker, and after a kill."""

import os
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.conformance.record_stories import Asker
from tests.conformance.servers import kohort_process
from tests.kafka.broker import Broker
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until

OFTEN = {
    "log.cleaner.enable": "true",
    "log.cleaner.backoff.ms": "50",
    "transaction.state.log.num.partitions": "1",
}
COMPACTED = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "1000"}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
KEYS = 5
STEPS = 30
STEP_MS = 10_000  # more than `segment.ms`; later than the clock, whose time the transaction markers have

Left = list[tuple[int | None, bytes | None, bytes | None, object]]


def write(bootstrap: str, topic: str) -> dict[bytes, bytes | None]:
    """Write one segment after another. Returns the last committed value of each key."""
    now_ms = int(time.time() * 1000)
    latest: dict[bytes, bytes | None] = {}
    plain = [Producer({"bootstrap.servers": bootstrap, "compression.type": codec}) for codec in CODECS]
    transactional = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"of {topic}"})
    transactional.init_transactions(30)
    watch = Consumer({"bootstrap.servers": bootstrap, "group.id": "watch"})
    end = 0
    for step in range(STEPS):
        is_transaction = step % 5 == 2
        producer = transactional if is_transaction else plain[step % len(CODECS)]
        if is_transaction:
            transactional.begin_transaction()
        written: dict[bytes, bytes | None] = {}
        for index in range(3):
            key = f"key {(step + index) % KEYS}".encode()
            value = None if (step + index) % 7 == 0 else f"{step}, {index}".encode()
            written[key] = value
            producer.produce(
                topic, value, key, 0, timestamp=now_ms + step * STEP_MS, headers={"step": str(step).encode()}
            )
        assert producer.flush(20) == 0
        end += len(written)
        is_aborted = is_transaction and step % 2
        if is_transaction:
            (transactional.abort_transaction if is_aborted else transactional.commit_transaction)(20)
            end += 1
            # A broker writes the marker after its answer.
            wait_until(partial(is_end, watch, topic, end), "the mark is there")
        if not is_aborted:
            latest |= written
    plain[0].produce(topic, b"active", b"end", 0, timestamp=now_ms + STEPS * STEP_MS)
    assert plain[0].flush(20) == 0
    watch.close()
    return {**latest, b"end": b"active"}


def is_end(watch: Consumer, topic: str, offset: int) -> bool:
    return bool(watch.get_watermark_offsets(TopicPartition(topic, 0), timeout=20)[1] == offset)


def read(bootstrap: str, topic: str) -> Left:
    settings = {"group.id": "reader", "isolation.level": "read_committed", "enable.partition.eof": True}
    records: Left = []
    with Consumer({"bootstrap.servers": bootstrap, **settings}) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while (message := consumer.poll(20)) is not None and message.error() is None:
            records.append((message.offset(), message.key(), message.value(), message.headers()))
    return records


def values(left: Left) -> dict[bytes | None, bytes | None]:
    return {key: value for _, key, value, _ in left}


def left_of(bootstrap: str, topic: str) -> tuple[dict[bytes, bytes | None], Left]:
    """Write, wait until every key exists once, and return the remaining records."""
    latest = write(bootstrap, topic)
    left: Left = []

    def is_compacted() -> bool:
        left[:] = read(bootstrap, topic)
        return len(left) == len(latest)

    wait_until(is_compacted, "every key is there once", timeout_s=60)
    return latest, left


def create(port: int, topic: str) -> None:
    asker = Asker(port)
    asker.topic = topic
    asker.create(COMPACTED, partitions=1)
    asker.close()


@pytest.mark.kafka
def test_compaction_leaves_the_same_records_as_a_broker_does(kafka_jars: Path, tmp_path: Path) -> None:
    (tmp_path / "broker").mkdir()
    broker = Broker(kafka_jars, tmp_path / "broker", OFTEN)
    try:
        broker.start()
        create(broker.port, "prices")
        _, theirs = left_of(broker.bootstrap, "prices")
    finally:
        broker.crash()
    data = "--data", str(tmp_path / "data")
    with suppress(ChildProcessError), kohort_process(tmp_path / "log", OFTEN, *data) as (port, pid):
        create(port, "prices")
        latest, ours = left_of(f"{HOST}:{port}", "prices")
        os.kill(pid, signal.SIGKILL)
    assert values(ours) == latest
    assert ours == theirs
    with kohort_process(tmp_path / "log", OFTEN, *data) as (port, _):
        assert read(f"{HOST}:{port}", "prices") == theirs


def test_a_kill_while_segments_are_replaced_loses_no_key(tmp_path: Path) -> None:
    latest: dict[bytes, bytes | None] = {}
    settings = {**OFTEN, "log.cleaner.backoff.ms": "0"}
    data = "--data", str(tmp_path / "data")
    time_ms = int(time.time() * 1000)
    for kill in range(2):
        with suppress(ChildProcessError), kohort_process(tmp_path / "log", settings, *data) as (port, pid):
            bootstrap = f"{HOST}:{port}"
            if not kill:
                create(port, "prices")
            assert values(read(bootstrap, "prices")) == latest
            producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
            for step in range(100):
                key, value = f"key {step % KEYS}".encode(), f"{kill}, {step}".encode()
                time_ms += STEP_MS
                producer.produce("prices", value, key, 0, timestamp=time_ms)
                assert producer.flush(20) == 0
                latest[key] = value
            os.kill(pid, signal.SIGKILL)
    with kohort_process(tmp_path / "log", settings, *data) as (port, _):
        bootstrap = f"{HOST}:{port}"
        assert values(read(bootstrap, "prices")) == latest
        # One of them twice: in the active segment, too.
        wait_until(
            lambda: len(read(bootstrap, "prices")) == KEYS + 1, "all but the last segment is compacted"
        )
        assert values(read(bootstrap, "prices")) == latest
