"""A member of the consumer protocol joins, reconciles and leaves (consumer.md K1, K2, K7–K10 and section 4)."""

from __future__ import annotations

from coordinator.consumer.reconciling_member import State
from tests.coordinator.consumer.consumer_members import heartbeats, member_of, start
from tests.coordinator.consumer.driver import Play

ALL = [f"foo-{number}" for number in range(6)]


def test_the_first_member_gets_all_in_its_first_assigned() -> None:
    play = Play()
    a = start(play, "a")
    assert a.calls() == [("assigned", ALL)]
    assert a.owns == a.fetches == ALL
    assert member_of(a).state is State.STABLE
    assert a.member.is_settled


def test_a_join_says_everything_and_owns_nothing() -> None:
    """K1."""
    play = Play()
    a = start(play, "a", rack="r", remote_assignor="range", instance="i", max_poll_interval_ms=70_000)
    join = heartbeats(a)[0]
    assert (join.epoch, join.member, join.instance, join.rack) == (0, "a", "i", "r")
    assert (join.rebalance_timeout_ms, join.topics, join.regex) == (70_000, ("foo",), None)
    assert (join.assignor, join.owned) == ("range", {})


def test_a_newcomer_gets_nothing_first_and_its_share_when_it_is_given_up() -> None:
    play = Play()
    a = start(play, "a")
    a.calls()
    b = start(play, "b")
    assert b.calls() == [("assigned", [])]
    play.rest()
    assert a.calls() == [("revoked", ALL[3:]), ("assigned", [])]
    assert b.calls() == [("assigned", ALL[3:])]
    assert (a.fetches, b.fetches) == (ALL[:3], ALL[3:])


def test_close_gives_up_all_and_leaves() -> None:
    play = Play()
    a, b = start(play, "a"), start(play, "b")
    play.rest()
    a.calls(), b.calls()
    heartbeats(a)
    play.close(a)
    assert a.calls() == [("revoked", ALL[:3])]
    assert [each.epoch for each in heartbeats(a)] == [-1]
    assert a.is_closed
    play.rest()
    assert b.calls() == [("assigned", ALL[:3])]
