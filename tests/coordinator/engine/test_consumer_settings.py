"""Which assignor, whose settings, how often."""

from __future__ import annotations

import pytest

from coordinator.errors import RequestRefused
from tests.coordinator.engine.consumer import Consumer, described_group, epochs, targets
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def test_the_first_configured_assignor_is_the_default() -> None:
    driver = Driver(group_consumer_assignors="range")
    a, b = Consumer(driver, "a", topics=("foo", "bar")), Consumer(driver, "b", topics=("foo", "bar"))
    a.join()
    b.join()
    assert described_group(driver).protocol == "range"
    assert targets(driver) == {"a": {"foo": [0, 1, 2], "bar": [0, 1]}, "b": {"foo": [3, 4, 5], "bar": [2]}}
    refused = b.refused(assignor="uniform")
    assert refused == (
        ErrorCode.UNSUPPORTED_ASSIGNOR,
        "ServerAssignor uniform is not supported. Supported assignors: range.",
    )


def test_settings_of_a_group_count_from_its_next_heartbeat(driver: Driver) -> None:
    a = Consumer(driver, "a")
    assert a.join().heartbeat_interval_ms == 5_000
    driver.engine.set_group_config(
        "g", {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "6000"}
    )
    assert a.beat().heartbeat_interval_ms == 6_000
    driver.advance(49_999)
    assert a.beat().error is ErrorCode.NONE
    driver.engine.set_group_config("g", {})
    assert a.beat().heartbeat_interval_ms == 5_000
    driver.advance(45_000)
    assert epochs(driver)[0] == "Empty"


def test_settings_from_before_a_restart_count_up_to_the_bounds_of_today() -> None:
    stored = {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "6000"}
    for bounds, expected in (
        ({}, 6_000),
        (
            {
                "group_consumer_min_heartbeat_interval_ms": "7000",
                "group_consumer_heartbeat_interval_ms": "7000",
            },
            7_000,
        ),
        ({"group_consumer_max_heartbeat_interval_ms": "5500"}, 5_500),
    ):
        driver = Driver(None, **bounds)
        driver.engine.restore_group_config("g", stored)
        assert Consumer(driver, "a").join().heartbeat_interval_ms == expected


@pytest.mark.parametrize("stored", [{"consumer.session.timeout.ms": "long"}, {"consumer.sessions": "1"}])
def test_settings_that_no_broker_can_have_kept_are_refused(stored: dict[str, str]) -> None:
    with pytest.raises(RequestRefused) as raised:
        Driver().engine.restore_group_config("g", stored)
    assert raised.value.code is ErrorCode.INVALID_CONFIG


def test_settings_are_checked_without_being_set(driver: Driver) -> None:
    driver.engine.check_group_config("g", {"consumer.heartbeat.interval.ms": "6000"})
    assert Consumer(driver, "a").join().heartbeat_interval_ms == 5_000


def test_without_an_interval_a_clock_that_was_ahead_does_not_matter(driver: Driver) -> None:
    a, b = Consumer(driver, "a"), Consumer(driver, "b")
    driver.now_ms += 60_000
    a.join()
    driver.now_ms -= 60_000
    assert b.join().epoch == 3


def test_within_the_assignment_interval_joiners_get_its_epoch() -> None:
    driver = Driver(group_consumer_assignment_interval_ms="1000")
    a, b = Consumer(driver, "a"), Consumer(driver, "b")
    assert (a.join().epoch, a.owned) == (2, {"foo": [0, 1, 2, 3, 4, 5]})
    driver.advance(999)
    answer = b.join()
    assert (answer.epoch, answer.assignment) == (2, {})
    assert epochs(driver) == ("Assigning", 3, 2)
    a.beat()
    assert epochs(driver) == ("Assigning", 3, 2)
    driver.advance(1)
    assert b.beat().epoch == 3
    assert epochs(driver) == ("Reconciling", 3, 3)
