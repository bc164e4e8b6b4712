"""Giving up before taking over, and what becomes of members that do not."""

from __future__ import annotations

from tests.coordinator.engine.consumer import (
    described_member,
    epochs,
    group_of,
    images,
    joined,
    lists,
    settled_pair,
)
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode
from wire.uuids import format_uuid


def shown(driver: Driver, member: str) -> tuple[int | None, dict[str, list[int]]]:
    found = described_member(driver, member)
    return found.epoch, lists(found.owned)


def test_an_unsubscribed_topic_is_revoked_before_a_new_target() -> None:
    driver = Driver(images(("foo", 2), ("bar", 2)), group_consumer_assignment_interval_ms="5000")
    a = joined(driver, "a", topics=("foo", "bar"))
    driver.advance(1)
    answer = a.beat(topics=("foo",))
    assert (answer.epoch, a.owned) == (2, {"foo": [0, 1]})
    assert epochs(driver) == ("Assigning", 3, 2)
    driver.advance(5_000)
    a.beat()
    assert epochs(driver) == ("Stable", 3, 3)


def test_a_deleted_topic_is_revoked_and_its_successor_is_another_one(driver: Driver) -> None:
    a = joined(driver, "a", topics=("foo", "bar"))
    old = driver.engine.topics.topics["bar"].id
    driver.take(driver.engine.update_topics(images(("foo", 6), version=2), driver.now_ms))
    assert set(lists(described_member(driver, "a").owned)) == {"foo", format_uuid(old)}
    answer = a.beat()
    assert (answer.epoch, a.owned) == (3, {"foo": [0, 1, 2, 3, 4, 5]})
    assert group_of(driver).is_free(old, 0)

    changed = images(("foo", 6), ("bar", 3), version=3)
    bar = changed.topics["bar"]
    new = type(bar)(name="bar", id=type(old)(int=77), partitions=3)
    driver.take(driver.engine.update_topics(type(changed).of([changed.topics["foo"], new], 3), driver.now_ms))
    answer = a.beat()
    assert (answer.epoch, a.owned) == (4, {"foo": [0, 1, 2, 3, 4, 5], "bar": [0, 1, 2]})
    assert answer.assignment is not None
    assert new.id in answer.assignment


def test_new_racks_of_a_topic_make_a_new_epoch(driver: Driver) -> None:
    a = joined(driver, "a")
    foo = driver.engine.topics.topics["foo"]
    racked = type(foo)(name="foo", id=foo.id, partitions=6, racks=(("r",),) * 6)
    image = type(driver.engine.topics).of([racked, driver.engine.topics.topics["bar"]], 2)
    driver.take(driver.engine.update_topics(image, driver.now_ms))
    assert a.beat().epoch == 3


def test_partitions_keep_the_epoch_at_which_they_were_assigned(driver: Driver) -> None:
    a, b = settled_pair(driver)
    b.leave()
    a.beat()
    foo = driver.engine.topics.topics["foo"].id
    since = group_of(driver).members["a"].current.assigned_epochs
    assert {partition: since[foo, partition] for partition in range(6)} == {
        0: 2,
        1: 2,
        2: 2,
        3: 4,
        4: 4,
        5: 4,
    }


def test_the_heartbeats_answer_starts_the_rebalance_timeout(driver: Driver) -> None:
    a, b = joined(driver, "a", rebalance_timeout_ms=2_000), joined(driver, "b")
    driver.advance(5_000)
    held = dict(a.owned)
    a.beat()
    a.owned = held
    driver.advance(1_999)
    assert a.beat().error is ErrorCode.NONE
    a.owned = held
    driver.advance(1)
    assert a.refused() == (ErrorCode.UNKNOWN_MEMBER_ID, "Member a is not a member of group g.")
    assert epochs(driver) == ("Assigning", 4, 3)
    assert (b.beat().epoch, b.owned) == (4, {"foo": [0, 1, 2, 3, 4, 5]})
