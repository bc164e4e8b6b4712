"""`kohort serve --brokers`: where they listen, and that a real client finds its way."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.cli.served_data import serving
from tests.kafka.ports import free_ports

MESSAGES = 30


def test_brokers_listen_on_ports_one_after_the_other() -> None:
    for _ in range(5):
        (port,) = free_ports(1)
        try:
            with serving(None, "--brokers", "3", port=port) as served:
                assert served.ports == [port, port + 1, port + 2]
                return
        except AssertionError as error:  # another process has one of the two others
            if "cannot be used" not in str(error):
                raise
    pytest.fail("no three free ports in a row")


def test_a_client_reads_all_partitions_and_commits_by_any_broker() -> None:
    with serving(None, "--brokers", "3", "--topic", "orders:6") as served:
        assert len(set(served.ports)) == 3
        producer = Producer({"bootstrap.servers": served.bootstrap})
        for number in range(MESSAGES):
            producer.produce("orders", str(number).encode(), partition=number % 6)
        assert producer.flush(30) == 0
        for group in ("one", "another", "a third"):
            at = {"bootstrap.servers": served.bootstrap.split(",")[-1], "group.id": group}
            consumer = Consumer({**at, "auto.offset.reset": "earliest", "enable.auto.commit": False})
            consumer.subscribe(["orders"])
            seen: set[bytes | None] = set()
            while len(seen) < MESSAGES:
                message = consumer.poll(30)
                assert message is not None
                assert message.error() is None
                seen.add(message.value())
            consumer.commit(asynchronous=False)
            committed = consumer.committed([TopicPartition("orders", number) for number in range(6)], 30)
            assert [one.offset for one in committed] == [MESSAGES // 6] * 6
            consumer.close()
