"""What becomes of a commit whose partitions do not all exist: the real librdkafka, and Kohort's members."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import monotonic

import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as Place

from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientSubscription, Identity
from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.offsets.commit import OffsetCommit
from tests.coordinator.consumer.driver import Application, Play
from tests.coordinator.engine.consumer import images
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics

PATIENCE_S = 30
SOME_GONE, ALL_GONE = (0, 7), (7,)
LIBRDKAFKA: dict[Sequence[int], tuple[int, str]] = {
    SOME_GONE: (1, "UNKNOWN_TOPIC_OR_PART"),
    ALL_GONE: (3, "UNKNOWN_TOPIC_OR_PART"),
}
"""Partitions of a topic that has one; how many requests commit them, and what is thrown at the end."""


@pytest.mark.kafka
@pytest.mark.parametrize("partitions", LIBRDKAFKA)
def test_librdkafka_tries_twice_more_where_all_is_refused(partitions: Sequence[int], broker: Broker) -> None:
    topic, requests = fresh_name("gone"), 0

    def count(statistics: str) -> None:
        nonlocal requests
        brokers = json.loads(statistics)["brokers"].values()
        requests = sum(each["req"].get("OffsetCommit", 0) for each in brokers)

    create_topics(broker, {topic: 1})
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": topic,
            "enable.auto.commit": False,
            "statistics.interval.ms": 100,
            "stats_cb": count,
        }
    )
    consumer.subscribe([topic])
    deadline = monotonic() + PATIENCE_S
    while not consumer.assignment() and monotonic() < deadline:
        consumer.poll(0.1)
    with pytest.raises(KafkaException) as thrown:
        consumer.commit(offsets=[Place(topic, each, 1) for each in partitions], asynchronous=False)
    deadline = monotonic() + 1
    while monotonic() < deadline:
        consumer.poll(0.1)
    consumer.close()
    assert (requests, thrown.value.args[0].name()) == LIBRDKAFKA[partitions]


@pytest.mark.parametrize(
    ("library", "partitions", "expected"),
    [
        *(("librdkafka", partitions, expected) for partitions, expected in LIBRDKAFKA.items()),
        ("java", SOME_GONE, (600, "TimeoutException")),
    ],
)
def test_members_do_as_their_libraries(
    library: str, partitions: Sequence[int], expected: tuple[int, str]
) -> None:
    def make(identity: Identity, application: Application) -> ClassicConsumer:
        return ClassicConsumer(
            identity, ClientSubscription(topics=("foo",)), play.topics, application.position
        )

    play = Play(topics=images(("foo", 8)))
    a = play.start("a", make, library=library, enable_auto_commit=False)
    play.rest()
    a.positions = {TopicPartition("foo", number): 5 for number in partitions}
    play.change_topics(images(("foo", 1), version=2), seen=False)
    a.member.commit(play.now_ms)
    play.advance(60_000)
    assert (len(a.requests(OffsetCommit)), a.raised[-1]) == expected
