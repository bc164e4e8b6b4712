"""What librdkafka's member of the consumer protocol does otherwise than Java's; recorded stories show each."""

from typing import Any

from coordinator.consumer.outputs import TopicPartition
from coordinator.consumer.reconciling_member import AsyncState
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from tests.coordinator.consumer.consumer_members import heartbeats, member_of, start
from tests.coordinator.consumer.driver import Application, Play
from wire.errors import ErrorCode

ALL = [f"foo-{number}" for number in range(6)]


def librdkafka(play: Play, name: str = "a", instance: str | None = None, **config: Any) -> Application:
    return start(play, name, library="librdkafka", instance=instance, **config)


def alone(**config: Any) -> tuple[Play, Application]:
    play = Play()
    a = librdkafka(play, **config)
    a.calls()
    return play, a


def test_a_first_assigned_that_is_overtaken_by_fencing_is_lost() -> None:
    play, _ = alone()
    b = librdkafka(play, "b")
    b.listener["assigned"].takes_ms = 3_000
    play.advance(10_000)
    assert b.calls() == [("assigned", ALL[3:])]
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.FENCED_MEMBER_EPOCH, 1, "b")
    play.advance(20_000)
    assert [kind for kind, _ in b.calls()] == ["lost", "assigned"]


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
    play.refuse(OffsetCommit, ErrorCode.STALE_MEMBER_EPOCH)
    a.member.commit(play.now_ms)
    play.run()
    assert a.raised == ["STALE_MEMBER_EPOCH"]
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.GROUP_MAX_SIZE_REACHED)
    play.resume(a)
    play.rest()
    assert a.raised == ["STALE_MEMBER_EPOCH", "_FATAL"]
    # Tried with confluent-kafka 2.14 and 2.16: nothing is owned any more, and no callback says so.
    assert (a.calls(), a.owns) == ([], [])


def test_a_fatal_error_ends_what_is_being_reconciled_without_a_callback() -> None:
    play, a = alone()
    a.positions[TopicPartition("foo", 5)] = 7
    a.hold(OffsetCommit)
    librdkafka(play, "b")
    play.advance(5_000)
    assert (a.calls(), a.owns) == ([("revoked", ALL[3:])], ALL[:3])
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.GROUP_ID_NOT_FOUND)
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


def test_until_2_14_it_forgot_to_join_again() -> None:
    a = _leaves_while_it_is_to_revoke("librdkafka-2.14")
    assert a.calls() == [("revoked", ALL[3:]), ("assigned", [])]
    assert (a.raised, a.owns) == (["_MAX_POLL_EXCEEDED", "_FATAL"], [])
    assert member_of(a).state is AsyncState.FATAL


def test_until_2_14_a_group_that_is_gone_was_ignored() -> None:
    play = Play()
    a = start(play, "a", library="librdkafka-2.14")
    epoch = a.member.epoch
    heartbeats(a)
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.GROUP_ID_NOT_FOUND)
    play.advance(60_000)
    assert [heartbeat.epoch for heartbeat in heartbeats(a)] == [epoch] * 12
    assert (a.raised, a.owns) == ([], ALL)
