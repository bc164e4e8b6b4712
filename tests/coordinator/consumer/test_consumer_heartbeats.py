"""When a member of the consumer protocol heartbeats, what it says, and what an error does (consumer.md K1–K6, K11)."""

from itertools import pairwise

import pytest

from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.member import ClientSubscription, Identity
from coordinator.consumer.outputs import FindCoordinator
from coordinator.consumer.reconciling_member import AsyncState
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from tests.coordinator.consumer.consumer_members import heartbeats, member_of, start
from tests.coordinator.consumer.driver import Application, Play
from tests.coordinator.engine.consumer import images
from wire.errors import ErrorCode

ALL = [f"foo-{number}" for number in range(6)]


def pair() -> tuple[Play, Application, Application]:
    """Members a and b, with three partitions each."""
    play = Play()
    a, b = start(play, "a"), start(play, "b")
    play.rest()
    for application in (a, b):
        application.calls()
        heartbeats(application)
    return play, a, b


def test_another_interval_counts_from_the_answer_that_says_it() -> None:
    play, a, _ = pair()
    play.engine.set_group_config("g", {"consumer.heartbeat.interval.ms": "15000"})
    play.advance(5_000)
    heartbeats(a)
    play.advance(14_900)
    assert heartbeats(a) == []
    play.advance(100)
    assert len(heartbeats(a)) == 1


def test_a_pattern_of_the_client_is_said_as_names() -> None:
    play = Play(topics=images(("foo", 1), ("bar", 1)))

    def make(identity: Identity, application: Application) -> AsyncConsumer:
        subscription = ClientSubscription(matches=lambda name: name.startswith("foo"))
        return AsyncConsumer(identity, subscription, play.topics, application.known_positions, uuid="a")

    a = play.start("a", make)
    assert [(heartbeat.topics, heartbeat.regex) for heartbeat in heartbeats(a)[:1]] == [(("foo",), None)]
    play.change_topics(images(("foo", 1), ("bar", 1), ("food", 1), version=2))
    play.rest()
    assert ("foo", "food") in [heartbeat.topics for heartbeat in heartbeats(a)]
    assert a.owns == ["foo-0", "food-0"]


def test_a_heartbeat_says_only_what_changed() -> None:
    play, a, _ = pair()
    play.advance(5_000)
    (beat,) = heartbeats(a)
    assert beat == ConsumerGroupHeartbeat(group="g", member="a", epoch=a.member.epoch)


def test_an_answer_that_is_lost_makes_the_next_heartbeat_say_everything() -> None:
    play, a, _ = pair()
    a.hold(ConsumerGroupHeartbeat)
    play.advance(5_000)
    play.lose(a, answered=True)
    heartbeats(a)
    play.advance(200)
    (beat,) = heartbeats(a)
    assert beat.owned == {play.topics.topics["foo"].id: (0, 1, 2)}
    assert (beat.topics, beat.rebalance_timeout_ms, beat.epoch) == (("foo",), 300_000, a.member.epoch)
    assert a.calls() == []


def test_an_answer_from_before_the_member_left_does_not_count_for_its_join() -> None:
    play = Play()
    a = start(play, "a", max_poll_interval_ms=10_000)
    play.pause(a)
    a.hold(ConsumerGroupHeartbeat)
    play.advance(10_000)
    play.resume(a)
    assert [heartbeat.epoch for heartbeat in heartbeats(a)][-2:] == [-1, 0]
    first, *others = a.held
    a.held = others
    play.deliver(a, first)
    play.run()
    assert (heartbeats(a), member_of(a).state, a.member.epoch) == ([], AsyncState.JOINING, 0)
    play.release(a)
    play.rest()
    assert a.owns == ALL


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_the_coordinator_is_looked_up_again(code: ErrorCode) -> None:
    play, a, _ = pair()
    play.refuse(ConsumerGroupHeartbeat, code, 1, "a")
    play.advance(5_000)
    sent = [type(request) for request in a.sent if not isinstance(request, OffsetCommit)]
    assert sent[:3] == [ConsumerGroupHeartbeat, FindCoordinator, ConsumerGroupHeartbeat]
    assert (a.calls(), a.raised) == ([], [])


