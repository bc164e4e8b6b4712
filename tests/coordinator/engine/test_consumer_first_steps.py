"""Join, heartbeat and leave of members that subscribe by name."""

from __future__ import annotations

import pytest

from tests.coordinator.engine.consumer import (
    Consumer,
    described,
    described_group,
    described_member,
    epochs,
    group_of,
    joined,
    settled,
    settled_pair,
    targets,
)
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def test_the_first_member_gets_everything_at_epoch_2(driver: Driver) -> None:
    a = Consumer(driver, "a")
    answer = a.join()
    assert (answer.epoch, a.owned) == (2, {"foo": [0, 1, 2, 3, 4, 5]})
    assert answer.heartbeat_interval_ms == 5000
    assert epochs(driver) == ("Stable", 2, 2)


@pytest.mark.parametrize("topics", [("missing",), ("foo",)])
def test_a_name_makes_it_epoch_2_whether_it_exists_or_not(driver: Driver, topics: tuple[str, ...]) -> None:
    assert Consumer(driver, "a", topics=topics).join().epoch == 2


def test_an_empty_list_of_names_makes_it_epoch_1(driver: Driver) -> None:
    answer = Consumer(driver, "a", topics=()).join()
    assert (answer.epoch, answer.assignment) == (1, {})


def test_a_joiner_waits_for_what_others_give_up(driver: Driver) -> None:
    a, b = Consumer(driver, "a"), Consumer(driver, "b")
    a.join()
    answer = b.join()
    assert (answer.epoch, answer.assignment) == (3, {})
    assert b.beat().assignment is None
    assert a.beat().epoch == 2
    assert a.owned == {"foo": [0, 1, 2]}
    assert described_member(driver, "a").owned == {"foo": (0, 1, 2, 3, 4, 5)}
    assert epochs(driver) == ("Reconciling", 3, 3)
    assert a.beat().epoch == 3
    assert b.beat().epoch == 3
    assert b.owned == {"foo": [3, 4, 5]}
    assert epochs(driver) == ("Stable", 3, 3)


def test_the_last_member_leaves_the_assignment_epoch_behind(driver: Driver) -> None:
    a = joined(driver, "a")
    answer = a.leave()
    assert (answer.error, answer.epoch, answer.member, answer.heartbeat_interval_ms) == (
        ErrorCode.NONE,
        -1,
        "a",
        0,
    )
    assert epochs(driver) == ("Empty", 3, 2)
    assert a.join().epoch == 4


def test_a_leave_starts_no_computation(driver: Driver) -> None:
    a, b = settled_pair(driver)
    a.leave()
    assert epochs(driver) == ("Assigning", 4, 3)
    assert targets(driver) == {"b": {"foo": [3, 4, 5]}}
    b.beat()
    assert epochs(driver) == ("Stable", 4, 4)
    assert b.owned == {"foo": [0, 1, 2, 3, 4, 5]}


def test_range_gives_ranges(driver: Driver) -> None:
    a, b = (Consumer(driver, name, topics=("foo", "bar"), assignor="range") for name in "ab")
    a.join()
    b.join()
    settled(a, b)
    assert described_group(driver).protocol == "range"
    assert (a.owned, b.owned) == ({"foo": [0, 1, 2], "bar": [0, 1]}, {"foo": [3, 4, 5], "bar": [2]})


def test_a_restart_brings_back_members_targets_and_partitions(driver: Driver) -> None:
    a, b = joined(driver, "a"), joined(driver, "b")
    before = described(driver)
    driver.restart()
    assert described(driver) == before
    assert group_of(driver).owner(driver.engine.topics.topics["foo"].id, 5) == "a"
    settled(a, b)
    assert (a.owned, b.owned) == ({"foo": [0, 1, 2]}, {"foo": [3, 4, 5]})
