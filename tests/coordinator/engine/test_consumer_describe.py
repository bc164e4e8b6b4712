"""What the other requests see of a consumer group."""

from __future__ import annotations

from uuid import UUID

import pytest

from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.describe_groups import DescribeGroups, DescribeGroupsAnswer
from coordinator.engine.groups import DeleteGroups, DeleteGroupsAnswer, ListGroups, ListGroupsAnswer
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.engine.offsets.fetch import OffsetFetch, OffsetFetchAnswer, OffsetQuery, QueriedOffsets
from groups.model import MemberProtocol, Subscription
from tests.coordinator.engine.consumer import (
    Consumer,
    described,
    described_member,
    epochs,
    joined,
    settled_pair,
    speaks_classic,
)
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer, classic_group
from wire.errors import ErrorCode

NONE, STALE = ErrorCode.NONE, ErrorCode.STALE_MEMBER_EPOCH
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


def commit(driver: Driver, epoch: int, member: str, *partitions: int, version: int = 9) -> set[ErrorCode]:
    offsets = tuple(
        Offset(topic="foo", topic_id=_foo(driver) if version > 9 else None, partition=partition, offset=1)
        for partition in partitions or (0,)
    )
    request = OffsetCommit(
        group="g", generation_or_epoch=epoch, member=member, instance=None, offsets=offsets, version=version
    )
    return {error for *_, error in driver.ask(request, OffsetCommitAnswer).partitions}


def fetch(driver: Driver, member: str | None, epoch: int) -> QueriedOffsets:
    request = OffsetFetch(
        groups=(OffsetQuery(group="g", member=member, epoch=epoch, topics=(("foo", (0,)),)),)
    )
    return driver.ask(request, OffsetFetchAnswer).groups[0]


def _foo(driver: Driver) -> UUID:
    return driver.engine.topics.topics["foo"].id


def test_groups_that_cannot_be_described(driver: Driver) -> None:
    shown = described(driver)
    assert (shown.error, shown.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")
    classic_group(driver, 3, ClassicConsumer(driver, "c"))
    shown = described(driver)
    assert (shown.error, shown.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a consumer group.")
    assert shown.group is None


def test_a_member_is_shown_with_all_it_said(driver: Driver) -> None:
    a = Consumer(driver, "a", instance="i", client_id="app")
    a.join(rack="r")
    shown = described_member(driver, "a")
    assert (shown.instance, shown.rack, shown.client.id, shown.client.host) == ("i", "r", "app", "/127.0.0.1")
    assert (shown.subscription, shown.protocol) == (Subscription(topics=("foo",)), MemberProtocol.CONSUMER)
    assert shown.owned == shown.target == {"foo": (0, 1, 2, 3, 4, 5)}


def test_classic_requests_of_a_member_of_the_consumer_protocol(driver: Driver) -> None:
    joined(driver, "a")
    beat = Heartbeat(group="g", generation=2, member="a", instance=None)
    assert driver.ask(beat, HeartbeatAnswer).error is UNKNOWN
    same = ClassicConsumer(driver, "a", generation=2)
    assert same.sync() is UNKNOWN
    assert same.join().error is NONE
    assert speaks_classic(driver, "a")
    assert (same.sync(), same.beat()) == (NONE, NONE)
    assert described(driver).error is NONE
    assert same.leave() is NONE
    assert epochs(driver)[0] == "Empty"


def test_classic_describe_and_list(driver: Driver) -> None:
    Consumer(driver, "a").join()
    (shown,) = driver.ask(DescribeGroups(groups=("g",), version=6), DescribeGroupsAnswer).groups
    assert (shown.error, shown.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a classic group.")
    (listed,) = driver.ask(ListGroups(), ListGroupsAnswer).groups
    assert (listed.protocol_type, listed.state.value, listed.type.value) == ("consumer", "Stable", "consumer")


def test_a_deleted_group_starts_from_epoch_2_again(driver: Driver) -> None:
    a = joined(driver, "a")
    delete = DeleteGroups(groups=("g",))
    assert driver.ask(delete, DeleteGroupsAnswer).groups == (("g", ErrorCode.NON_EMPTY_GROUP),)
    a.leave()
    assert driver.ask(delete, DeleteGroupsAnswer).groups == (("g", NONE),)
    assert a.join().epoch == 2


def test_who_may_commit(driver: Driver) -> None:
    joined(driver, "a")
    assert commit(driver, 2, "a", version=8) == {ErrorCode.UNSUPPORTED_VERSION}
    assert commit(driver, 2, "a", 0, 5) == {NONE}
    assert commit(driver, 3, "a") == {STALE}
    assert commit(driver, -1, "a") == {STALE}
    assert commit(driver, 2, "b") == {UNKNOWN}
    assert commit(driver, -1, "") == {UNKNOWN}


@pytest.mark.parametrize("version", [9, 10])
def test_an_older_epoch_will_do_for_what_the_member_had_by_then(driver: Driver, version: int) -> None:
    settled_pair(driver)
    assert commit(driver, 2, "a", 0, version=version) == {NONE}
    assert commit(driver, 2, "a", 0, 5, version=version) == {STALE}
    assert commit(driver, 2, "b", 3, version=version) == {STALE}
    assert commit(driver, 3, "a", 5, version=version) == {NONE}


def test_a_static_member_that_is_away_commits_with_its_epoch(driver: Driver) -> None:
    a = joined(driver, "a", instance="i")
    a.leave(-2)
    assert commit(driver, -2, "a") == {NONE}
    assert commit(driver, 2, "a") == {STALE}


def test_who_may_fetch(driver: Driver) -> None:
    joined(driver, "a")
    assert fetch(driver, "a", 2).error is NONE
    assert fetch(driver, None, -1).error is NONE
    assert (fetch(driver, "a", 1).error, fetch(driver, "a", 1).topics) == (STALE, ())
    assert fetch(driver, "b", 2).error is UNKNOWN
    assert fetch(driver, "", -1).error is UNKNOWN
    assert fetch(driver, None, 2).error is UNKNOWN
