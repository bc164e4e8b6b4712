"""JoinGroup: who is let in, who is refused how, and what is answered at once. Each test is a rule of Kafka 4.3.1."""

from __future__ import annotations

import pytest

from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.groups import DeleteGroups, DeleteGroupsAnswer, ListGroups, ListGroupsAnswer
from coordinator.engine.records import JoinProtocol
from tests.coordinator.engine.classic import (
    GROUP,
    Member,
    described,
    protocols,
    refused,
    shown,
    stable,
    state,
    together,
)
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group": "", "session_timeout_ms": 1, "protocols": ()}, ErrorCode.INVALID_GROUP_ID),
        ({"session_timeout_ms": 5_999, "protocols": ()}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001, "protocol_type": ""}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"protocols": ()}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_group_id_then_session_timeout_then_protocols_are_checked(
    driver: Driver, changes: dict[str, object], error: ErrorCode
) -> None:
    answer = driver.ask(Member(driver).but(**changes).request(), JoinGroupAnswer)
    assert answer == refused(error)


def test_refused_for_its_protocols_a_join_still_creates_an_empty_group(driver: Driver) -> None:
    driver.ask(Member(driver, protocols=()).request(), JoinGroupAnswer)
    assert described(driver).error is ErrorCode.NONE
    assert shown(driver) == ("Empty", "", None)
    driver.restart()
    assert described(driver).error is ErrorCode.NONE


def test_refused_for_its_member_id_a_join_creates_no_group(driver: Driver) -> None:
    answer = driver.ask(Member(driver, id="x", protocols=()).request(), JoinGroupAnswer)
    assert answer == refused(ErrorCode.UNKNOWN_MEMBER_ID, "x")
    assert described(driver).error is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("changes", [{"protocols": ()}, {"protocol_type": ""}])
def test_protocols_are_checked_before_the_member_id_which_is_echoed(
    driver: Driver, changes: dict[str, object]
) -> None:
    stable(driver, Member(driver))
    answer = driver.ask(Member(driver, id="x").but(**changes).request(), JoinGroupAnswer)
    assert answer == refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "x")


@pytest.mark.parametrize("timeout", [-1, 0])
def test_any_rebalance_timeout_is_accepted(driver: Driver, timeout: int) -> None:
    member = Member(driver, rebalance_timeout_ms=timeout).join()
    assert member.joined().error is ErrorCode.NONE


@pytest.mark.parametrize("version", [0, 3])
def test_before_version_4_a_dynamic_member_is_let_in_at_once(driver: Driver, version: int) -> None:
    member = Member(driver, version=version)
    answer = driver.answer(driver.send(member.request()), JoinGroupAnswer)
    assert (answer.error, answer.generation) == (ErrorCode.NONE, 1)


def test_pending_member_leaves_the_group_empty_and_listed(driver: Driver) -> None:
    driver.ask(Member(driver).request(), JoinGroupAnswer)
    (listed,) = driver.ask(ListGroups(), ListGroupsAnswer).groups
    assert (listed.id, listed.state.value, listed.protocol_type, listed.type.value) == (
        GROUP,
        "Empty",
        "",
        "classic",
    )


def test_pending_member_is_unknown_to_everything_but_join(driver: Driver) -> None:
    pending = Member(driver)
    pending.id = driver.ask(pending.request(), JoinGroupAnswer).member
    pending.protocol = "range"
    assert pending.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID
    assert pending.synced().error is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("end", ["join", "leave", "timeout"])
def test_pending_member_holds_up_the_rebalance_of_others(driver: Driver, end: str) -> None:
    (first,) = stable(driver, Member(driver))
    pending = Member(driver, session_timeout_ms=7_000)
    pending.id = driver.ask(pending.request(), JoinGroupAnswer).member
    first.join()
    assert first.waits()
    if end == "join":
        pending.join()
        assert pending.joined().generation == 2
    elif end == "leave":
        assert pending.leave().members == ((pending.id, None, ErrorCode.NONE),)
    else:
        driver.advance(6_999)
        assert first.waits()
        driver.advance(1)
    assert first.joined().generation == 2
    if end != "join":
        assert driver.ask(pending.request(), JoinGroupAnswer) == refused(
            ErrorCode.UNKNOWN_MEMBER_ID, pending.id
        )


