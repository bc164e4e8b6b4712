"""Records of consumer groups: what replaying them makes true, those of older brokers among them."""

from dataclasses import replace
from uuid import UUID

import pytest

from coordinator.engine import records as log
from coordinator.engine.engine import Engine
from coordinator.engine.topics import TopicInfo
from tests.coordinator.engine.consumer import Consumer, epochs, group_of, images, seed, settled
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode

FOO = TopicInfo(name="foo", id=UUID(int=1), partitions=3)
DELETED = log.PartitionMetadataRecord(group="g", value=None)


@pytest.fixture
def driver() -> Driver:
    return Driver(images(("foo", 3)))


def left_by_an_older_broker(driver: Driver) -> None:
    driver.records.append(log.PartitionMetadataRecord(group="g", value=(FOO,)))
    driver.restart()
    assert group_of(driver).has_partition_metadata


@pytest.mark.parametrize(
    "record",
    [
        log.ConsumerGroupRecord(group="g", value=None),
        log.PartitionMetadataRecord(group="g", value=None),
        log.ConsumerMemberRecord(group="g", member="a", value=None),
        log.TargetEpochRecord(group="g", value=None),
        log.TargetMemberRecord(group="g", member="a", value=None),
        log.CurrentAssignmentRecord(group="g", member="a", value=None),
        log.RegexRecord(group="g", regex="a", value=None),
        log.ClassicGroupRecord(group="g", value=None),
    ],
)
def test_a_tombstone_makes_no_group_and_no_member(driver: Driver, record: log.Record) -> None:
    driver.engine.replay(record)
    assert not driver.engine.state.groups
    seed(driver, 3, {"b": {"foo": [0, 1, 2]}})
    before = group_of(driver).members
    if not isinstance(record, log.ConsumerGroupRecord):
        driver.engine.replay(record)
        assert group_of(driver).members == before


def test_records_of_a_member_may_come_in_any_order(driver: Driver) -> None:
    seed(driver, 3, {"a": {"foo": [0, 1]}, "b": {"foo": [2]}})
    backwards = Engine(driver.engine.config, driver.engine.topics)
    for record in reversed(driver.records):
        backwards.replay(record)
    group = backwards.state.groups["g"]
    assert vars(group)["members"] == group_of(driver).members
    assert vars(group)["targets"] == group_of(driver).targets


def test_a_member_in_a_state_that_is_not_known_has_to_start_over(driver: Driver) -> None:
    seed(driver, 3, {"a": {"foo": [0, 1, 2]}})
    assigned = group_of(driver).members["a"].current
    strange: log.CurrentAssignmentValue = replace(assigned, state=log.MemberState.UNKNOWN)
    driver.records.append(log.CurrentAssignmentRecord(group="g", member="a", value=strange))
    driver.restart()
    a = Consumer(driver, "a", epoch=3, owned={"foo": [0, 1, 2]})
    fenced = ErrorCode.FENCED_MEMBER_EPOCH
    assert a.refused()[0] is fenced
    assert a.refused(owned=None)[0] is fenced
    assert (a.beat(owned={}).epoch, a.owned) == (3, {"foo": [0, 1, 2]})
    assert epochs(driver) == ("Stable", 3, 3)


def test_partition_metadata_of_an_older_broker_is_deleted(driver: Driver) -> None:
    seed(driver, 3, {"a": {"foo": [0, 1, 2]}})
    left_by_an_older_broker(driver)
    a = Consumer(driver, "a", epoch=3, owned={"foo": [0, 1, 2]})
    settled(a)
    assert driver.records.count(DELETED) == 1
    assert not group_of(driver).has_partition_metadata
    assert epochs(driver) == ("Stable", 3, 3)


def test_a_group_without_a_hash_is_reassigned(driver: Driver) -> None:
    seed(driver, 3, {"a": {"foo": [0, 1, 2]}})
    driver.records.append(log.ConsumerGroupRecord(group="g", value=log.ConsumerGroupValue(epoch=3)))
    left_by_an_older_broker(driver)
    a = Consumer(driver, "a", epoch=3, owned={"foo": [0, 1, 2]})
    settled(a)
    assert epochs(driver) == ("Stable", 4, 4)
    assert driver.records.count(DELETED) == 1
