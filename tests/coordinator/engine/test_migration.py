"""Online upgrade and downgrade, and groups of both protocols: what the table of tests/conformance does not show."""

from __future__ import annotations

from typing import Any

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.records import ConsumerMemberRecord
from tests.coordinator.engine.consumer import (
    Consumer,
    Named,
    described,
    epochs,
    images,
    joined,
    speaks_classic,
)
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer, classic_group
from wire.errors import ErrorCode

NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND
AGAIN = ErrorCode.REBALANCE_IN_PROGRESS
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


def classic(driver: Driver) -> ClassicGroup:
    group = driver.engine.state.groups["g"]
    assert isinstance(group, ClassicGroup)
    return group


def two_classic(driver: Driver, second: Named) -> tuple[ClassicConsumer, ClassicConsumer]:
    x = ClassicConsumer(driver, "x", owned={"foo": [0, 1, 2]}, instance="ix")
    y = ClassicConsumer(driver, "y", owned=second)
    classic_group(driver, 22, x, y)
    return x, y


def test_a_group_that_never_completed_a_rebalance_is_upgraded_too() -> None:
    driver = Driver(group_initial_rebalance_delay_ms="3000")
    x = ClassicConsumer(driver)
    ticket = driver.send(x.join_request())
    x.id = driver.answer(ticket, JoinGroupAnswer).member
    waiting = driver.send(x.join_request())
    assert Consumer(driver, "a").join().error == NONE
    assert driver.answer(waiting, JoinGroupAnswer).error is AGAIN
    driver.advance(3_000)
    assert x.join().error == NONE


def mixed(driver: Driver, instance: str | None = None, **changes: Any) -> tuple[Consumer, ClassicConsumer]:
    """A Stable group at epoch 3 with a member of each protocol: a owns 0 to 2, the classic one 3 to 5."""
    a, x = Consumer(driver, "a", instance=instance), ClassicConsumer(driver, **changes)
    a.join()
    x.join()
    a.beat()
    a.beat()
    x.join()
    x.sync()
    assert (epochs(driver), a.owned, x.owned) == (("Stable", 3, 3), {"foo": [0, 1, 2]}, {"foo": [3, 4, 5]})
    return a, x


def test_the_session_of_a_classic_member_continues_after_a_downgrade(driver: Driver) -> None:
    a, _ = mixed(driver)
    a.leave()
    driver.advance(9_999)
    assert len(classic(driver).members) == 1
    driver.advance(1)
    assert classic(driver).state.value == "Empty"


def test_a_static_replacement_is_written_before_the_group_is_deleted(driver: Driver) -> None:
    a, x = mixed(driver, instance="ia")
    before = len(driver.records)
    new = ClassicConsumer(driver, instance="ia")
    new.join()
    members = [record for record in driver.records[before:] if isinstance(record, ConsumerMemberRecord)]
    assert [(member.member, member.value is None) for member in members[:2]] == [
        (a.id, True),
        (new.id, False),
    ]
    assert {member.member for member in members if member.value is None} == {a.id, new.id, x.id}
    assert [member.member for member in members].count(a.id) == 1


def test_a_group_too_large_for_the_classic_protocol_stays_what_it_is() -> None:
    driver = Driver(group_max_size="1")
    a, y = Consumer(driver, "a"), ClassicConsumer(driver)
    a.join()
    y.join()
    ClassicConsumer(driver).join()
    a.leave()
    assert described(driver).error == NONE


def test_a_downgraded_group_survives_a_restart(driver: Driver) -> None:
    a, x = mixed(driver)
    a.leave()
    driver.restart()
    assert (classic(driver).state.value, classic(driver).generation) == ("Stable", 3)
    beat = Heartbeat(group="g", generation=3, member=x.id, instance=None)
    assert driver.ask(beat, HeartbeatAnswer).error == NONE


def test_an_upgraded_group_survives_a_restart(driver: Driver) -> None:
    _, y = two_classic(driver, {"foo": [3, 4, 5]})
    a = joined(driver, "x2", instance="ix")
    before = described(driver)
    driver.restart()
    assert described(driver) == before
    assert (y.beat(), a.beat().epoch) == (NONE, 22)


# Classic members inside a consumer group


def test_topics_of_an_assignment_stand_in_the_order_of_a_java_hash_map() -> None:
    names = ("alpha", "beta", "delta", "eps", "gamma")
    driver = Driver(images(*((name, 1) for name in names)))
    Consumer(driver, "a", topics=()).join()
    x = ClassicConsumer(driver, topics=names)
    x.join()
    assert x.sync() == NONE
    assert list(x.owned) == ["alpha", "beta", "eps", "delta", "gamma"]


def test_a_classic_members_id_may_heartbeat_under_the_consumer_protocol(driver: Driver) -> None:
    _, x = mixed(driver, rebalance_timeout_ms=4_000)
    Consumer(driver, "b").join()
    assert x.beat() is AGAIN
    same = Consumer(driver, x.id, epoch=3, owned=x.owned)
    assert same.beat().error == NONE
    assert not speaks_classic(driver, x.id)
    driver.advance(1_000)
    same.beat()
    driver.advance(3_000)
    assert same.beat().error == NONE
    assert x.beat() is UNKNOWN


def test_members_of_both_protocols_leave_in_one_request(driver: Driver) -> None:
    _, x = mixed(driver)
    Consumer(driver, "b", instance="ib").join()
    request = LeaveGroup(
        group="g", members=(("a", None), ("", "ib"), ("stranger", None), ("", "stranger"), (x.id, None))
    )
    answer = driver.ask(request, LeaveGroupAnswer)
    assert answer.error == NONE
    assert [error for *_, error in answer.members] == [NONE, NONE, UNKNOWN, UNKNOWN, NONE]
    assert epochs(driver) == ("Empty", 5, 4)
