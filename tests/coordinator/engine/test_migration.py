"""Online upgrade and downgrade: who may, what is kept, and what everybody is told."""

from __future__ import annotations

import pytest

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.describe_groups import DescribeGroups, DescribeGroupsAnswer
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.engine.offsets.fetch import FetchedOffset, OffsetFetch, OffsetFetchAnswer, OffsetQuery
from coordinator.engine.records import (
    ClassicGroupRecord,
    ClassicGroupValue,
    ClassicMemberValue,
    ConsumerMemberRecord,
)
from tests.coordinator.engine.consumer import (
    Consumer,
    described,
    described_member,
    epochs,
    joined,
    settled,
    speaks_classic,
    targets,
)
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer, assignment, classic_group, subscription
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import read_assignment

NONE, NOT_FOUND = ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND
AGAIN = ErrorCode.REBALANCE_IN_PROGRESS
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
CUSTOM = (
    "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor "
    "before re-attempting the upgrade."
)


def classic(driver: Driver) -> ClassicGroup:
    group = driver.engine.state.groups["g"]
    assert isinstance(group, ClassicGroup)
    return group


def raw_group(
    driver: Driver,
    metadata: bytes,
    assigned: bytes = b"",
    protocol_type: str = "consumer",
    protocol: str = "range",
) -> None:
    """A Stable classic group with one member and these bytes."""
    member = ClassicMemberValue(
        member="m",
        instance=None,
        client_id="c",
        host="/h",
        rebalance_timeout_ms=1000,
        session_timeout_ms=10_000,
        subscription=metadata,
        assignment=assigned,
    )
    value = ClassicGroupValue(
        protocol_type=protocol_type,
        generation=5,
        protocol=protocol,
        leader="m",
        state_since_ms=driver.now_ms,
        members=(member,),
    )
    driver.records.append(ClassicGroupRecord(group="g", value=value))
    driver.restart()


def two_classic(driver: Driver, **changes: object) -> tuple[ClassicConsumer, ClassicConsumer]:
    x = ClassicConsumer(driver, "x", owned={"foo": [0, 1, 2]}, instance="ix")
    y = ClassicConsumer(driver, "y", owned={"foo": [3, 4, 5]})
    for name, value in changes.items():
        setattr(y, name, value)
    classic_group(driver, 22, x, y)
    return x, y


# Refusals


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_the_policy_may_refuse_an_upgrade(policy: str) -> None:
    driver = Driver(group_consumer_migration_policy=policy)
    two_classic(driver)
    answer = Consumer(driver, "a").join()
    why = "Cannot upgrade classic group g to consumer group because online upgrade is disabled."
    assert (answer.error, answer.message) == (NOT_FOUND, why)
    assert classic(driver).generation == 22


@pytest.mark.parametrize(
    ("metadata", "assigned", "protocol_type", "why"),
    [
        (b"", b"", "connect", "the group does not use the consumer embedded protocol."),
        (b"\0", b"", "consumer", "the embedded consumer protocol is malformed."),
        (subscription(), b"\0\1\0\0\0\x63", "consumer", "the embedded consumer protocol is malformed."),
        (subscription(), assignment({"foo": [0]}, b"mine"), "consumer", CUSTOM),
    ],
)
def test_why_a_group_cannot_be_upgraded(
    driver: Driver, metadata: bytes, assigned: bytes, protocol_type: str, why: str
) -> None:
    raw_group(driver, metadata, assigned, protocol_type)
    records = len(driver.records)
    answer = Consumer(driver, "a").join()
    assert (answer.error, answer.message) == (
        NOT_FOUND,
        f"Cannot upgrade classic group g to consumer group because {why}",
    )
    assert len(driver.records) == records
    assert classic(driver).generation == 5


def test_a_partition_with_two_owners_stops_the_upgrade(driver: Driver) -> None:
    """Kafka fails here, with UNKNOWN_SERVER_ERROR."""
    two_classic(driver, owned={"foo": [2, 3]})
    answer = Consumer(driver, "a").join()
    why = "Cannot upgrade classic group g to consumer group because a partition is assigned to more than one member."
    assert (answer.error, answer.message) == (NOT_FOUND, why)
    assert classic(driver).generation == 22


def test_a_custom_assignors_name_does_not_stop_the_upgrade(driver: Driver) -> None:
    raw_group(driver, subscription(), assignment({"foo": [0]}), protocol="mine")
    assert Consumer(driver, "a").join().epoch == 6


def test_the_size_of_the_group_counts_first_and_the_joiner_after() -> None:
    driver = Driver(group_consumer_max_size="1")
    two_classic(driver)
    answer = Consumer(driver, "a").join()
    assert answer.message == (
        "Cannot upgrade classic group g to consumer group because the group size exceeds the consumer group "
        "maximum size."
    )
    driver = Driver(group_consumer_max_size="2")
    two_classic(driver)
    assert Consumer(driver, "a").join().error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert classic(driver).generation == 22


def test_only_a_join_upgrades(driver: Driver) -> None:
    two_classic(driver)
    a = Consumer(driver, "a")
    assert a.refused(epoch=1) == (NOT_FOUND, "Group g is not a consumer group.")
    assert a.refused(epoch=-1) == (NOT_FOUND, "Group g is not a consumer group.")


