"""Static members: away with epoch -2, back under another id."""

from __future__ import annotations

from tests.coordinator.engine.consumer import Consumer, described_group, epochs, joined, settled
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def pair(driver: Driver) -> tuple[Consumer, Consumer]:
    a, b = joined(driver, "a", instance="i"), joined(driver, "b")
    settled(a, b)
    return a, b


def test_a_member_that_stays_away_is_removed_after_its_session(driver: Driver) -> None:
    a, b = pair(driver)
    driver.advance(10_000)
    a.leave(-2)
    driver.advance(34_000)
    assert len(described_group(driver).members) == 2
    b.beat()
    driver.advance(1_000)
    assert [each.id for each in described_group(driver).members] == ["b"]
    assert epochs(driver) == ("Assigning", 4, 3)


def test_a_static_member_that_was_revoking_rejoins_without(driver: Driver) -> None:
    a, b = joined(driver, "a", instance="i"), joined(driver, "b")
    a.beat()
    a.leave(-2)
    b.beat()
    assert b.owned == {"foo": [3, 4, 5]}
    again = Consumer(driver, "a2", instance="i")
    assert (again.join().epoch, again.owned) == (3, {"foo": [0, 1, 2]})
    driver.advance(44_000)
    assert again.beat().error is ErrorCode.NONE


def test_an_instance_id_is_free_once_its_member_has_another(driver: Driver) -> None:
    """4.3.1 keeps it bound to that member, even when it is gone; mended in 4.4.0."""
    a = joined(driver, "a", instance="i")
    a.instance = "j"
    assert a.join().error is ErrorCode.NONE
    assert joined(driver, "b", instance="i").leave().error is ErrorCode.NONE
    a.leave()
    assert joined(driver, "c", instance="i").owned == {"foo": [0, 1, 2, 3, 4, 5]}