def test_group_of_pending_members_can_be_deleted_and_then_they_are_unknown(driver: Driver) -> None:
    pending = Member(driver)
    pending.id = driver.ask(pending.request(), JoinGroupAnswer).member
    assert driver.ask(DeleteGroups(groups=(GROUP,)), DeleteGroupsAnswer).groups == ((GROUP, ErrorCode.NONE),)
    assert driver.ask(pending.request(), JoinGroupAnswer).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_pending_member_that_comes_back_with_an_instance_id_is_unknown(driver: Driver) -> None:
    """Kafka fails here with UNKNOWN_SERVER_ERROR."""
    pending = Member(driver)
    pending.id = driver.ask(pending.request(), JoinGroupAnswer).member
    pending.instance = "i"
    assert driver.ask(pending.request(), JoinGroupAnswer) == refused(ErrorCode.UNKNOWN_MEMBER_ID, pending.id)


def test_known_member_without_a_common_protocol_is_refused_and_keeps_its_metadata(driver: Driver) -> None:
    members = stable(driver, Member(driver), Member(driver))
    before = described(driver)
    follower = members[1].but(protocols=protocols("sticky"))
    answer = driver.ask(follower.request(), JoinGroupAnswer)
    assert answer == refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, follower.id)
    assert described(driver) == before


@pytest.mark.parametrize(("mine", "chosen"), [("range", "range"), ("sticky", "sticky")])
def test_new_member_must_share_type_and_protocol(driver: Driver, mine: str, chosen: str) -> None:
    stable(driver, Member(driver, protocols=protocols(chosen)))
    assert driver.ask(
        Member(driver, protocols=protocols(mine), protocol_type="connect").request(), JoinGroupAnswer
    ) == refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    assert driver.ask(Member(driver, protocols=protocols("other")).request(), JoinGroupAnswer) == refused(
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    )


@pytest.mark.parametrize(
    ("first", "second", "elected"),
    [
        (("range", "roundrobin"), ("roundrobin", "range"), "range"),
        (("roundrobin", "range"), ("range", "roundrobin"), "range"),
        (("cooperative-sticky", "range"), ("range", "cooperative-sticky"), "range"),
        (("roundrobin", "sticky"), ("sticky", "roundrobin"), "sticky"),
        (("range", "sticky"), ("sticky", "other"), "sticky"),
    ],
)
def test_tie_of_votes_goes_by_the_order_of_a_java_hash_map(
    driver: Driver, first: tuple[str, ...], second: tuple[str, ...], elected: str
) -> None:
    members = together(
        driver,
        Member(driver, protocols=protocols(*first)),
        Member(driver, protocols=protocols(*second)),
    )
    assert {member.protocol for member in members} == {elected}


def test_name_sent_twice_counts_once(driver: Driver) -> None:
    """Kafka counts it twice, finds no common protocol, and leaves the group stuck."""
    member = Member(driver, protocols=protocols("range", "range")).join()
    assert member.joined().protocol == "range"


@pytest.mark.parametrize("metadata", [b"", b"\0", b"changed", b"\0\1\x7f\xff\xff\xff", b"\0\0\0\0\0\1\0\5t"])
def test_metadata_that_lie_about_lengths_do_no_harm(driver: Driver, metadata: bytes) -> None:
    """Kafka never answers such a member when it is alone, and the group stays stuck."""
    lying = (JoinProtocol(name="range", metadata=metadata),)
    members = stable(driver, Member(driver, protocols=lying), Member(driver))
    assert [member.heartbeat() for member in members] == [ErrorCode.NONE, ErrorCode.NONE]
    assert driver.engine.state.groups[GROUP].subscribed_to("anything")


