"""Static members of classic groups (KIP-345, KIP-814): rules of Kafka 4.3.1."""

from __future__ import annotations

import pytest

from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from tests.coordinator.engine.classic import (
    GROUP,
    Member,
    described,
    protocols,
    refused,
    stable,
    state,
    together,
)
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode

LONG = 600_000


def static_pair(driver: Driver, version: int = 9) -> tuple[Member, Member]:
    """A Stable group of two static members, a and b; the leader first."""
    members = (Member(driver, instance=name, version=version) for name in ("a", "b"))
    leader, follower = stable(driver, *members)
    return leader, follower


def heartbeat(driver: Driver, member: str, instance: str | None, generation: int) -> ErrorCode:
    request = Heartbeat(group=GROUP, generation=generation, member=member, instance=instance)
    return driver.ask(request, HeartbeatAnswer).error


def test_static_member_needs_no_second_join_and_is_named_for_its_instance(driver: Driver) -> None:
    member = Member(driver, instance="i").join()
    assert member.joined().member == "i-00000000-0000-0000-0000-000000000001"


def test_static_member_that_misses_a_rebalance_stays_but_loses_the_lead(driver: Driver) -> None:
    leader, follower = stable(
        driver,
        Member(driver, instance="a", session_timeout_ms=LONG),
        Member(driver, instance="b", session_timeout_ms=LONG),
    )
    follower.protocols = protocols("range", topics=("t2",))
    follower.join()
    driver.advance(60_000)
    answer = follower.joined()
    assert (answer.generation, answer.leader) == (3, follower.id)
    assert {member.member for member in answer.members} == {leader.id, follower.id}
    assert leader.heartbeat() is ErrorCode.ILLEGAL_GENERATION
    assert leader.join().joined().generation == 3


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


def test_topics_of_a_silent_replacement_count_from_the_next_generation_or_a_restart(driver: Driver) -> None:
    _, follower = static_pair(driver)
    follower.but(id="", protocols=protocols("range", topics=("t2",))).join().joined()
    assert not driver.engine.state.groups[GROUP].subscribed_to("t2")
    driver.restart()
    assert driver.engine.state.groups[GROUP].subscribed_to("t2")


def test_replacement_that_changes_the_vote_starts_a_rebalance(driver: Driver) -> None:
    both = protocols("range", "sticky")
    leader, follower = stable(
        driver,
        Member(driver, instance="a", protocols=both),
        Member(driver, instance="b", protocols=both),
    )
    again = follower.but(id="", protocols=protocols("sticky")).join()
    assert again.waits()
    assert leader.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    leader.join()
    assert again.joined().protocol == "sticky"


def test_replaced_leader_at_version_9_skips_the_assignment(driver: Driver) -> None:
    leader, follower = static_pair(driver)
    again = leader.but(id="").join()
    answer = again.joined()
    assert (answer.generation, answer.leader, answer.skip_assignment) == (2, again.id, True)
    assert {member.member for member in answer.members} == {again.id, follower.id}


@pytest.mark.parametrize("version", [5, 8])
def test_replaced_leader_below_version_9_is_told_that_its_old_id_leads(driver: Driver, version: int) -> None:
    leader, _ = static_pair(driver, version)
    answer = leader.but(id="").join().joined()
    assert (answer.generation, answer.leader, answer.members) == (2, leader.id, ())
    assert not answer.skip_assignment


def test_replacement_outlives_a_restart(driver: Driver) -> None:
    _, follower = static_pair(driver)
    again = follower.but(id="").join()
    again.joined()
    driver.restart()
    assert again.heartbeat() is ErrorCode.NONE
    assert follower.heartbeat() is ErrorCode.FENCED_INSTANCE_ID


def test_replaced_id_is_fenced_with_its_instance_id_and_unknown_without(driver: Driver) -> None:
    _, old = static_pair(driver)
    old.but(id="").join().joined()
    assert heartbeat(driver, old.id, old.instance, 2) is ErrorCode.FENCED_INSTANCE_ID
    assert heartbeat(driver, old.id, None, 2) is ErrorCode.UNKNOWN_MEMBER_ID
    assert old.synced().error is ErrorCode.FENCED_INSTANCE_ID
    assert driver.ask(old.request(), JoinGroupAnswer) == refused(ErrorCode.FENCED_INSTANCE_ID, old.id)


def test_leave_of_a_replaced_id_is_fenced_in_the_member_entry(driver: Driver) -> None:
    _, old = static_pair(driver)
    old.but(id="").join().joined()
    leaving = (old.id, old.instance)
    answer = driver.ask(LeaveGroup(group=GROUP, members=(leaving,)), LeaveGroupAnswer)
    assert answer == LeaveGroupAnswer(members=((old.id, old.instance, ErrorCode.FENCED_INSTANCE_ID),))


@pytest.mark.parametrize(
    ("instance", "generation", "error"),
    [
        ("b", 9, ErrorCode.FENCED_INSTANCE_ID),
        ("nobody", 9, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", 2, ErrorCode.UNKNOWN_MEMBER_ID),
        ("a", 9, ErrorCode.ILLEGAL_GENERATION),
        (None, 2, ErrorCode.NONE),
    ],
)
def test_instance_id_is_checked_before_the_generation(
    driver: Driver, instance: str | None, generation: int, error: ErrorCode
) -> None:
    member = next(each for each in static_pair(driver) if each.instance == "a")
    assert heartbeat(driver, member.id, instance, generation) is error


def test_join_with_an_empty_instance_id_is_another_instance(driver: Driver) -> None:
    member, _ = static_pair(driver)
    answer = driver.ask(member.but(instance="").request(), JoinGroupAnswer)
    assert answer == refused(ErrorCode.UNKNOWN_MEMBER_ID, member.id)


def test_parked_join_of_a_replaced_member_is_fenced(driver: Driver) -> None:
    leader, _ = static_pair(driver)
    leader.join()
    again = leader.but(id="").join()
    assert driver.answer(leader.ticket, JoinGroupAnswer) == refused(ErrorCode.FENCED_INSTANCE_ID, leader.id)
    assert again.waits()


def test_parked_sync_of_a_replaced_member_is_fenced_and_the_rebalance_starts_again(driver: Driver) -> None:
    leader, follower = together(driver, Member(driver, instance="a"), Member(driver, instance="b"))
    parked = follower.sync()
    again = follower.but(id="").join()
    assert driver.answer(parked, SyncGroupAnswer) == SyncGroupAnswer(error=ErrorCode.FENCED_INSTANCE_ID)
    assert leader.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    leader.join()
    assert again.joined().generation == 3


def test_replacement_while_preparing_completes_the_rebalance_when_all_have_joined(driver: Driver) -> None:
    leader, follower = static_pair(driver)
    leader.join()
    again = follower.but(id="").join()
    assert {leader.joined().generation, again.joined().generation} == {3}


def test_replaced_member_has_the_session_timeout_it_had_until_it_is_heard_of(driver: Driver) -> None:
    _, follower = stable(
        driver,
        Member(driver, instance="a", session_timeout_ms=LONG),
        Member(driver, instance="b", session_timeout_ms=LONG),
    )
    again = follower.but(id="", session_timeout_ms=6_000).join()
    again.joined()
    driver.advance(6_000)
    assert again.heartbeat() is ErrorCode.NONE
    driver.advance(6_000)
    assert again.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_member_that_replaced_itself_before_it_synced_makes_the_group_rebalance_later(driver: Driver) -> None:
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
