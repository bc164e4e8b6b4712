"""JoinGroup: what the table of tests/conformance does not show: exact times, restarts, where Kafka gets stuck."""

from __future__ import annotations

import pytest

from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.records import JoinProtocol
from tests.coordinator.engine.classic import GROUP, Member, described, protocols, refused, shown, stable
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def test_refused_for_its_protocols_a_join_still_creates_an_empty_group(driver: Driver) -> None:
    driver.ask(Member(driver, protocols=()).request(), JoinGroupAnswer)
    assert described(driver).error is ErrorCode.NONE
    assert shown(driver) == ("Empty", "", None)
    driver.restart()
    assert described(driver).error is ErrorCode.NONE


def test_pending_member_delays_a_rebalance_by_its_session_timeout(driver: Driver) -> None:
    (first,) = stable(driver, Member(driver))
    pending = Member(driver, session_timeout_ms=7_000)
    pending.id = driver.ask(pending.request(), JoinGroupAnswer).member
    first.join()
    driver.advance(6_999)
    assert first.waits()
    driver.advance(1)
    assert first.joined().generation == 2
    assert driver.ask(pending.request(), JoinGroupAnswer) == refused(ErrorCode.UNKNOWN_MEMBER_ID, pending.id)


def test_pending_member_that_rejoins_with_an_instance_id_is_unknown(driver: Driver) -> None:
    """Kafka fails here with UNKNOWN_SERVER_ERROR."""
    pending = Member(driver)
    pending.id = driver.ask(pending.request(), JoinGroupAnswer).member
    pending.instance = "i"
    assert driver.ask(pending.request(), JoinGroupAnswer) == refused(ErrorCode.UNKNOWN_MEMBER_ID, pending.id)


def test_known_member_without_a_common_protocol_keeps_its_metadata(driver: Driver) -> None:
    members = stable(driver, Member(driver), Member(driver))
    before = described(driver)
    follower = members[1].but(protocols=protocols("sticky"))
    answer = driver.ask(follower.request(), JoinGroupAnswer)
    assert answer == refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, follower.id)
    assert described(driver) == before


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


def test_second_join_of_a_parked_member_sends_the_first_one_back(driver: Driver) -> None:
    """Kafka never answers the first one."""
    leader, _ = stable(driver, Member(driver), Member(driver))
    first = leader.join().ticket
    second = leader.join().ticket
    answer = driver.answer(first, JoinGroupAnswer)
    assert answer == refused(ErrorCode.REBALANCE_IN_PROGRESS, leader.id)
    assert driver.waits(second)


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


def test_members_that_miss_the_rebalance_timeout_are_removed(driver: Driver) -> None:
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