def test_leader_that_rejoins_a_stable_group_starts_a_rebalance(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    leader.join()
    assert leader.waits()
    assert follower.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_follower_that_rejoins_unchanged_gets_the_generation_without_members(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    answer = follower.join().joined()
    assert (answer.generation, answer.leader, answer.members) == (2, leader.id, ())
    assert leader.heartbeat() is ErrorCode.NONE


def test_while_completing_an_unchanged_rejoin_gets_the_generation_and_the_leader_the_members(
    driver: Driver,
) -> None:
    leader, follower = together(driver, Member(driver), Member(driver))
    again = leader.join().joined()
    assert (again.generation, len(again.members)) == (2, 2)
    assert (follower.join().joined().generation, follower.joined().members) == (2, ())


def test_while_completing_changed_metadata_restart_the_rebalance_and_send_syncs_back(driver: Driver) -> None:
    leader, follower = together(driver, Member(driver), Member(driver))
    parked = follower.sync()
    leader.protocols = protocols("range", topics=("t2",))
    leader.join()
    assert leader.waits()
    assert driver.answers[parked].error is ErrorCode.REBALANCE_IN_PROGRESS
    assert state(driver) == "PreparingRebalance"


def test_group_that_becomes_empty_advances_its_generation(driver: Driver) -> None:
    (member,) = stable(driver, Member(driver))
    member.leave()
    assert shown(driver)[:2] == ("Empty", "consumer")
    assert Member(driver).join().joined().generation == 3


def test_another_protocol_type_may_take_an_empty_group_over(driver: Driver) -> None:
    (member,) = stable(driver, Member(driver))
    member.leave()
    worker = Member(driver, protocol_type="connect", protocols=protocols("sessioned")).join()
    assert worker.joined().protocol_type == "connect"
    assert shown(driver)[1] == "connect"


def test_second_join_of_a_parked_member_sends_the_first_one_back(driver: Driver) -> None:
    """Kafka never answers the first one."""
    leader, _ = stable(driver, Member(driver), Member(driver))
    first = leader.join().ticket
    second = leader.join().ticket
    answer = driver.answer(first, JoinGroupAnswer)
    assert answer == refused(ErrorCode.REBALANCE_IN_PROGRESS, leader.id)
    assert driver.waits(second)


def test_parked_joiner_that_is_removed_is_told_that_it_is_unknown(driver: Driver) -> None:
    leader, _ = stable(driver, Member(driver), Member(driver))
    leader.join()
    driver.send(LeaveGroup(group=GROUP, members=((leader.id, None),)))
    assert driver.answer(leader.ticket, JoinGroupAnswer) == refused(ErrorCode.UNKNOWN_MEMBER_ID)


def test_new_member_that_waits_is_given_up_after_five_minutes(driver: Driver) -> None:
    stable(driver, Member(driver, instance="i", rebalance_timeout_ms=1_000_000, session_timeout_ms=1_800_000))
    new = Member(driver).join()
    driver.advance(299_999)
    assert new.waits()
    driver.advance(1)
    assert driver.answer(new.ticket, JoinGroupAnswer) == refused(ErrorCode.UNKNOWN_MEMBER_ID)


def test_known_member_that_waits_is_kept_beyond_its_session_timeout(driver: Driver) -> None:
    known, _ = stable(driver, Member(driver), Member(driver, instance="i", session_timeout_ms=60_000))
    known.join()
    driver.advance(30_000)
    assert known.waits()
    assert known.id in [member.member for member in described(driver).members]


def test_members_that_do_not_rejoin_within_the_rebalance_timeout_are_removed(driver: Driver) -> None:
    long = 600_000
    leader, follower = stable(
        driver,
        Member(driver, rebalance_timeout_ms=20_000, session_timeout_ms=long),
        Member(driver, rebalance_timeout_ms=30_000, session_timeout_ms=long),
    )
    follower.but(protocols=protocols("range", topics=("t2",))).join()
    driver.advance(29_999)
    assert leader.id in [member.member for member in described(driver).members]
    driver.advance(1)
    assert [member.member for member in described(driver).members] == [follower.id]
    assert leader.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_leader_who_did_not_rejoin_is_followed_by_a_member_that_did(driver: Driver) -> None:
    members = stable(driver, *(Member(driver, session_timeout_ms=600_000) for _ in range(4)))
    for follower in members[1:]:
        follower.protocols = protocols("range", topics=("t2",))
        follower.join()
    driver.advance(60_000)
    leaders = {follower.joined().leader for follower in members[1:]}
    assert len(leaders) == 1
    assert leaders <= {follower.id for follower in members[1:]}
