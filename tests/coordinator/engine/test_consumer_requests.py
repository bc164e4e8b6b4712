"""What ConsumerGroupHeartbeat may say, and in whose words it is refused."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from tests.coordinator.engine.consumer import Consumer, epochs, joined
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode

JOIN: dict[str, Any] = {
    "group": "g",
    "member": "a",
    "epoch": 0,
    "rebalance_timeout_ms": 1000,
    "topics": ("foo",),
    "owned": {},
}
INVALID = ErrorCode.INVALID_REQUEST


def answer(driver: Driver, **fields: Any) -> ConsumerGroupHeartbeatAnswer:
    return driver.ask(ConsumerGroupHeartbeat(**{**JOIN, **fields}), ConsumerGroupHeartbeatAnswer)


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"member": ""}, INVALID, "MemberId can't be empty."),
        ({"member": "  "}, INVALID, "MemberId can't be empty."),
        ({"member": "", "epoch": 1, "version": 0}, INVALID, "MemberId can't be empty."),
        ({"member": "", "epoch": -1, "version": 0}, INVALID, "MemberId can't be empty."),
        ({"group": ""}, INVALID, "GroupId can't be empty."),
        ({"group": "  "}, INVALID, "GroupId can't be empty."),
        ({"member": "\0\t\x1f"}, INVALID, "MemberId can't be empty."),
        ({"instance": " "}, INVALID, "InstanceId can't be empty."),
        ({"rack": ""}, INVALID, "RackId can't be empty."),
        ({"rebalance_timeout_ms": -1}, INVALID, "RebalanceTimeoutMs must be provided in first request."),
        ({"owned": None}, INVALID, "TopicPartitions must be empty when (re-)joining."),
        (
            {"topics": None},
            INVALID,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ({"epoch": -2}, INVALID, "InstanceId can't be null."),
        ({"epoch": -3}, INVALID, "MemberEpoch is invalid."),
        (
            {"assignor": ""},
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            "ServerAssignor  is not supported. Supported assignors: uniform, range.",
        ),
        (
            {"assignor": "Range"},
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            "ServerAssignor Range is not supported. Supported assignors: uniform, range.",
        ),
        ({"epoch": 5}, ErrorCode.GROUP_ID_NOT_FOUND, "Consumer group g not found."),
        ({"epoch": -1}, ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found."),
        (
            {"topics": None, "regex": "("},
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            "SubscribedTopicRegex `(` is not a valid regular expression: missing closing ).",
        ),
    ],
)
def test_a_request_is_refused_before_anything_changes(
    driver: Driver, fields: dict[str, Any], code: ErrorCode, message: str
) -> None:
    deadline = driver.engine.next_deadline()
    refused = answer(driver, **fields)
    assert (refused.error, refused.message) == (code, message)
    assert (refused.member, refused.epoch, refused.heartbeat_interval_ms, refused.assignment) == (
        None,
        0,
        0,
        None,
    )
    assert not driver.engine.state.groups
    assert not driver.records
    assert driver.engine.next_deadline() == deadline


@pytest.mark.parametrize("space", ["\xa0", "\u2003"])
def test_a_space_that_java_does_not_trim_is_a_name(driver: Driver, space: str) -> None:
    fields = {"group": space, "member": space, "instance": space, "rack": space}
    assert answer(driver, **fields).error is ErrorCode.NONE


@pytest.mark.parametrize("timeout", [0, -2])
def test_other_rebalance_timeouts_are_accepted(driver: Driver, timeout: int) -> None:
    assert answer(driver, rebalance_timeout_ms=timeout).error is ErrorCode.NONE


def test_subscribing_to_the_empty_name_is_accepted(driver: Driver) -> None:
    assert answer(driver, topics=("",)).epoch == 2


def test_the_coordinator_makes_ids_for_version_0(driver: Driver) -> None:
    made = answer(driver, member="", version=0).member
    assert made is not None
    assert len(made) == 22
    assert answer(driver, member="mine", version=0).member == "mine"


def test_an_epoch_too_high_removes_nobody(driver: Driver) -> None:
    a = joined(driver, "a")
    code, message = a.refused(epoch=9)
    assert code is ErrorCode.FENCED_MEMBER_EPOCH
    assert message == (
        "The consumer group member has a greater member epoch (9) than the one known by the group coordinator (2). "
        "The member must abandon all its partitions and rejoin."
    )
    assert a.refused(epoch=1)[0] is ErrorCode.FENCED_MEMBER_EPOCH
    assert a.beat().epoch == 2


def test_an_unknown_member_of_a_known_group(driver: Driver) -> None:
    Consumer(driver, "a").join()
    b = Consumer(driver, "b")
    refused = ErrorCode.UNKNOWN_MEMBER_ID, "Member b is not a member of group g."
    assert b.refused(epoch=2) == refused
    assert b.refused(epoch=-1) == refused


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, False),
        ({"rebalance_timeout_ms": 1000, "topics": ("foo",)}, False),
        ({"rebalance_timeout_ms": 1000, "owned": {}}, False),
        ({"topics": ("foo",), "owned": {}}, False),
        ({"rebalance_timeout_ms": 1000, "topics": ("foo",), "owned": {}}, True),
        ({"rebalance_timeout_ms": 1000, "regex": "", "owned": {}}, True),
    ],
)
def test_a_full_request_is_told_the_assignment(driver: Driver, fields: dict[str, Any], told: bool) -> None:
    a = joined(driver, "a")
    assert (a.send(epoch=2, **fields).assignment is not None) is told
    assert epochs(driver) == ("Stable", 2, 2)


def test_reported_partitions_are_not_checked(driver: Driver) -> None:
    _, b = joined(driver, "a"), joined(driver, "b")
    foo = driver.engine.topics.topics["foo"].id
    answered = b.beat(owned={foo: (0, 99), UUID(int=1): (0,)})
    assert (answered.error, answered.epoch) == (ErrorCode.NONE, 3)
    assert b.beat().assignment is None


def test_the_order_and_repetition_of_names_do_not_matter(driver: Driver) -> None:
    a = Consumer(driver, "a")
    a.join(topics=("foo", "bar"))
    assert a.beat(topics=("bar", "foo", "bar")).epoch == 2
    assert epochs(driver) == ("Stable", 2, 2)


def test_a_group_of_the_largest_size_lets_nobody_in() -> None:
    driver = Driver(group_consumer_max_size="1")
    a, b = Consumer(driver, "a"), Consumer(driver, "b")
    a.join()
    full = (
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        "The consumer group has reached its maximum capacity of 1 members.",
    )
    assert (b.join().error, b.join().message) == full
    assert b.refused(epoch=2) == full
    assert a.join().error is ErrorCode.NONE
