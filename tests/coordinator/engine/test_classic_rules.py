"""SyncGroup, Heartbeat, sizes, exact times and restarts: what the table of tests/conformance does not show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from coordinator.engine.classic.group import ClassicMember
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.records import ClassicMemberValue
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


def test_sync_in_a_stable_group_gets_the_assignment_again(driver: Driver) -> None:
    for member in stable(driver, Member(driver), Member(driver)):
        assert member.synced({"x": b"ignored"}).assignment == member.id.encode()


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


def test_removed_member_with_a_parked_sync_is_answered_unknown(driver: Driver) -> None:
    """Kafka never answers it."""
    _, follower = together(driver, Member(driver), Member(driver))
    parked = follower.sync()
    follower.leave()
    assert driver.answer(parked, SyncGroupAnswer).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_describe_of_a_stable_group_shows_the_chosen_protocols_metadata(driver: Driver) -> None:
    listed = (*protocols("range", topics=("t1",)), *protocols("sticky", topics=("t2",)))
    leader, follower = stable(
        driver, Member(driver, protocols=listed), Member(driver, protocols=protocols("sticky"))
    )
    metadata = {member.member: member.subscription for member in described(driver).members}
    assert shown(driver) == ("Stable", "consumer", "sticky")
    mine, theirs = (leader, follower) if len(leader.protocols) == 2 else (follower, leader)
    assert metadata == {mine.id: listed[1].metadata, theirs.id: protocols("sticky")[0].metadata}


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


def test_stable_group_keeps_generation_and_assignments_after_a_restart(driver: Driver) -> None:
    members = stable(driver, Member(driver), Member(driver, instance="i"))
    before = described(driver)
    driver.restart()
    assert sorted(described(driver).members, key=str) == sorted(before.members, key=str)
    for member in members:
        assert member.heartbeat() is ErrorCode.NONE
        assert member.synced().assignment == member.id.encode()
    driver.advance(10_000)
    assert state(driver) == "Empty"


def test_the_session_timeout_replaces_a_missing_rebalance_timeout() -> None:
    value = ClassicMemberValue(
        member="m",
        instance=None,
        client_id="c",
        host="/h",
        rebalance_timeout_ms=-1,
        session_timeout_ms=10_000,
        subscription=b"s",
        assignment=b"",
    )
    member = ClassicMember.restored(value, "range")
    assert member.rebalance_timeout_ms == 10_000
    member.restore(replace(value, rebalance_timeout_ms=60_000))
    assert member.rebalance_timeout_ms == 60_000
    member.restore(replace(value, session_timeout_ms=20_000))
    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == (20_000, 20_000)


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


@pytest.mark.parametrize(("rebalance_timeout_ms", "end_ms"), [(60_000, 3_000), (2_000, 2_000)])
def test_joins_extend_the_initial_delay_up_to_the_rebalance_timeout(
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


def test_batch_leave_answers_for_each_and_rebalances_once(driver: Driver) -> None:
    leader, follower, _ = stable(driver, Member(driver), Member(driver), Member(driver, instance="i"))
    leaving = (
        (follower.id, None),
        ("", "i"),
        ("", "stranger"),
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


def test_a_timer_with_unwritable_records_affects_no_other_group(
    driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(record: object) -> tuple[bytes, bytes | None]:
        raise ValueError("a string of 32769 bytes is too long")

    (member,) = stable(driver, Member(driver, session_timeout_ms=LONG))
    driver.engine._ctx.encode = refuse
    driver.advance(LONG + 60_000)
    assert "Group 'g': its SESSION timer has no effect: a string of 32769 bytes is too long" in caplog.text
    driver.engine._ctx.encode = None
    assert Member(driver, group="other").join().joined().error is ErrorCode.NONE
    assert member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID
