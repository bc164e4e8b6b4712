"""When a member of the consumer protocol heartbeats, what it says, and what an error does (consumer.md K1–K6, K11)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.member import ClientSubscription, Identity
from coordinator.consumer.outputs import FindCoordinator
from coordinator.consumer.reconciling_member import AsyncState
from coordinator.engine.calls import Request
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from tests.coordinator.consumer.consumer_members import heartbeats, member_of, start
from tests.coordinator.consumer.driver import Application, Play
from tests.coordinator.engine.consumer import images
from wire.errors import ErrorCode

ALL = [f"foo-{number}" for number in range(6)]


def refuse(play: Play, code: ErrorCode, member: str = "a", times: int = 1) -> None:
    """Refuse the next heartbeats of a member."""
    left = [times]

    def refuses(request: Request[object]) -> ErrorCode | None:
        if isinstance(request, ConsumerGroupHeartbeat) and request.member == member and left[0]:
            left[0] -= 1
            return code
        return None

    play.refuses = refuses


def hold_heartbeats(application: Application) -> None:
    application.holds = lambda send: isinstance(send.request, ConsumerGroupHeartbeat)


def pair() -> tuple[Play, Application, Application]:
    """Members a and b, with three partitions each."""
    play = Play()
    a, b = start(play, "a"), start(play, "b")
    play.rest()
    for application in (a, b):
        application.calls()
        heartbeats(application)
    return play, a, b


# What it says, and when.


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
        subscription = ClientSubscription(matches=is_foo)
        return AsyncConsumer(identity, subscription, play.topics, application.position, uuid="a")

    a = play.start("a", make)
    assert [(heartbeat.topics, heartbeat.regex) for heartbeat in heartbeats(a)[:1]] == [(("foo",), None)]
    play.change_topics(images(("foo", 1), ("bar", 1), ("food", 1), version=2))
    play.rest()
    assert ("foo", "food") in [heartbeat.topics for heartbeat in heartbeats(a)]
    assert a.owns == ["foo-0", "food-0"]


def is_foo(name: str) -> bool:
    return name.startswith("foo")


def test_a_heartbeat_says_only_what_changed() -> None:
    play, a, _ = pair()
    play.advance(5_000)
    (beat,) = heartbeats(a)
    assert beat == ConsumerGroupHeartbeat(group="g", member="a", epoch=a.member.epoch)


def test_another_subscription_is_said_with_the_next_heartbeat() -> None:
    play, a, _ = pair()
    a.member.subscribe(("foo", "bar"), play.now_ms)
    play.run()
    assert heartbeats(a) == []
    play.advance(5_000)
    beat = heartbeats(a)[0]
    assert (beat.topics, beat.regex, beat.owned) == (("foo", "bar"), None, None)
    play.rest()
    assert a.owns[:3] == ["bar-0", "bar-1", "bar-2"]


# Answers that are lost.


def test_an_answer_that_is_lost_makes_the_next_heartbeat_say_everything() -> None:
    play, a, _ = pair()
    hold_heartbeats(a)
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
    hold_heartbeats(a)
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


def test_a_lost_epoch_does_not_fence_the_member() -> None:
    play = Play()
    a, b = start(play, "a"), start(play, "b")
    hold_heartbeats(b)
    play.advance(5_100)
    epoch = b.member.epoch
    play.lose(b, answered=True)
    play.rest()
    assert b.member.epoch >= epoch
    assert (a.owns, b.owns) == (ALL[:3], ALL[3:])
    assert "lost" not in {kind for kind, _ in a.calls() + b.calls()}


@pytest.mark.parametrize("answered", [False, True])
def test_a_join_that_is_lost_is_sent_again_with_the_same_id(answered: bool) -> None:
    play = Play()
    play.node = None
    a = start(play, "a")
    hold_heartbeats(a)
    play.node = 1
    play.advance(100)
    play.lose(a, answered=answered)
    play.rest()
    assert {heartbeat.member for heartbeat in heartbeats(a)} == {"a"}
    assert a.owns == ALL


# The coordinator.


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_the_coordinator_is_looked_up_again(code: ErrorCode) -> None:
    play, a, _ = pair()
    refuse(play, code)
    play.advance(5_000)
    sent = [type(request) for request in a.sent if not isinstance(request, OffsetCommit)]
    assert sent[:3] == [ConsumerGroupHeartbeat, FindCoordinator, ConsumerGroupHeartbeat]
    assert (a.calls(), a.raised) == ([], [])


def test_a_loading_coordinator_is_asked_again_after_a_growing_backoff() -> None:
    play, a, _ = pair()
    refuse(play, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, times=6)
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
        refuse(play, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, times=3)
        play.advance(5_000)
        heartbeats(a)
    refuse(play, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    while not heartbeats(a):
        play.advance(100)
    play.advance(100)
    assert len(heartbeats(a)) == 1


def test_a_member_without_a_coordinator_keeps_what_it_owns() -> None:
    play, a, _ = pair()
    refuse(play, ErrorCode.NOT_COORDINATOR)
    play.node = None
    play.advance(30_000)
    assert a.owns == a.fetches == ALL[:3]
    play.node = 1
    play.refuses = lambda _request: None
    play.rest()
    assert (a.owns, a.calls()) == (ALL[:3], [])


# Fenced.


def test_a_fenced_member_is_idle_until_lost_has_returned() -> None:
    play, a, _ = pair()
    a.listener["lost"].takes_ms = 8_000
    refuse(play, ErrorCode.FENCED_MEMBER_EPOCH)
    play.advance(5_000)
    assert (member_of(a).state, a.fetches, a.owns) == (AsyncState.FENCED, [], ALL[:3])
    heartbeats(a)
    play.advance(7_900)
    assert heartbeats(a) == []
    play.advance(100)
    assert heartbeats(a)[0].epoch == 0


def test_a_fenced_member_without_partitions_rejoins_without_a_callback() -> None:
    play = Play(topics=images(("foo", 1)))
    start(play, "a")
    b = start(play, "b")
    play.rest()
    b.calls()
    refuse(play, ErrorCode.FENCED_MEMBER_EPOCH, member="b")
    play.advance(5_000)
    assert b.calls() == [("assigned", [])]


# Fatal.


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.UNRELEASED_INSTANCE_ID, "UnreleasedInstanceIdException"),
        (ErrorCode.FENCED_INSTANCE_ID, "FencedInstanceIdException"),
        (ErrorCode.UNSUPPORTED_ASSIGNOR, "UnsupportedAssignorException"),
        (ErrorCode.INVALID_REQUEST, "InvalidRequestException"),
        (ErrorCode.INVALID_REGULAR_EXPRESSION, "InvalidRegularExpression"),
        (ErrorCode.GROUP_ID_NOT_FOUND, "GroupIdNotFoundException"),
        (ErrorCode.GROUP_MAX_SIZE_REACHED, "GroupMaxSizeReachedException"),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, "GroupAuthorizationException"),
        (ErrorCode.UNSUPPORTED_VERSION, "UnsupportedVersionException"),
        (ErrorCode.UNKNOWN_SERVER_ERROR, "UnknownServerException"),
        (ErrorCode.CORRUPT_MESSAGE, "KafkaException"),
    ],
)
def test_another_error_is_thrown_once_and_then_the_member_is_idle(code: ErrorCode, error: str) -> None:
    play, a, _ = pair()
    refuse(play, code)
    play.advance(5_000)
    assert a.calls() == [("lost", ALL[:3])]
    assert a.raised == [error]
    assert (a.owns, member_of(a).state) == ([], AsyncState.FATAL)
    heartbeats(a)
    play.advance(600_000)
    assert (heartbeats(a), a.raised, a.calls()) == ([], [error], [])


def test_topic_authorization_is_thrown_and_the_member_stays() -> None:
    play, a, _ = pair()
    refuse(play, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    play.advance(6_000)
    assert a.raised == ["TopicAuthorizationException"]
    assert (a.owns, member_of(a).state, a.calls()) == (ALL[:3], AsyncState.STABLE, [])


@pytest.mark.parametrize(
    ("library", "error"),
    [("java", "TopicAuthorizationException"), ("librdkafka", "TOPIC_AUTHORIZATION_FAILED")],
)
def test_an_error_that_repeats_outside_poll_is_thrown_once(library: str, error: str) -> None:
    play = Play()
    a = start(play, "a", library=library)
    play.pause(a)
    refuse(play, ErrorCode.TOPIC_AUTHORIZATION_FAILED, times=5)
    play.advance(20_000)
    play.resume(a)
    play.rest()
    assert a.raised == [error]


def test_an_assignor_that_the_coordinator_lacks_is_fatal() -> None:
    play = Play()
    a = start(play, "a", remote_assignor="nope")
    assert a.raised == ["UnsupportedAssignorException"]
    assert a.messages == ["ServerAssignor nope is not supported. Supported assignors: uniform, range."]


def test_an_invalid_regex_is_fatal() -> None:
    play = Play()
    a = start(play, "a", regex="a(")
    assert a.raised == ["InvalidRegularExpression"]
    assert a.messages[0].startswith("Invalid RE2J SubscriptionPattern provided in the call to subscribe. ")


# max.poll.interval.ms.


def test_an_answer_that_comes_after_leaving_for_silence_is_ignored() -> None:
    play = Play()
    a = start(play, "a", max_poll_interval_ms=10_000)
    play.pause(a)
    hold_heartbeats(a)
    play.advance(10_000)
    assert member_of(a).state is AsyncState.STALE
    play.release(a)
    assert member_of(a).state is AsyncState.STALE
    play.resume(a)
    play.rest()
    assert a.owns == ALL


# Static members.


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
