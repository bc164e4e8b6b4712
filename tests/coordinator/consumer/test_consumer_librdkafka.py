"""What librdkafka's member of the consumer protocol does otherwise than Java's; recorded stories show each."""

from __future__ import annotations

from typing import Any

from coordinator.consumer.outputs import TopicPartition
from coordinator.consumer.reconciling_member import State
from coordinator.engine.calls import Request
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from tests.coordinator.consumer.consumer_members import heartbeats, member_of, start
from tests.coordinator.consumer.driver import Application, Play
from tests.coordinator.engine.consumer import images
from wire.errors import ErrorCode

ALL = [f"foo-{number}" for number in range(6)]


def librdkafka(play: Play, name: str = "a", instance: str | None = None, **config: Any) -> Application:
    return start(play, name, library="librdkafka", instance=instance, **config)


def alone(**config: Any) -> tuple[Play, Application]:
    play = Play()
    a = librdkafka(play, **config)
    a.calls()
    return play, a


def test_a_first_assignment_of_nothing_calls_nothing() -> None:
    play, a = alone()
    b = librdkafka(play, "b")
    assert (b.calls(), member_of(b).state) == ([], State.STABLE)
    play.rest()
    assert a.calls() == [("revoked", ALL[3:]), ("assigned", [])]
    assert b.calls() == [("assigned", ALL[3:])]


def test_an_assignment_of_nothing_calls_where_something_was_owned() -> None:
    play, a = alone()
    a.member.subscribe(("none",), play.now_ms)
    play.rest()
    assert a.calls() == [("revoked", ALL), ("assigned", [])]


def test_revoked_that_throws_gives_up_all_the_same() -> None:
    play, a = alone()
    a.listener["revoked"].throws = True
    b = librdkafka(play, "b")
    play.rest()
    assert a.calls() == [("revoked", ALL[3:]), ("assigned", [])]
    assert a.raised == ["ListenerError"]
    assert b.owns == ALL[3:]


def test_assigned_that_throws_counts() -> None:
    play = Play()
    play.node = None
    a = librdkafka(play)
    a.listener["assigned"].throws = True
    play.node = 1
    play.rest()
    assert (a.calls(), a.raised) == ([("assigned", ALL)], ["ListenerError"])
    assert (a.fetches, member_of(a).state) == (ALL, State.STABLE)


def test_a_member_that_does_not_poll_falls_silent_and_leaves_after_lost() -> None:
    """librdkafka#5488."""
    play, a = alone(max_poll_interval_ms=10_000)
    play.pause(a)
    heartbeats(a)
    epoch = a.member.epoch
    play.advance(12_000)
    assert [each.epoch for each in heartbeats(a)] == [epoch]
    assert member_of(a).state is State.STALE
    play.resume(a)
    assert a.raised == ["_MAX_POLL_EXCEEDED"]
    play.rest()
    assert a.calls() == [("lost", ALL), ("assigned", ALL)]
    assert [each.epoch for each in heartbeats(a)][:2] == [-1, 0]


def test_an_assigned_that_waited_comes_before_lost() -> None:
    play, a = alone(max_poll_interval_ms=10_000)
    play.pause(a)
    play.change_topics(images(("foo", 7), version=2))
    play.advance(12_000)
    assert (a.calls(), member_of(a).state) == ([], State.STALE)
    play.resume(a)
    play.rest()
    owned = [*ALL, "foo-6"]
    assert a.calls() == [("assigned", ["foo-6"]), ("lost", owned), ("assigned", owned)]
    assert (a.raised, a.fetches) == (["_MAX_POLL_EXCEEDED"], owned)


def test_a_first_assigned_that_is_overtaken_by_fencing_is_lost() -> None:
    play, _ = alone()
    b = librdkafka(play, "b")
    b.listener["assigned"].takes_ms = 3_000
    play.advance(10_000)
    assert b.calls() == [("assigned", ALL[3:])]
    fenced = [True]

    def refuses(request: Request[object]) -> ErrorCode | None:
        if isinstance(request, ConsumerGroupHeartbeat) and request.member == "b" and fenced[0]:
            fenced[0] = False
            return ErrorCode.FENCED_MEMBER_EPOCH
        return None

    play.refuses = refuses
    play.advance(20_000)
    assert [kind for kind, _ in b.calls()] == ["lost", "assigned"]


def test_a_static_member_that_was_silent_goes_away_before_it_joins() -> None:
    play = Play()
    a = librdkafka(play, instance="i", max_poll_interval_ms=10_000)
    play.pause(a)
    play.advance(12_000)
    play.resume(a)
    heartbeats(a)
    play.rest()
    assert [each.epoch for each in heartbeats(a)][:2] == [-2, 0]


def test_the_poll_interval_does_not_run_while_a_callback_does() -> None:
    play, a = alone(max_poll_interval_ms=10_000)
    a.listener["assigned"].takes_ms = 15_000
    play.change_topics(images(("foo", 7), version=2))
    play.advance(30_000)
    assert a.calls() == [("assigned", ["foo-6"])]
    assert (member_of(a).state, a.raised) == (State.STABLE, [])


def test_the_poll_interval_does_not_run_before_the_first_assigned() -> None:
    play, _ = alone()
    b = librdkafka(play, "b", max_poll_interval_ms=10_000)
    play.pause(b)
    play.advance(30_000)
    play.resume(b)
    play.rest()
    assert (b.calls(), b.raised) == ([("assigned", ALL[3:])], [])