def test_a_loading_coordinator_is_asked_again_after_a_growing_backoff() -> None:
    play, a, _ = pair()
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 6, "a")
    play.advance(4_900)
    heartbeats(a)
    times: list[int] = []
    while len(times) < 7:
        play.advance(100)
        times += [play.now_ms] * len(heartbeats(a))
    assert [later - sooner for sooner, later in pairwise(times)] == [100, 200, 400, 800, 1_000, 1_000]
    assert (a.calls(), a.raised, a.owns) == ([], [], ALL[:3])


def test_an_answer_resets_the_backoff() -> None:
    play, a, _ = pair()
    for _ in range(2):
        play.refuse(ConsumerGroupHeartbeat, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 3, "a")
        play.advance(5_000)
        heartbeats(a)
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 1, "a")
    while not heartbeats(a):
        play.advance(100)
    play.advance(100)
    assert len(heartbeats(a)) == 1


def test_a_fenced_member_is_idle_until_lost_has_returned() -> None:
    play, a, _ = pair()
    a.listener["lost"].takes_ms = 8_000
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.FENCED_MEMBER_EPOCH, 1, "a")
    play.advance(5_000)
    assert (member_of(a).state, a.fetches, a.owns) == (AsyncState.FENCED, [], ALL[:3])
    heartbeats(a)
    play.advance(7_900)
    assert heartbeats(a) == []
    play.advance(100)
    assert heartbeats(a)[0].epoch == 0


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.UNRELEASED_INSTANCE_ID, "UnreleasedInstanceIdException"),
        (ErrorCode.INVALID_REGULAR_EXPRESSION, "InvalidRegularExpression"),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, "GroupAuthorizationException"),
        (ErrorCode.UNKNOWN_SERVER_ERROR, "UnknownServerException"),
        (ErrorCode.CORRUPT_MESSAGE, "KafkaException"),
    ],
)
def test_another_error_is_thrown_once_and_then_the_member_is_idle(code: ErrorCode, error: str) -> None:
    play, a, _ = pair()
    play.refuse(ConsumerGroupHeartbeat, code, 1, "a")
    play.advance(5_000)
    assert a.calls() == [("lost", ALL[:3])]
    assert a.raised == [error]
    assert (a.owns, member_of(a).state) == ([], AsyncState.FATAL)
    heartbeats(a)
    play.advance(600_000)
    assert (heartbeats(a), a.raised, a.calls()) == ([], [error], [])


@pytest.mark.parametrize(
    ("library", "error"),
    [("java", "TopicAuthorizationException"), ("librdkafka", "TOPIC_AUTHORIZATION_FAILED")],
)
def test_an_error_that_repeats_outside_poll_is_thrown_once(library: str, error: str) -> None:
    play = Play()
    a = start(play, "a", library=library)
    play.pause(a)
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.TOPIC_AUTHORIZATION_FAILED, 5, "a")
    play.advance(20_000)
    play.resume(a)
    play.rest()
    assert a.raised == [error]


def test_an_invalid_regex_is_fatal() -> None:
    play = Play()
    a = start(play, "a", regex="a(")
    assert a.raised == ["InvalidRegularExpression"]
    assert a.messages[0].startswith("Invalid RE2J SubscriptionPattern provided in the call to subscribe. ")


# max.poll.interval.ms.


def test_a_static_member_that_leaves_for_good_gives_its_place_up() -> None:
    play = Play()
    a, b = start(play, "a", instance="i"), start(play, "b")
    play.rest()
    heartbeats(a)
    member_of(a).close(play.now_ms, for_good=True)
    play.run()
    assert [heartbeat.epoch for heartbeat in heartbeats(a)] == [-1]
    play.rest()
    assert b.owns == ALL
