"""Records in a data directory: a full disk, and a broker that takes turns with us."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.conformance.record_stories import Asker, batch_of
from tests.conformance.servers import kohort_process
from tests.coordinator.store.small_disk import fill, small_disk
from tests.kafka.broker import Broker
from tests.kafka.ports import HOST
from tests.kafka.tool_host import DUMP_LOG, ToolHost
from tests.kafka.wait import wait_until
from wire.errors import ErrorCode

CLUSTER = {"node.id": "1"}


def read_all(bootstrap: str, topic: str, partitions: int = 1) -> list[str]:
    """The values of all records, partition by partition."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False})
    values: list[str] = []
    for number in range(partitions):
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=20)
        consumer.assign([TopicPartition(topic, number, low)])
        while low < high:
            message = consumer.poll(20)
            assert message is not None
            assert message.error() is None
            values.append((message.value() or b"").decode())
            low = (message.offset() or 0) + 1
    consumer.close()
    return values


def send(bootstrap: str, topic: str, values: list[str], partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for value in values:
        producer.produce(topic, value, partition=partition)
    assert producer.flush(20) == 0


def test_a_full_disk_refuses_records_and_the_server_continues(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", kilobytes=4_096) as disk,
        kohort_process(
            tmp_path / "log", {"offsets.topic.num.partitions": "1"}, "--data", str(disk / "data")
        ) as (port, _),
    ):
        asker = Asker(port)
        asker.create(partitions=1)
        asker.produce("one", batch_of(b"a"))
        ballast = fill(disk)
        full = asker.produce("no room", batch_of(bytes(100_000)))
        assert full.responses[0].partition_responses[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert len(read_all(f"{HOST}:{port}", asker.topic)) == 1
        ballast.unlink()
        again = asker.produce("room again", batch_of(bytes(100_000)))
        assert again.responses[0].partition_responses[0].base_offset == 1
        asker.close()


@pytest.mark.kafka
def test_a_broker_and_kohort_take_turns_on_a_directory(
    kafka_jars: Path, tools: ToolHost, tmp_path: Path
) -> None:
    (tmp_path / "broker").mkdir()
    broker = Broker(kafka_jars, tmp_path / "broker")
    try:
        broker.start()
        asker = Asker(broker.port)
        asker.create({"segment.bytes": "1048576"}, partitions=2)
        asker.close()
        written = [f"broker {number}" for number in range(100)]
        send(broker.bootstrap, asker.topic, written)
        broker.stop()
        with kohort_process(tmp_path / "log", CLUSTER, "--data", str(broker.data)) as (port, _):
            assert read_all(f"{HOST}:{port}", asker.topic, 2) == written
            ours = [f"kohort {number} {'x' * 1_000}" for number in range(100)]
            send(f"{HOST}:{port}", asker.topic, ours)
            written += ours
        (segment,) = (broker.data / f"{asker.topic}-0").glob("*.log")
        dumped = tools.run(
            DUMP_LOG, "--files", f"{segment},{segment.with_suffix('.index')}", "--deep-iteration"
        )
        assert dumped.returncode == 0
        assert "kohort 99" not in dumped.stderr
        assert "lastOffset: 199" in dumped.stdout
        assert "mismatch" not in dumped.stdout.lower()
        broker.start()
        wait_until(lambda: _is_led(broker, asker.topic), "the broker leads the partitions again")
        assert read_all(broker.bootstrap, asker.topic, 2) == written
        assert "orrupt" not in broker.log.read_text()
    finally:
        broker.crash()


def _is_led(broker: Broker, topic: str) -> bool:
    asker = Asker(broker.port)
    asker.topic = topic
    try:
        return all(asker.is_led(number) for number in range(2))
    finally:
        asker.close()