def test_a_member_that_is_fenced_while_it_reconciles_ends_that_before_lost() -> None:
    play, a = alone(max_poll_interval_ms=8_000)
    a.listener["revoked"].takes_ms = 14_000
    librdkafka(play, "b")
    play.advance(19_000)
    assert a.calls() == [("revoked", ALL[3:]), ("assigned", []), ("lost", ALL[:3])]
    play.rest()
    assert len(a.owns) == 3


def test_what_was_revoked_is_committed_after_the_callback() -> None:
    play, a = alone()
    for number in range(6):
        a.positions[TopicPartition("foo", number)] = number
    a.listener["revoked"].takes_ms = 1_000
    librdkafka(play, "b")
    play.advance(5_500)
    assert a.calls() == [("revoked", ALL[3:])]
    before = len(a.requests(OffsetCommit))
    play.advance(1_000)
    (commit,) = a.requests(OffsetCommit)[before:]
    assert {each.partition for each in commit.offsets} == {3, 4, 5}


def test_a_commit_of_partitions_about_to_be_lost_is_not_sent() -> None:
    play, a = alone(max_poll_interval_ms=10_000, enable_auto_commit=False)
    a.positions[TopicPartition("foo", 0)] = 5
    play.pause(a)
    play.advance(12_000)
    a.member.commit(play.now_ms)
    play.run()
    assert (a.raised, a.requests(OffsetCommit)) == (["_ASSIGNMENT_LOST"], [])


def test_errors_have_the_names_of_codes_and_fatal_is_one() -> None:
    play, a = alone(enable_auto_commit=False)
    a.positions[TopicPartition("foo", 0)] = 5
    play.pause(a)
    play.refuses = lambda request: ErrorCode.STALE_MEMBER_EPOCH if isinstance(request, OffsetCommit) else None
    a.member.commit(play.now_ms)
    play.run()
    assert a.raised == ["STALE_MEMBER_EPOCH"]
    play.refuses = lambda request: (
        ErrorCode.GROUP_MAX_SIZE_REACHED if isinstance(request, ConsumerGroupHeartbeat) else None
    )
    play.resume(a)
    play.rest()
    assert a.raised == ["STALE_MEMBER_EPOCH", "_FATAL"]
    # Tried with confluent-kafka 2.14 and 2.16: nothing is owned any more, and no callback says so.
    assert (a.calls(), a.owns) == ([], [])


def test_a_fatal_error_ends_what_is_being_reconciled_without_a_callback() -> None:
    """rd_kafka_rebalance_op_incr: the assignment that follows the commit of what was revoked calls nothing."""
    play, a = alone()
    a.positions[TopicPartition("foo", 5)] = 7
    a.holds = lambda send: isinstance(send.request, OffsetCommit)
    librdkafka(play, "b")
    play.advance(5_000)
    assert (a.calls(), a.owns) == ([("revoked", ALL[3:])], ALL[:3])
    play.refuses = lambda request: (
        ErrorCode.GROUP_ID_NOT_FOUND if isinstance(request, ConsumerGroupHeartbeat) else None
    )
    play.advance(10_000)
    assert a.raised == ["_FATAL"]
    play.release(a)
    play.rest()
    assert (a.calls(), a.owns) == ([], [])


def _leaves_while_it_is_to_revoke(library: str) -> Application:
    """It polls again 20 s later."""
    play = Play()
    a = start(play, "a", library=library, max_poll_interval_ms=10_000)
    a.calls()
    play.pause(a)
    librdkafka(play, "b")
    play.advance(20_000)
    play.resume(a)
    play.rest()
    return a


def test_a_member_that_leaves_while_it_is_to_revoke_joins_again() -> None:
    a = _leaves_while_it_is_to_revoke("librdkafka")
    assert a.calls()[:3] == [("revoked", ALL[3:]), ("assigned", []), ("lost", ALL[:3])]
    assert (a.raised, len(a.owns)) == (["_MAX_POLL_EXCEEDED"], 3)


def test_until_2_14_it_forgot_to_join_again() -> None:
    """librdkafka#5541; confluent-kafka 2.14.0 did the same on a broker of 4.3.1."""
    a = _leaves_while_it_is_to_revoke("librdkafka-2.14")
    assert a.calls() == [("revoked", ALL[3:]), ("assigned", [])]
    assert (a.raised, a.owns) == (["_MAX_POLL_EXCEEDED", "_FATAL"], [])
    assert member_of(a).state is State.FATAL


def test_until_2_14_a_member_that_left_with_nothing_to_revoke_joined_again() -> None:
    play = Play()
    a = start(play, "a", library="librdkafka-2.14", max_poll_interval_ms=10_000)
    play.pause(a)
    play.advance(12_000)
    assert [each.epoch for each in heartbeats(a)][-1] == -1
    play.resume(a)
    play.rest()
    assert a.calls() == [("assigned", ALL), ("lost", ALL), ("assigned", ALL)]
    assert a.raised == ["_MAX_POLL_EXCEEDED"]


def test_until_2_14_a_group_that_is_gone_was_ignored() -> None:
    """librdkafka#5541: confluent-kafka 2.14.0 sent 28 heartbeats in 13.5 s, at an interval of 0.5 s."""
    play = Play()
    a = start(play, "a", library="librdkafka-2.14")
    epoch = a.member.epoch
    heartbeats(a)
    play.refuses = lambda request: (
        ErrorCode.GROUP_ID_NOT_FOUND if isinstance(request, ConsumerGroupHeartbeat) else None
    )
    play.advance(60_000)
    assert [each.epoch for each in heartbeats(a)] == [epoch] * 12
    assert (a.raised, a.owns) == ([], ALL)
