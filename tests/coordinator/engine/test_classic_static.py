"""Static members of classic groups (KIP-345, KIP-814): what the table of tests/conformance does not show."""

from __future__ import annotations

import pytest

from tests.coordinator.engine.classic import GROUP, Member, described, protocols, stable, state, together
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode

LONG = 600_000


def static_pair(driver: Driver, session_timeout_ms: int = 10_000) -> tuple[Member, Member]:
    """A Stable group of two static members, a and b; the leader first."""
    members = (Member(driver, instance=name, session_timeout_ms=session_timeout_ms) for name in ("a", "b"))
    leader, follower = stable(driver, *members)
    return leader, follower


def test_rebalance_that_no_static_member_joins_waits_for_another_timeout(driver: Driver) -> None:
    member, other = stable(
        driver,
        Member(driver, instance="a", session_timeout_ms=LONG),
        Member(driver, session_timeout_ms=LONG),
    )
    dynamic = member if member.instance is None else other
    static = other if member.instance is None else member
    dynamic.leave()
    driver.advance(60_000)
    assert state(driver) == "PreparingRebalance"
    assert static.join().joined().generation == 3


@pytest.mark.parametrize(
    "changed",
    [
        protocols("range", topics=("t2",)),
        protocols("range", version=0),
        protocols("range", "sticky"),
    ],
)
def test_replacement_is_silent_while_the_chosen_protocol_stays(
    driver: Driver, changed: tuple[object, ...]
) -> None:
    leader, follower = static_pair(driver)
    again = follower.but(id="", protocols=changed).join()
    answer = again.joined()
    assert (answer.generation, answer.leader, answer.members) == (2, leader.id, ())
    assert not answer.skip_assignment
    assert leader.heartbeat() is ErrorCode.NONE
    assert again.synced().assignment == follower.id.encode()
    shown = {member.member: member.subscription for member in described(driver).members}
    assert shown[again.id] == again.protocols[0].metadata


def test_topics_of_a_silent_replacement_count_in_the_next_generation(driver: Driver) -> None:
    _, follower = static_pair(driver)
    follower.but(id="", protocols=protocols("range", topics=("t2",))).join().joined()
    assert not driver.engine.state.groups[GROUP].subscribed_to("t2")
    driver.restart()
    assert driver.engine.state.groups[GROUP].subscribed_to("t2")


def test_replacement_outlives_a_restart(driver: Driver) -> None:
    _, follower = static_pair(driver)
    again = follower.but(id="").join()
    again.joined()
    driver.restart()
    assert again.heartbeat() is ErrorCode.NONE
    assert follower.heartbeat() is ErrorCode.FENCED_INSTANCE_ID


def test_replacement_while_preparing_can_complete_the_rebalance(driver: Driver) -> None:
    leader, follower = static_pair(driver)
    leader.join()
    again = follower.but(id="").join()
    assert {leader.joined().generation, again.joined().generation} == {3}


def test_replaced_member_keeps_its_session_timeout_until_a_request(driver: Driver) -> None:
    _, follower = static_pair(driver, LONG)
    again = follower.but(id="", session_timeout_ms=6_000).join()
    again.joined()
    driver.advance(6_000)
    assert again.heartbeat() is ErrorCode.NONE
    driver.advance(6_000)
    assert again.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_replacement_before_sync_makes_the_group_rebalance_later(driver: Driver) -> None:
    leader, follower = together(driver, Member(driver, instance="a"), Member(driver, instance="b"))
    leader.synced({leader.id: b"x", follower.id: b"y"})
    again = follower.but(id="").join()
    again.joined()
    assert again.synced().assignment == b"y"
    for _ in range(6):
        driver.advance(9_999)
        assert (leader.heartbeat(), again.heartbeat()) == (ErrorCode.NONE, ErrorCode.NONE)
    driver.advance(10)
    assert leader.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
