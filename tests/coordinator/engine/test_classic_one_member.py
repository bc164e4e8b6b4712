"""A classic group of one: the shortest way through the states and back."""

from __future__ import annotations

from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from tests.coordinator.engine.classic import GROUP, Member
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def test_member_joins_syncs_and_heartbeats(driver: Driver) -> None:
    member = Member(driver).join()
    answer = member.joined()
    assert (answer.error, answer.generation, answer.leader) == (ErrorCode.NONE, 1, member.id)
    assert [each.member for each in answer.members] == [member.id]
    assert (answer.protocol_type, answer.protocol) == ("consumer", "range")
    assert member.synced({member.id: b"mine"}) == SyncGroupAnswer(
        protocol_type="consumer", protocol="range", assignment=b"mine"
    )
    assert member.heartbeat() is ErrorCode.NONE


def test_member_id_is_client_id_and_uuid(driver: Driver) -> None:
    answer = driver.ask(Member(driver).request(), JoinGroupAnswer, client_id="app")
    assert answer == JoinGroupAnswer(
        error=ErrorCode.MEMBER_ID_REQUIRED, member="app-00000000-0000-0000-0000-000000000001"
    )


def test_member_id_without_client_id_begins_with_a_hyphen(driver: Driver) -> None:
    answer = driver.ask(Member(driver).request(), JoinGroupAnswer, client_id="")
    assert answer.member == "-00000000-0000-0000-0000-000000000001"


def test_session_timeout_removes_the_member_and_empties_the_group(driver: Driver) -> None:
    member = Member(driver).join()
    member.joined()
    member.synced({member.id: b"mine"})
    driver.advance(9_999)
    assert member.heartbeat() is ErrorCode.NONE
    driver.advance(10_000)
    assert member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID
    assert driver.engine.state.groups[GROUP].state.value == "Empty"