# Upgrade


def test_a_new_member_is_one_ahead_of_the_generation(driver: Driver) -> None:
    x, y = two_classic(driver)
    a = Consumer(driver, "a")
    assert (a.join().epoch, a.owned) == (23, {})
    assert described_member(driver, "x").epoch == 22
    assert speaks_classic(driver, "x")
    assert (x.beat(), y.beat()) == (AGAIN, AGAIN)
    assert x.sync() is AGAIN


@pytest.mark.parametrize(("name", "instance"), [("x2", "ix"), ("x", "ix"), ("y", None)])
def test_a_replacement_or_the_same_member_keeps_the_epoch(
    driver: Driver, name: str, instance: str | None
) -> None:
    x, y = two_classic(driver)
    a = Consumer(driver, name, instance=instance)
    assert a.join().epoch == 22
    assert a.owned == ({"foo": [3, 4, 5]} if name == "y" else {"foo": [0, 1, 2]})
    assert epochs(driver) == ("Stable", 22, 22)
    assert not speaks_classic(driver, name)
    other = x if name == "y" else y
    assert (other.beat(), other.sync()) == (NONE, NONE)


def test_waiting_requests_are_sent_back(driver: Driver) -> None:
    x, y = two_classic(driver)
    waiting_join = driver.send(x.join_request())
    assert driver.waits(waiting_join)
    assert Consumer(driver, "a").join().error is NONE
    answer = driver.answer(waiting_join, JoinGroupAnswer)
    assert (answer.error, answer.member) == (AGAIN, "x")
    assert y.beat() is AGAIN


def test_waiting_syncs_are_sent_back(driver: Driver) -> None:
    x, y = two_classic(driver)
    driver.send(x.join_request())
    ticket = driver.send(y.join_request())
    y.generation = driver.answer(ticket, JoinGroupAnswer).generation
    sync = SyncGroup(
        group="g",
        generation=y.generation,
        member="y",
        instance=None,
        protocol_type="consumer",
        protocol="range",
        assignments=(),
    )
    parked = driver.send(sync)
    assert driver.waits(parked)
    assert Consumer(driver, "a").join().epoch == y.generation + 1
    assert driver.answer(parked, SyncGroupAnswer).error is AGAIN


def test_a_group_that_never_completed_a_rebalance_is_upgraded_too() -> None:
    """Kafka fails here: there is no protocol yet."""
    driver = Driver(group_initial_rebalance_delay_ms="3000")
    x = ClassicConsumer(driver)
    ticket = driver.send(x.join_request())
    x.id = driver.answer(ticket, JoinGroupAnswer).member
    waiting = driver.send(x.join_request())
    assert Consumer(driver, "a").join().error is NONE
    assert driver.answer(waiting, JoinGroupAnswer).error is AGAIN
    driver.advance(3_000)
    assert x.join().error is NONE


@pytest.mark.parametrize("policy", ["bidirectional", "disabled"])
def test_an_empty_group_converts_and_forgets_its_number(policy: str) -> None:
    driver = Driver(group_consumer_migration_policy=policy)
    x = ClassicConsumer(driver, "x", owned={"foo": [0]})
    classic_group(driver, 22, x)
    offsets = (Offset(topic="foo", topic_id=None, partition=0, offset=7),)
    commit = OffsetCommit(
        group="g", generation_or_epoch=22, member="x", instance=None, offsets=offsets, version=8
    )
    assert driver.ask(commit, OffsetCommitAnswer).partitions[0][3] is NONE
    x.leave()
    a = Consumer(driver, "a")
    assert a.join().epoch == 2
    a.leave()
    ticket = driver.send(ClassicConsumer(driver).join_request())
    again = ClassicConsumer(driver, driver.answer(ticket, JoinGroupAnswer).member)
    assert driver.answer(driver.send(again.join_request()), JoinGroupAnswer).generation == 1
    fetch = OffsetFetch(groups=(OffsetQuery(group="g", topics=(("foo", (0,)),)),))
    ((_, ((_, fetched),)),) = driver.ask(fetch, OffsetFetchAnswer).groups[0].topics
    assert isinstance(fetched, FetchedOffset)
    assert fetched.offset == 7


# Downgrade


def mixed(driver: Driver, instance: str | None = None) -> tuple[Consumer, ClassicConsumer]:
    """A consumer group with a member of each protocol."""
    a, x = Consumer(driver, "a", instance=instance), ClassicConsumer(driver, cooperative=True)
    a.join()
    x.join()
    for _ in range(3):
        a.beat()
        if x.beat() is not NONE:
            x.join()
        x.sync()
    assert epochs(driver) == ("Stable", 3, 3)
    return a, x


