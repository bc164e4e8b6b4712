"""Online upgrade and downgrade, and groups of both protocols: what the table of tests/conformance does not show."""

from typing import Any

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from tests.coordinator.engine.consumer import Consumer, described, epochs, speaks_classic
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer
from wire.errors import ErrorCode

NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND
AGAIN = ErrorCode.REBALANCE_IN_PROGRESS
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


def classic(driver: Driver) -> ClassicGroup:
    group = driver.engine.state.groups["g"]
    assert isinstance(group, ClassicGroup)
    return group


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


def test_a_group_too_large_for_the_classic_protocol_stays_what_it_is() -> None:
    driver = Driver(group_max_size="1")
    a, y = Consumer(driver, "a"), ClassicConsumer(driver)
    a.join()
    y.join()
    ClassicConsumer(driver).join()
    a.leave()
    assert described(driver).error == NONE


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
