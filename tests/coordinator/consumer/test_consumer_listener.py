"""The listener of a member of the consumer protocol: when it is called, and when it throws or takes long
(consumer.md section 4)."""

import copy

import pytest

from coordinator.consumer.reconciling_member import AsyncState
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from tests.coordinator.consumer.consumer_members import heartbeats, member_of, start
from tests.coordinator.consumer.driver import Application, Play
from wire.errors import ErrorCode

ALL = [f"foo-{number}" for number in range(6)]


def alone() -> tuple[Play, Application]:
    play = Play()
    a = start(play, "a", max_poll_interval_ms=60_000)
    a.calls()
    return play, a


def test_partitions_are_not_fetched_while_their_callback_runs() -> None:
    play, a = alone()
    a.listener["revoked"].takes_ms = 3_000
    b = start(play, "b")
    b.listener["assigned"].takes_ms = 3_000
    play.advance(5_000)
    assert (a.calls(), a.owns, a.fetches) == ([("revoked", ALL[3:])], ALL, ALL[:3])
    play.advance(7_000)
    assert (a.owns, b.owns, b.fetches) == (ALL[:3], ALL[3:], [])
    play.advance(3_000)
    assert b.fetches == ALL[3:]


def test_a_reconciliation_from_before_a_rejoin_is_dropped() -> None:
    play, a = alone()
    a.hold(OffsetCommit)
    start(play, "b")
    play.advance(5_000)
    assert a.held
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.FENCED_MEMBER_EPOCH, 1, "a")
    play.advance(5_000)
    assert (a.calls(), member_of(a).state) == ([("lost", ALL)], AsyncState.RECONCILING)
    play.release(a)
    play.rest()
    assert {kind for kind, _ in a.calls()} == {"assigned"}


def test_an_error_that_waited_is_thrown_after_lost_has_returned() -> None:
    play, a = alone()
    a.listener["lost"].throws = True
    play.pause(a)
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.GROUP_MAX_SIZE_REACHED)
    play.advance(5_000)
    assert a.raised == []
    play.resume(a)
    play.rest()
    assert (a.calls(), a.raised) == ([("lost", ALL)], ["GroupMaxSizeReachedException"])


def test_close_waits_for_a_callback_that_runs() -> None:
    play, a = alone()
    a.listener["revoked"].takes_ms = 3_000
    start(play, "b")
    play.advance(5_000)
    play.close(a)
    assert not a.is_closed
    play.advance(3_000)
    play.advance(3_000)
    assert a.calls() == [("revoked", ALL[3:]), ("revoked", ALL)]
    assert a.is_closed


def test_no_leave_heartbeat_is_sent_before_revoked_has_returned() -> None:
    play, a = alone()
    a.listener["revoked"].takes_ms = 8_000
    heartbeats(a)
    play.close(a)
    play.advance(7_900)
    assert {heartbeat.epoch for heartbeat in heartbeats(a)} == {a.member.epoch}
    play.advance(100)
    assert [heartbeat.epoch for heartbeat in heartbeats(a)] == [-1]
    assert a.is_closed


def test_close_does_not_wait_for_its_answer_for_ever() -> None:
    play, a = alone()
    a.hold()
    play.close(a)
    assert not a.is_closed
    play.advance(29_999)
    assert not a.is_closed
    play.advance(1)
    assert a.calls() == [("revoked", ALL)]
    assert a.is_closed


def test_a_commit_that_close_did_not_wait_for_does_not_continue_twice() -> None:
    play, a = alone()
    a.listener["revoked"].takes_ms = 5_000
    a.hold(OffsetCommit)
    play.close(a)
    play.advance(30_000)
    assert a.calls() == [("revoked", ALL)]
    play.release(a)
    play.advance(5_000)
    assert (a.calls(), a.is_closed) == ([], True)


def test_close_without_a_coordinator_does_not_wait() -> None:
    play, a = alone()
    play.node = None
    play.advance(5_000)
    play.close(a)
    play.advance(30_000)
    assert (a.calls(), a.is_closed) == ([("revoked", ALL)], True)


def test_close_before_the_first_poll_sends_nothing() -> None:
    play = Play()
    play.node = None
    a = start(play, "a")
    play.close(a)
    assert a.is_closed
    assert a.requests(ConsumerGroupHeartbeat) == []


def test_close_after_leaving_calls_revoked_and_does_not_leave_again() -> None:
    play, a = alone()
    play.pause(a)
    play.advance(60_000)
    heartbeats(a)
    play.close(a)
    assert (a.calls(), heartbeats(a), a.is_closed) == ([("revoked", ALL)], [], True)


@pytest.mark.parametrize("moment_ms", [0, 5_000, 6_000, 8_500])
def test_a_copy_is_independent(moment_ms: int) -> None:
    play, a = alone()
    a.listener["revoked"].takes_ms = a.listener["assigned"].takes_ms = 3_000
    start(play, "b")
    play.advance(moment_ms)
    copied = copy.deepcopy(play)
    for run in (play, copied):
        run.rest()
    one, other = play.applications[0], copied.applications[0]
    assert one.member is not other.member
    assert (one.callbacks, one.owns) == (other.callbacks, other.owns)
    assert one.owns == ALL[:3]
