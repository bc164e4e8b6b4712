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


def test_an_open_transaction_has_a_name_a_begin_and_a_timeout(
    broker: RunningBroker, source: LiveSource
) -> None:
    topic, name = fresh_topic(broker, 2), fresh_name("till")
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "transactional.id": name,
            "transaction.timeout.ms": TIMEOUT_MS,
        }
    )
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
    assert (one.start_offset, one.transactional_id, one.state, one.timeout_ms) == (
        0,
        name,
        "Ongoing",
        TIMEOUT_MS,
    )
    assert one.begun_ms is not None
    assert one.last_write_ms is not None
    assert abs(one.last_write_ms - one.begun_ms) < 60_000
    producer.abort_transaction(30)
    wait_until(
        lambda: source.open_transactions([(topic, 0)]).by_partition == {(topic, 0): ()},
        "no transaction is open",
    )


def test_a_partition_that_is_not_there_is_a_problem(broker: RunningBroker, source: LiveSource) -> None:
    answer = source.open_transactions([(fresh_topic(broker), 7)])
    assert answer.by_partition == {}
    assert [problem.message for problem in answer.problems] == [
        f"open transactions are not known: {answer.problems[0].subject.removesuffix('-7')} has no partition 7"
    ]
    assert source.open_transactions([]).by_partition == {}
