"""Which transaction is open on a partition, and whose it is."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from cli.sources.live import LiveSource
from tests.cli.sources.live_source import live_source
from tests.kafka.broker import RunningBroker
from tests.kafka.members import fresh_name
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until

TIMEOUT_MS = 120_000


@pytest.fixture
def source(broker: RunningBroker) -> Iterator[LiveSource]:
    with live_source(broker) as live:
        yield live


def test_an_open_transaction_is_described(broker: RunningBroker, source: LiveSource) -> None:
    topic, name = fresh_topic(broker, 2), fresh_name("till")
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": name}
    producer = Producer({**settings, "transaction.timeout.ms": TIMEOUT_MS})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"", partition=0)
    producer.flush(30)
    (read,) = source.topics([topic], start_offsets=True, end_offsets=True, stable_offsets=True).items
    assert (read.stable_offsets, read.end_offsets) == ({0: 0, 1: 0}, {0: 1, 1: 0})
    answer = source.open_transactions([(topic, 0), (topic, 1)])
    assert answer.problems == ()
    assert answer.by_partition[topic, 1] == ()
    (one,) = answer.by_partition[topic, 0]
    facts = (one.start_offset, one.transactional_id, one.state, one.timeout_ms)
    assert facts == (0, name, "Ongoing", TIMEOUT_MS)
    assert one.begun_ms is not None
    assert one.last_write_ms is not None
    assert abs(one.last_write_ms - one.begun_ms) < 60_000
    producer.abort_transaction(30)
    ended = {(topic, 0): ()}
    wait_until(lambda: source.open_transactions([(topic, 0)]).by_partition == ended, "no transaction is open")


def test_a_partition_that_is_not_there_is_a_problem(broker: RunningBroker, source: LiveSource) -> None:
    topic = fresh_topic(broker)
    answer = source.open_transactions([(topic, 7)])
    (problem,) = answer.problems
    assert problem.message == f"open transactions are not known: {topic} has no partition 7"
    assert source.open_transactions([]).by_partition == {}
