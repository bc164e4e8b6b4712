"""Commits of one member do not overtake each other, and what becomes of one whose partitions do not all exist."""

import json
from collections.abc import Callable, Sequence
from time import monotonic

import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as Place

from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.member import ClientSubscription, Identity
from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from tests.coordinator.consumer.consumer_members import start
from tests.coordinator.consumer.driver import Application, Play
from tests.coordinator.engine.consumer import images
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from wire.errors import ErrorCode

PLACE = TopicPartition("foo", 0)


def offsets(application: Application) -> list[int]:
    """What it has committed of the first partition, in order."""
    committed = []
    for request in application.requests(OffsetCommit):
        committed += [offset.offset for offset in request.offsets if offset.partition == PLACE.partition]
    return committed


def test_no_automatic_commit_while_another_is_tried_again() -> None:
    play = Play()
    a = start(play, "a")
    a.positions[PLACE] = 5
    a.hold(OffsetCommit)
    a.member.commit(play.now_ms)
    play.run()
    a.positions[PLACE] = 9
    play.advance(6_000)
    assert offsets(a) == [5]


def test_a_commit_is_not_tried_again_after_a_later_one() -> None:
    play = Play()
    a = start(play, "a")
    a.hold(OffsetCommit)
    for position in (5, 9):
        a.positions[PLACE] = position
        a.member.commit(play.now_ms)
        play.run()
    play.lose(a, answered=False)
    play.advance(1_000)
    assert offsets(a) == [5, 9, 9]


def test_a_commit_before_a_rebalance_is_retried_with_current_positions() -> None:
    play = Play()
    a = start(play, "a")
    a.positions.update({TopicPartition("foo", number): 5 for number in range(6)})
    a.hold(OffsetCommit)
    start(play, "b")
    play.rest()
    assert a.held
    a.sent.clear()
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.FENCED_MEMBER_EPOCH, 1, "a")
    play.advance(5_000)
    assert a.calls()[-1][0] == "lost"
    play.lose(a, answered=False)
    play.advance(1_000)
    assert a.requests(OffsetCommit) == []


def test_an_application_that_waits_for_a_commit_does_not_poll() -> None:
    play = Play()
    a = start(play, "a", enable_auto_commit=False)
    a.calls()
    a.positions[PLACE] = 5
    a.hold(OffsetCommit)
    a.member.commit(play.now_ms)
    play.run()
    start(play, "b")
    play.rest()
    assert (a.calls(), a.member.in_poll) == ([], False)
    play.release(a)
    assert a.member.in_poll
    assert a.calls() == [("revoked", ["foo-3", "foo-4", "foo-5"]), ("assigned", [])]


def start_classic(play: Play, name: str, library: str = "java") -> Application:
    def make(identity: Identity, application: Application) -> ClassicConsumer:
        return ClassicConsumer(
            identity, ClientSubscription(topics=("foo",)), play.topics, application.known_positions
        )

    return play.start(name, make, library=library, enable_auto_commit=False)


@pytest.mark.parametrize("begin", [start, start_classic])
def test_a_commit_that_is_waited_for_is_tried_again(begin: Callable[[Play, str], Application]) -> None:
    play = Play()
    a = begin(play, "a")
    play.rest()
    a.positions[PLACE] = 5
    play.refuse(OffsetCommit, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 1)
    a.member.commit(play.now_ms)
    play.run()
    assert not a.member.in_poll
    play.advance(100)
    assert a.member.in_poll
    assert offsets(a)[-2:] == [5, 5]
    assert a.raised == []


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
        requests = sum(node["req"].get("OffsetCommit", 0) for node in brokers)

    create_topics(broker, {topic: 1})
    config = {"bootstrap.servers": broker.bootstrap, "group.id": topic, "enable.auto.commit": False}
    consumer = Consumer(config | {"statistics.interval.ms": 100, "stats_cb": count})
    consumer.subscribe([topic])
    deadline = monotonic() + PATIENCE_S
    while not consumer.assignment() and monotonic() < deadline:
        consumer.poll(0.1)
    with pytest.raises(KafkaException) as thrown:
        consumer.commit(offsets=[Place(topic, partition, 1) for partition in partitions], asynchronous=False)
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
    play = Play(topics=images(("foo", 8)))
    a = start_classic(play, "a", library)
    play.rest()
    a.positions = {TopicPartition("foo", number): 5 for number in partitions}
    play.change_topics(images(("foo", 1), version=2), seen=False)
    a.member.commit(play.now_ms)
    play.advance(60_000)
    assert (len(a.requests(OffsetCommit)), a.raised[-1]) == expected