@pytest.mark.parametrize("fenced", [True, False])
def test_the_last_consumer_protocol_member_goes(driver: Driver, fenced: bool) -> None:
    a, x = mixed(driver)
    if fenced:
        for _ in range(5):
            assert x.beat() is NONE
            driver.advance(9_000)
    else:
        a.leave()
    group = classic(driver)
    assert (group.state.value, group.generation) == ("PreparingRebalance", 3)
    assert x.beat() is AGAIN
    answer = driver.answer(driver.send(x.join_request()), JoinGroupAnswer)
    assert (answer.generation, answer.leader, answer.member) == (4, x.id, x.id)


def test_the_session_of_a_classic_member_goes_on_in_the_classic_group(driver: Driver) -> None:
    a, _ = mixed(driver)
    a.leave()
    driver.advance(9_999)
    assert len(classic(driver).members) == 1
    driver.advance(1)
    assert classic(driver).state.value == "Empty"


def test_a_static_replacement_downgrades_without_a_rebalance(driver: Driver) -> None:
    a, x = mixed(driver, instance="ia")
    had = dict(a.owned)
    new = ClassicConsumer(driver, instance="ia")
    answer = new.join()
    assert (answer.error, answer.generation) == (NONE, 3)
    group = classic(driver)
    assert (group.state.value, group.generation) == ("Stable", 3)
    assert x.beat() is NONE
    assert (new.sync(), new.owned) == (NONE, had)
    assert a.refused() == (NOT_FOUND, "Group g is not a consumer group.")
    (shown,) = driver.ask(DescribeGroups(groups=("g",)), DescribeGroupsAnswer).groups
    given = {each.member: read_assignment(each.assignment).partitions for each in shown.members}
    assert given == {new.id: {"foo": tuple(had["foo"])}, x.id: {"foo": tuple(x.owned["foo"])}}


def test_a_static_replacement_is_written_down_before_the_group_that_it_ends_is_deleted(
    driver: Driver,
) -> None:
    a, x = mixed(driver, instance="ia")
    before = len(driver.records)
    new = ClassicConsumer(driver, instance="ia")
    new.join()
    members = [each for each in driver.records[before:] if isinstance(each, ConsumerMemberRecord)]
    assert [(each.member, each.value is None) for each in members[:2]] == [(a.id, True), (new.id, False)]
    assert {each.member for each in members if each.value is None} == {a.id, new.id, x.id}
    assert [each.member for each in members].count(a.id) == 1


def test_a_stale_assignment_makes_the_downgrade_rebalance(driver: Driver) -> None:
    _, x = mixed(driver, instance="ia")
    new = ClassicConsumer(driver, instance="ia", topics=("foo", "bar"))
    assert new.join().error is NONE
    assert classic(driver).state.value == "PreparingRebalance"
    assert x.beat() is AGAIN


def test_policy_upgrade_keeps_a_group_of_classic_members_a_consumer_group() -> None:
    driver = Driver(group_consumer_migration_policy="upgrade")
    a, x = mixed(driver)
    a.leave()
    assert epochs(driver) == ("Assigning", 4, 3)
    assert x.beat() is NONE
    assert x.join().generation == 4
    assert x.beat() is NONE
    assert (x.sync(), x.owned) == (NONE, {"foo": [0, 1, 2, 3, 4, 5]})
    assert epochs(driver) == ("Stable", 4, 4)


def test_policy_disabled_keeps_classic_members_out() -> None:
    driver = Driver(group_consumer_migration_policy="disabled")
    Consumer(driver, "a").join()
    answer = ClassicConsumer(driver).join()
    assert (answer.error, answer.member) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")


def test_a_group_too_large_for_the_classic_protocol_stays_what_it_is() -> None:
    driver = Driver(group_max_size="1")
    a, y = Consumer(driver, "a"), ClassicConsumer(driver)
    a.join()
    y.join()
    ClassicConsumer(driver).join()
    a.leave()
    assert described(driver).error is NONE


def test_a_downgraded_group_survives_a_restart(driver: Driver) -> None:
    a, x = mixed(driver)
    a.leave()
    driver.restart()
    assert (classic(driver).state.value, classic(driver).generation) == ("Stable", 3)
    beat = Heartbeat(group="g", generation=3, member=x.id, instance=None)
    assert driver.ask(beat, HeartbeatAnswer).error is NONE


def test_an_upgraded_group_survives_a_restart(driver: Driver) -> None:
    _, y = two_classic(driver)
    a = joined(driver, "x2", instance="ix")
    before = described(driver)
    driver.restart()
    assert described(driver) == before
    assert (y.beat(), a.beat().epoch) == (NONE, 22)


def test_a_whole_group_goes_there_and_back(driver: Driver) -> None:
    x, y = two_classic(driver)
    new_x = joined(driver, "x2", instance="ix")
    y.leave()
    new_y = joined(driver, "y2")
    settled(new_x, new_y)
    assert epochs(driver)[0] == "Stable"
    assert targets(driver) == {"x2": {"foo": [0, 1, 2]}, "y2": {"foo": [3, 4, 5]}}
    new_y.leave()
    back_y = ClassicConsumer(driver)
    back_y.join()
    back_x = ClassicConsumer(driver, instance="ix")
    back_x.join()
    assert set(classic(driver).members) == {back_x.id, back_y.id}
    assert x.beat() is ErrorCode.FENCED_INSTANCE_ID
