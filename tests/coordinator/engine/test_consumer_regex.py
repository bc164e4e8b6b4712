"""Subscriptions by regex: resolved separately from the answers, at most every 10 s."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coordinator.engine.consumer.member import is_homogeneous
from coordinator.engine.records import RegexRecord
from tests.coordinator.engine.consumer import Consumer, epochs, group_of, images, settled
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


@pytest.fixture
def driver() -> Driver:
    return Driver(images(("foo-1", 2), ("foo-2", 2), ("bar", 2)))


def create(driver: Driver, *topics: tuple[str, int]) -> None:
    version = driver.engine.topics.version + 1
    driver.take(driver.engine.update_topics(images(*topics, version=version), driver.now_ms))


def by_regex(driver: Driver, name: str, regex: str = "foo-.*") -> Consumer:
    return Consumer(driver, name, topics=None, regex=regex)


def test_a_second_member_with_the_same_regex_needs_no_resolution(driver: Driver) -> None:
    a, b = by_regex(driver, "a"), by_regex(driver, "b")
    a.join()
    a.beat()
    resolutions = sum(isinstance(record, RegexRecord) for record in driver.records)
    assert b.join().epoch == 3
    settled(a, b)
    assert sum(isinstance(record, RegexRecord) for record in driver.records) == resolutions
    assert (a.owned, b.owned) == ({"foo-1": [0, 1]}, {"foo-2": [0, 1]})


def test_a_later_topic_is_seen_10_s_after_the_previous_refresh(driver: Driver) -> None:
    a = by_regex(driver, "a", "(foo-.*)|(new)")
    a.join()
    a.beat()
    driver.advance(2_000)
    create(driver, ("foo-1", 2), ("foo-2", 2), ("bar", 2), ("new", 1))
    driver.advance(8_000)
    a.beat()
    assert a.beat().epoch == 2
    driver.advance(1)
    a.beat()
    assert (a.beat().epoch, a.owned) == (3, {"foo-1": [0, 1], "foo-2": [0, 1], "new": [0]})


def test_a_topic_that_is_only_changed_needs_no_resolution(driver: Driver) -> None:
    a = by_regex(driver, "a")
    a.join()
    a.beat()
    driver.advance(20_000)
    resolved = group_of(driver).regexes["foo-.*"].resolved_ms
    create(driver, ("foo-1", 3), ("foo-2", 2), ("bar", 2))
    assert (a.beat().epoch, a.owned) == (3, {"foo-1": [0, 1, 2], "foo-2": [0, 1]})
    assert group_of(driver).regexes["foo-.*"].resolved_ms == resolved


def test_regexes_are_refreshed_after_the_refresh_interval(driver: Driver) -> None:
    a = by_regex(driver, "a")
    a.join()
    for _ in range(20):
        driver.advance(30_000)
        assert a.beat().error is ErrorCode.NONE
    first = group_of(driver).regexes["foo-.*"].resolved_ms
    driver.advance(1)
    a.beat()
    assert group_of(driver).regexes["foo-.*"].resolved_ms == first + 600_001


def test_a_changed_regex_is_given_up_at_once_and_resolved_later(driver: Driver) -> None:
    a = by_regex(driver, "a")
    a.join()
    a.beat()
    answer = a.beat(regex="bar")
    assert (answer.epoch, a.owned) == (2, {})
    driver.advance(10_001)
    a.beat()
    assert a.beat().error is ErrorCode.NONE
    assert a.owned == {"bar": [0, 1]}


def test_the_last_member_takes_its_regex_with_it(driver: Driver) -> None:
    a, b = by_regex(driver, "a"), Consumer(driver, "b", topics=("bar",))
    a.join()
    b.join()
    settled(a, b)
    a.leave()
    assert group_of(driver).regexes == {}
    assert group_of(driver).subscribed_topics() == {"bar"}


def test_a_regex_that_was_resolved_is_known_after_a_restart(driver: Driver) -> None:
    a = by_regex(driver, "a")
    a.join()
    a.beat()
    driver.restart()
    assert group_of(driver).regexes["foo-.*"].topics == ("foo-1", "foo-2")
    assert a.beat().epoch == 2


def test_a_regex_resolved_by_another_coordinators_version_is_refreshed(driver: Driver) -> None:
    """Each coordinator numbers the versions of the topics itself."""
    a = by_regex(driver, "a")
    a.join()
    a.beat()
    value = group_of(driver).regexes["foo-.*"]
    driver.records.append(RegexRecord(group="g", regex="foo-.*", value=replace(value, version=500)))
    driver.restart()
    create(driver, ("foo-1", 2), ("foo-2", 2), ("foo-3", 1))
    driver.advance(10_001)
    a.beat()
    a.beat()
    assert a.owned == {"foo-1": [0, 1], "foo-2": [0, 1], "foo-3": [0]}
    assert group_of(driver).regexes["foo-.*"].version == driver.engine.topics.version


def test_one_common_regex_is_homogeneous_and_regex_with_name_is_not(
    driver: Driver,
) -> None:
    """ConsumerGroup.subscriptionType: it decides which of its two algorithms the uniform assignor takes."""
    a, b = by_regex(driver, "a"), by_regex(driver, "b")
    a.join()
    b.join()
    assert is_homogeneous(group_of(driver).members.values())
    b.beat(topics=("foo-1",))
    assert not is_homogeneous(group_of(driver).members.values())
    a.beat(topics=("foo-1",))
    assert not is_homogeneous(group_of(driver).members.values())
    settled(a, b)
    assert epochs(driver)[0] == "Stable"
