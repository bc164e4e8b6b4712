"""SyncGroup, Heartbeat, sizes, exact times and restarts: what the table of tests/conformance does not show."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.records import ClassicGroupValue, ClassicMemberValue
from tests.coordinator.engine.classic import GROUP, Member, protocols, refused, stable, state, together
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
    stored = ClassicGroupValue(
        protocol_type="consumer", generation=1, protocol="range", leader="m", state_since_ms=0
    )
    group = ClassicGroup(id="g", state_since_ms=0)
    for stored_member, timeouts in (
        (value, (10_000, 10_000)),
        (value._replace(rebalance_timeout_ms=60_000), (60_000, 10_000)),
        (value._replace(session_timeout_ms=20_000), (20_000, 20_000)),
    ):
        group.store(replace(stored, members=(stored_member,)))
        assert (group.members["m"].rebalance_timeout_ms, group.members["m"].session_timeout_ms) == timeouts


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


def test_new_member_that_waits_is_given_up_after_five_minutes(driver: Driver) -> None:
    stable(driver, Member(driver, instance="i", rebalance_timeout_ms=1_000_000, session_timeout_ms=1_800_000))
    new = Member(driver).join()
    driver.advance(299_999)
    assert new.waits()
    driver.advance(1)
    assert driver.answer(new.ticket, JoinGroupAnswer) == refused(ErrorCode.UNKNOWN_MEMBER_ID)


LONG = 600_000


def static_pair(driver: Driver, session_timeout_ms: int = 10_000) -> tuple[Member, Member]:
    """A Stable group of two static members, a and b; the leader first."""
    members = (Member(driver, instance=name, session_timeout_ms=session_timeout_ms) for name in ("a", "b"))
    leader, follower = stable(driver, *members)
    return leader, follower


def test_rebalance_that_no_static_member_joins_waits_for_another_timeout(driver: Driver) -> None:
    member, other = stable(
        driver, Member(driver, instance="a", session_timeout_ms=LONG), Member(driver, session_timeout_ms=LONG)
    )
    dynamic = member if member.instance is None else other
    static = other if member.instance is None else member
    dynamic.leave()
    driver.advance(60_000)
    assert state(driver) == "PreparingRebalance"
    assert static.join().joined().generation == 3


def test_topics_of_a_silent_replacement_count_in_the_next_generation(driver: Driver) -> None:
    _, follower = static_pair(driver)
    follower.but(id="", protocols=protocols("range", topics=("t2",))).join().joined()
    assert not driver.engine.state.groups[GROUP].subscribed_to("t2")
    driver.restart()
    assert driver.engine.state.groups[GROUP].subscribed_to("t2")


def test_replaced_member_keeps_its_session_timeout_until_a_request(driver: Driver) -> None:
    _, follower = static_pair(driver, LONG)
    again = follower.but(id="", session_timeout_ms=6_000).join()
    again.joined()
    driver.advance(6_000)
    assert again.heartbeat() is ErrorCode.NONE
    driver.advance(6_000)
    assert again.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID
