"""Ids of groups whose type is not coordinated here stay theirs."""

from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.records import ConsumerGroupRecord, ConsumerGroupValue
from tests.coordinator.engine.classic import GROUP, Member
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode

HEARTBEAT = ConsumerGroupHeartbeat(
    group=GROUP, member="m", epoch=0, rebalance_timeout_ms=1000, topics=("t1",), owned={}
)


def test_no_member_can_join_a_group_of_another_type(driver: Driver) -> None:
    driver.engine.note_other_type(GROUP, exists=True)
    answer = driver.ask(Member(driver).request(), JoinGroupAnswer)
    assert answer.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    beat = driver.ask(HEARTBEAT, ConsumerGroupHeartbeatAnswer)
    assert (beat.error, beat.message) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Group {GROUP} is not a consumer group.",
    )
    assert driver.records == []


def test_the_record_that_came_last_says_whose_the_id_is(driver: Driver) -> None:
    record = ConsumerGroupRecord(group=GROUP, value=ConsumerGroupValue(epoch=3))
    driver.engine.replay(record)
    driver.engine.note_other_type(GROUP, exists=True)
    assert (driver.engine.state.groups, driver.engine.state.other_types) == ({}, {GROUP})
    driver.engine.replay(record)
    assert (set(driver.engine.state.groups), driver.engine.state.other_types) == ({GROUP}, set())
