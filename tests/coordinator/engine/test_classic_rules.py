"""SyncGroup, Heartbeat, LeaveGroup, DescribeGroups and the size of a group: rules of Kafka 4.3.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.groups import DeleteGroups, DeleteGroupsAnswer, ListGroups, ListGroupsAnswer
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

LONG = 600_000
Stage: TypeAlias = Callable[..., list[Member]]


def sync_request(member: Member, /, **changes: object) -> SyncGroup:
    values: dict[str, object] = {
        "group": GROUP,
        "generation": member.generation,
        "member": member.id,
        "instance": None,
        "protocol_type": "consumer",
        "protocol": "range",
        "assignments": (),
    }
    return SyncGroup(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", [together, stable])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member": "x"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member": "x", "generation": 9}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"instance": "i"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": 1, "protocol": "x"}, ErrorCode.ILLEGAL_GENERATION),
        ({"protocol": "x"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": "connect"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol": None, "group": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": None, "member": "x"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_sync_is_refused(driver: Driver, stage: Stage, changes: dict[str, object], error: ErrorCode) -> None:
    _, follower = stage(driver, Member(driver), Member(driver))
    assert driver.ask(sync_request(follower, **changes), SyncGroupAnswer) == SyncGroupAnswer(error=error)


def test_sync_below_version_5_names_no_protocol(driver: Driver) -> None:
    leader, _ = together(driver, Member(driver), Member(driver))
    request = sync_request(leader, protocol=None, protocol_type=None, version=4)
    assert driver.ask(request, SyncGroupAnswer).error is ErrorCode.NONE


def test_assignments_for_strangers_are_dropped_and_members_left_out_get_nothing(driver: Driver) -> None:
    leader, follower = together(driver, Member(driver), Member(driver))
    parked = follower.sync()
    assert leader.synced({leader.id: b"mine", "stranger": b"theirs"}).assignment == b"mine"
    answer = driver.answer(parked, SyncGroupAnswer)
    assert (answer.error, answer.assignment) == (ErrorCode.NONE, b"")
    assert {member.member for member in described(driver).members} == {leader.id, follower.id}


def test_sync_in_a_stable_group_gets_the_assignment_again(driver: Driver) -> None:
    for member in stable(driver, Member(driver), Member(driver)):
        assert member.synced({"x": b"ignored"}).assignment == member.id.encode()


def test_sync_and_heartbeat_while_preparing_are_told_to_rejoin(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    leader.join()
    assert follower.synced().error is ErrorCode.REBALANCE_IN_PROGRESS
    assert follower.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize("stage", ["preparing", "completing", "stable"])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"group": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member": "x", "generation": 9}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"instance": "i"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": 9}, ErrorCode.ILLEGAL_GENERATION),
        ({"generation": -1}, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_heartbeat_is_refused_in_every_state(
    driver: Driver, stage: str, changes: dict[str, object], error: ErrorCode
) -> None:
    leader, follower = (together if stage == "completing" else stable)(driver, Member(driver), Member(driver))
    if stage == "preparing":
        leader.join()
    values: dict[str, object] = {
        "group": GROUP,
        "generation": follower.generation,
        "member": follower.id,
        "instance": None,
    }
    request = Heartbeat(**(values | changes))  # type: ignore[arg-type]
    assert driver.ask(request, HeartbeatAnswer).error is error


def test_heartbeat_while_completing_is_fine(driver: Driver) -> None:
    for member in together(driver, Member(driver), Member(driver)):
        assert member.heartbeat() is ErrorCode.NONE


@pytest.mark.parametrize("version", [0, 2, 3, 5])
def test_leave_of_an_unknown_group(driver: Driver, version: int) -> None:
    request = LeaveGroup(group=GROUP, members=(("x", None),), version=version)
    answer = driver.ask(request, LeaveGroupAnswer)
    assert answer.error is (ErrorCode.UNKNOWN_MEMBER_ID if version < 3 else ErrorCode.NONE)
    assert answer.members == (("x", None, ErrorCode.UNKNOWN_MEMBER_ID),)


def test_leave_below_version_3_carries_the_members_error_at_the_top(driver: Driver) -> None:
    heartbeat = ConsumerGroupHeartbeat(
        group="new", member="m", epoch=0, rebalance_timeout_ms=1_000, topics=("t1",), owned={}
    )
    driver.send(heartbeat)
    stable(driver, Member(driver))
    for group in (GROUP, "new"):
        request = LeaveGroup(group=group, members=(("x", None),), version=2)
        assert driver.ask(request, LeaveGroupAnswer).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_leave_of_nobody_is_fine(driver: Driver) -> None:
    stable(driver, Member(driver))
    answer = driver.ask(LeaveGroup(group=GROUP, members=()), LeaveGroupAnswer)
    assert answer == LeaveGroupAnswer(error=ErrorCode.NONE, members=())


def test_leave_without_group_id() -> None:
    answer = Driver().ask(LeaveGroup(group="", members=(("x", None),)), LeaveGroupAnswer)
    assert answer.error is ErrorCode.INVALID_GROUP_ID


def test_batch_leave_answers_for_each_and_rebalances_once(driver: Driver) -> None:
    leader, follower, _ = stable(driver, Member(driver), Member(driver), Member(driver, instance="i"))
    leaving = (
        (follower.id, None),
        ("", "i"),
        ("", "nobody"),
        ("x", None),
        (follower.id, None),
    )
    answer = driver.ask(LeaveGroup(group=GROUP, members=leaving), LeaveGroupAnswer)
    assert [error for _, _, error in answer.members] == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    again = leader.join().joined()
    assert (again.generation, [member.member for member in again.members]) == (3, [leader.id])


def test_parked_syncer_that_is_removed_is_told_that_it_is_unknown(driver: Driver) -> None:
    """Kafka never answers it."""
    _, follower = together(driver, Member(driver), Member(driver))
    parked = follower.sync()
    follower.leave()
    assert driver.answer(parked, SyncGroupAnswer).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_describe_before_stable_shows_neither_protocol_nor_metadata(driver: Driver) -> None:
    together(driver, Member(driver), Member(driver))
    assert shown(driver) == ("CompletingRebalance", "consumer", None)
    members = described(driver).members
    assert {(member.subscription, member.assignment) for member in members} == {(b"", b"")}


def test_describe_of_a_stable_group_shows_the_metadata_of_the_chosen_protocol(driver: Driver) -> None:
    listed = (*protocols("range", topics=("t1",)), *protocols("sticky", topics=("t2",)))
    leader, follower = stable(
        driver, Member(driver, protocols=listed), Member(driver, protocols=protocols("sticky"))
    )
    metadata = {member.member: member.subscription for member in described(driver).members}
    assert shown(driver) == ("Stable", "consumer", "sticky")
    mine, theirs = (leader, follower) if len(leader.protocols) == 2 else (follower, leader)
    assert metadata == {mine.id: listed[1].metadata, theirs.id: protocols("sticky")[0].metadata}


def test_describe_while_preparing_still_shows_assignments(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    leader.join()
    assert shown(driver) == ("PreparingRebalance", "consumer", None)
    given = {member.assignment for member in described(driver).members}
    assert given == {leader.id.encode(), follower.id.encode()}


def test_describe_without_client_id_shows_an_empty_one(driver: Driver) -> None:
    driver.send(Member(driver, version=3).request(), client_id="")
    assert [(member.client_id, member.host) for member in described(driver).members] == [("", "/127.0.0.1")]


@pytest.mark.parametrize(
    ("version", "error", "message"),
    [(5, ErrorCode.NONE, None), (6, ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")],
)
def test_describe_of_an_unknown_group_is_dead(version: int, error: ErrorCode, message: str | None) -> None:
    answer = described(Driver(), version=version)
    assert (answer.error, answer.message) == (error, message)
    assert shown(Driver(), version) == ("Dead", None, None)


@pytest.mark.parametrize("version", [5, 6])
def test_describe_of_a_consumer_group_is_dead(driver: Driver, version: int) -> None:
    request = ConsumerGroupHeartbeat(
        group=GROUP, member="m", epoch=0, rebalance_timeout_ms=1_000, topics=("t1",), owned={}
    )
    assert driver.ask(request, ConsumerGroupHeartbeatAnswer).error is ErrorCode.NONE
    assert shown(driver, version) == ("Dead", None, None)
    assert described(driver, version=version).message == (
        None if version < 6 else "Group g is not a classic group."
    )


@pytest.mark.parametrize(
    ("states", "types", "passes"),
    [
        ((), (), True),
        (("sTaBlE",), (), True),
        (("Empty", "Stable"), ("CLASSIC",), True),
        (("Empty",), (), False),
        (("nonsense",), (), False),
        ((), ("consumer",), False),
        ((), ("nonsense",), False),
    ],
)
def test_list_filters_ignore_case_and_unknown_names_match_nothing(
    driver: Driver, states: tuple[str, ...], types: tuple[str, ...], *, passes: bool
) -> None:
    stable(driver, Member(driver))
    listed = driver.ask(ListGroups(states=states, types=types), ListGroupsAnswer).groups
    assert [group.id for group in listed] == ([GROUP] if passes else [])


def test_delete_refuses_non_empty_and_unknown_groups_and_answers_a_name_once(driver: Driver) -> None:
    (member,) = stable(driver, Member(driver))
    request = DeleteGroups(groups=(GROUP, "x", GROUP))
    assert driver.ask(request, DeleteGroupsAnswer).groups == (
        (GROUP, ErrorCode.NON_EMPTY_GROUP),
        ("x", ErrorCode.GROUP_ID_NOT_FOUND),
    )
    member.leave()
    assert driver.ask(request, DeleteGroupsAnswer).groups[0] == (GROUP, ErrorCode.NONE)
    assert Member(driver).join().joined().generation == 1


# group.max.size


def test_newcomers_fill_a_group_and_the_known_member_that_comes_last_is_out() -> None:
    driver = Driver(group_max_size="4")
    (known,) = stable(driver, Member(driver, session_timeout_ms=LONG))
    newcomers = [Member(driver, session_timeout_ms=LONG).join() for _ in range(4)]
    assert all(member.waits() for member in newcomers)
    answer = driver.answer(driver.send(known.request()), JoinGroupAnswer)
    assert answer == refused(ErrorCode.GROUP_MAX_SIZE_REACHED)
    driver.advance(60_000)
    assert {member.joined().generation for member in newcomers} == {2}
    assert known.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("stage", [together, stable])
def test_newcomer_to_a_full_group_is_refused(stage: Stage) -> None:
    driver = Driver(group_max_size="2")
    members = stage(driver, Member(driver), Member(driver))
    assert driver.ask(Member(driver).request(), JoinGroupAnswer) == refused(ErrorCode.GROUP_MAX_SIZE_REACHED)
    assert members[1].heartbeat() is ErrorCode.NONE


def test_pending_member_of_a_full_group_is_refused_and_forgotten() -> None:
    driver = Driver(group_max_size="2")
    stable(driver, Member(driver))
    late = Member(driver)
    late.id = driver.ask(late.request(), JoinGroupAnswer).member
    newcomers = [Member(driver).join() for _ in range(2)]
    assert all(member.waits() for member in newcomers)
    assert driver.ask(late.request(), JoinGroupAnswer) == refused(ErrorCode.GROUP_MAX_SIZE_REACHED)


def test_too_large_a_group_rebalances_after_a_restart(driver: Driver) -> None:
    members = stable(driver, *(Member(driver) for _ in range(3)))
    smaller = Driver(group_max_size="2")
    for record in driver.records:
        smaller.engine.replay(record)
    smaller.take(smaller.engine.loaded(smaller.now_ms))
    assert state(smaller) == "PreparingRebalance"
    assert members[0].but(driver=smaller).heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


# Timers


@pytest.mark.parametrize("absent", ["follower", "leader"])
def test_members_that_do_not_sync_within_the_rebalance_timeout_are_removed(
    driver: Driver, absent: str
) -> None:
    leader, follower = together(
        driver, Member(driver, session_timeout_ms=LONG), Member(driver, session_timeout_ms=LONG)
    )
    present, missing = (leader, follower) if absent == "follower" else (follower, leader)
    parked = present.sync({})
    driver.advance(59_999)
    assert missing.heartbeat() is ErrorCode.NONE
    driver.advance(1)
    assert missing.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID
    if absent == "leader":
        assert driver.answer(parked, SyncGroupAnswer).error is ErrorCode.REBALANCE_IN_PROGRESS
    assert present.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert present.join().joined().leader == present.id


def test_heartbeat_and_answers_keep_a_member_alive(driver: Driver) -> None:
    (member,) = stable(driver, Member(driver))
    for _ in range(3):
        driver.advance(9_999)
        assert member.heartbeat() is ErrorCode.NONE


def test_initial_delay_answers_a_single_member_at_its_end() -> None:
    driver = Driver(group_initial_rebalance_delay_ms="1500")
    member = Member(driver).join()
    driver.advance(1_499)
    assert member.waits()
    driver.advance(1)
    assert member.joined().generation == 1


@pytest.mark.parametrize(("rebalance_timeout_ms", "end_ms"), [(60_000, 3_000), (2_000, 2_000)])
def test_initial_delay_is_prolonged_when_somebody_came_and_capped_by_the_rebalance_timeout(
    rebalance_timeout_ms: int, end_ms: int
) -> None:
    driver = Driver(group_initial_rebalance_delay_ms="1500")
    first = Member(driver, rebalance_timeout_ms=rebalance_timeout_ms).join()
    driver.advance(900)
    second = Member(driver, rebalance_timeout_ms=rebalance_timeout_ms).join()
    driver.advance(end_ms - 900 - 1)
    assert first.waits()
    driver.advance(1)
    assert (first.joined().generation, second.joined().generation) == (1, 1)


def test_initial_delay_applies_to_an_empty_group_again() -> None:
    driver = Driver(group_initial_rebalance_delay_ms="1500")
    first = Member(driver).join()
    driver.advance(1_500)
    first.joined()
    first.leave()
    second = Member(driver).join()
    driver.advance(1_499)
    assert second.waits()
    driver.advance(1)
    assert second.joined().generation == 3


def test_stable_group_outlives_a_restart_with_its_generation_and_assignments(driver: Driver) -> None:
    members = stable(driver, Member(driver), Member(driver, instance="i"))
    before = described(driver)
    driver.restart()
    assert sorted(described(driver).members, key=str) == sorted(before.members, key=str)
    for member in members:
        assert member.heartbeat() is ErrorCode.NONE
        assert member.synced().assignment == member.id.encode()
    driver.advance(10_000)
    assert state(driver) == "Empty"


def test_rebalance_in_progress_is_forgotten_by_a_restart(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    leader.join()
    driver.restart()
    assert state(driver) == "Stable"
    assert follower.heartbeat() is ErrorCode.NONE
