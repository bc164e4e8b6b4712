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
    images,
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


def driver(**settings: str) -> Driver:
    return Driver(images(("foo", 6)), group_consumer_assignment_interval_ms="0", **settings)


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
    d = driver(group_consumer_migration_policy=policy)
    two_classic(d)
    answer = Consumer(d, "a").join()
    why = "Cannot upgrade classic group g to consumer group because online upgrade is disabled."
    assert (answer.error, answer.message) == (NOT_FOUND, why)
    assert classic(d).generation == 22


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
    metadata: bytes, assigned: bytes, protocol_type: str, why: str
) -> None:
    d = driver()
    raw_group(d, metadata, assigned, protocol_type)
    records = len(d.records)
    answer = Consumer(d, "a").join()
    assert (answer.error, answer.message) == (
        NOT_FOUND,
        f"Cannot upgrade classic group g to consumer group because {why}",
    )
    assert len(d.records) == records
    assert classic(d).generation == 5


def test_a_partition_with_two_owners_stops_the_upgrade() -> None:
    """Kafka fails here, with UNKNOWN_SERVER_ERROR."""
    d = driver()
    two_classic(d, owned={"foo": [2, 3]})
    answer = Consumer(d, "a").join()
    why = "Cannot upgrade classic group g to consumer group because a partition is assigned to more than one member."
    assert (answer.error, answer.message) == (NOT_FOUND, why)
    assert classic(d).generation == 22


def test_a_custom_assignors_name_does_not_stop_the_upgrade() -> None:
    d = driver()
    raw_group(d, subscription(), assignment({"foo": [0]}), protocol="mine")
    assert Consumer(d, "a").join().epoch == 6


def test_the_size_of_the_group_counts_first_and_the_joiner_after() -> None:
    d = driver(group_consumer_max_size="1")
    two_classic(d)
    answer = Consumer(d, "a").join()
    assert answer.message == (
        "Cannot upgrade classic group g to consumer group because the group size exceeds the consumer group "
        "maximum size."
    )
    d = driver(group_consumer_max_size="2")
    two_classic(d)
    assert Consumer(d, "a").join().error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert classic(d).generation == 22


def test_only_a_join_upgrades() -> None:
    d = driver()
    two_classic(d)
    a = Consumer(d, "a")
    assert a.refused(epoch=1) == (NOT_FOUND, "Group g is not a consumer group.")
    assert a.refused(epoch=-1) == (NOT_FOUND, "Group g is not a consumer group.")


# Upgrade


def test_a_new_member_is_one_ahead_of_the_generation() -> None:
    d = driver()
    x, y = two_classic(d)
    a = Consumer(d, "a")
    assert (a.join().epoch, a.owned) == (23, {})
    assert described_member(d, "x").epoch == 22
    assert speaks_classic(d, "x")
    assert (x.beat(), y.beat()) == (AGAIN, AGAIN)
    assert x.sync() is AGAIN


@pytest.mark.parametrize(("name", "instance"), [("x2", "ix"), ("x", "ix"), ("y", None)])
def test_a_replacement_or_the_same_member_keeps_the_epoch(name: str, instance: str | None) -> None:
    d = driver()
    x, y = two_classic(d)
    a = Consumer(d, name, instance=instance)
    assert a.join().epoch == 22
    assert a.owned == ({"foo": [3, 4, 5]} if name == "y" else {"foo": [0, 1, 2]})
    assert epochs(d) == ("Stable", 22, 22)
    assert not speaks_classic(d, name)
    other = x if name == "y" else y
    assert (other.beat(), other.sync()) == (NONE, NONE)


def test_waiting_requests_are_sent_back() -> None:
    d = driver()
    x, y = two_classic(d)
    waiting_join = d.send(x.join_request())
    assert d.waits(waiting_join)
    assert Consumer(d, "a").join().error is NONE
    answer = d.answer(waiting_join, JoinGroupAnswer)
    assert (answer.error, answer.member) == (AGAIN, "x")
    assert y.beat() is AGAIN


def test_waiting_syncs_are_sent_back() -> None:
    d = driver()
    x, y = two_classic(d)
    d.send(x.join_request())
    ticket = d.send(y.join_request())
    y.generation = d.answer(ticket, JoinGroupAnswer).generation
    sync = SyncGroup(
        group="g",
        generation=y.generation,
        member="y",
        instance=None,
        protocol_type="consumer",
        protocol="range",
        assignments=(),
    )
    parked = d.send(sync)
    assert d.waits(parked)
    assert Consumer(d, "a").join().epoch == y.generation + 1
    assert d.answer(parked, SyncGroupAnswer).error is AGAIN


def test_a_group_that_never_completed_a_rebalance_is_upgraded_too() -> None:
    """Kafka fails here: there is no protocol yet."""
    d = Driver(images(("foo", 6)), group_initial_rebalance_delay_ms="3000")
    x = ClassicConsumer(d)
    ticket = d.send(x.join_request())
    x.id = d.answer(ticket, JoinGroupAnswer).member
    waiting = d.send(x.join_request())
    assert Consumer(d, "a").join().error is NONE
    assert d.answer(waiting, JoinGroupAnswer).error is AGAIN
    d.advance(3_000)
    assert x.join().error is NONE


@pytest.mark.parametrize("policy", ["bidirectional", "disabled"])
def test_an_empty_group_converts_and_forgets_its_number(policy: str) -> None:
    d = driver(group_consumer_migration_policy=policy)
    x = ClassicConsumer(d, "x", owned={"foo": [0]})
    classic_group(d, 22, x)
    offsets = (Offset(topic="foo", topic_id=None, partition=0, offset=7),)
    commit = OffsetCommit(
        group="g", generation_or_epoch=22, member="x", instance=None, offsets=offsets, version=8
    )
    assert d.ask(commit, OffsetCommitAnswer).partitions[0][3] is NONE
    x.leave()
    a = Consumer(d, "a")
    assert a.join().epoch == 2
    a.leave()
    ticket = d.send(ClassicConsumer(d).join_request())
    again = ClassicConsumer(d, d.answer(ticket, JoinGroupAnswer).member)
    assert d.answer(d.send(again.join_request()), JoinGroupAnswer).generation == 1
    fetch = OffsetFetch(groups=(OffsetQuery(group="g", topics=(("foo", (0,)),)),))
    ((_, ((_, fetched),)),) = d.ask(fetch, OffsetFetchAnswer).groups[0].topics
    assert isinstance(fetched, FetchedOffset)
    assert fetched.offset == 7


# Downgrade


def mixed(d: Driver, instance: str | None = None) -> tuple[Consumer, ClassicConsumer]:
    """A consumer group with a member of each protocol."""
    a, x = Consumer(d, "a", instance=instance), ClassicConsumer(d, cooperative=True)
    a.join()
    x.join()
    for _ in range(3):
        a.beat()
        if x.beat() is not NONE:
            x.join()
        x.sync()
    assert epochs(d) == ("Stable", 3, 3)
    return a, x


@pytest.mark.parametrize("fenced", [True, False])
def test_the_last_consumer_protocol_member_goes(fenced: bool) -> None:
    d = driver()
    a, x = mixed(d)
    if fenced:
        for _ in range(5):
            assert x.beat() is NONE
            d.advance(9_000)
    else:
        a.leave()
    group = classic(d)
    assert (group.state.value, group.generation) == ("PreparingRebalance", 3)
    assert x.beat() is AGAIN
    answer = d.answer(d.send(x.join_request()), JoinGroupAnswer)
    assert (answer.generation, answer.leader, answer.member) == (4, x.id, x.id)


def test_the_session_of_a_classic_member_goes_on_in_the_classic_group() -> None:
    d = driver()
    a, _ = mixed(d)
    a.leave()
    d.advance(9_999)
    assert len(classic(d).members) == 1
    d.advance(1)
    assert classic(d).state.value == "Empty"


def test_a_static_replacement_downgrades_without_a_rebalance() -> None:
    d = driver()
    a, x = mixed(d, instance="ia")
    had = dict(a.owned)
    new = ClassicConsumer(d, instance="ia")
    answer = new.join()
    assert (answer.error, answer.generation) == (NONE, 3)
    group = classic(d)
    assert (group.state.value, group.generation) == ("Stable", 3)
    assert x.beat() is NONE
    assert (new.sync(), new.owned) == (NONE, had)
    assert a.refused() == (NOT_FOUND, "Group g is not a consumer group.")
    (shown,) = d.ask(DescribeGroups(groups=("g",)), DescribeGroupsAnswer).groups
    given = {each.member: read_assignment(each.assignment).partitions for each in shown.members}
    assert given == {new.id: {"foo": tuple(had["foo"])}, x.id: {"foo": tuple(x.owned["foo"])}}


def test_a_static_replacement_is_written_down_before_the_group_that_it_ends_is_deleted() -> None:
    d = driver()
    a, x = mixed(d, instance="ia")
    before = len(d.records)
    new = ClassicConsumer(d, instance="ia")
    new.join()
    members = [each for each in d.records[before:] if isinstance(each, ConsumerMemberRecord)]
    assert [(each.member, each.value is None) for each in members[:2]] == [(a.id, True), (new.id, False)]
    assert {each.member for each in members if each.value is None} == {a.id, new.id, x.id}
    assert [each.member for each in members].count(a.id) == 1


def test_a_stale_assignment_makes_the_downgrade_rebalance() -> None:
    d = driver()
    _, x = mixed(d, instance="ia")
    new = ClassicConsumer(d, instance="ia", topics=("foo", "bar"))
    assert new.join().error is NONE
    assert classic(d).state.value == "PreparingRebalance"
    assert x.beat() is AGAIN


def test_policy_upgrade_keeps_a_group_of_classic_members_a_consumer_group() -> None:
    d = driver(group_consumer_migration_policy="upgrade")
    a, x = mixed(d)
    a.leave()
    assert epochs(d) == ("Assigning", 4, 3)
    assert x.beat() is NONE
    assert x.join().generation == 4
    assert x.beat() is NONE
    assert (x.sync(), x.owned) == (NONE, {"foo": [0, 1, 2, 3, 4, 5]})
    assert epochs(d) == ("Stable", 4, 4)


def test_policy_disabled_keeps_classic_members_out() -> None:
    d = driver(group_consumer_migration_policy="disabled")
    Consumer(d, "a").join()
    answer = ClassicConsumer(d).join()
    assert (answer.error, answer.member) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")


def test_a_group_too_large_for_the_classic_protocol_stays_what_it_is() -> None:
    d = driver(group_max_size="1")
    a, y = Consumer(d, "a"), ClassicConsumer(d)
    a.join()
    y.join()
    ClassicConsumer(d).join()
    a.leave()
    assert described(d).error is NONE


def test_a_downgraded_group_survives_a_restart() -> None:
    d = driver()
    a, x = mixed(d)
    a.leave()
    d.restart()
    assert (classic(d).state.value, classic(d).generation) == ("Stable", 3)
    beat = Heartbeat(group="g", generation=3, member=x.id, instance=None)
    assert d.ask(beat, HeartbeatAnswer).error is NONE


def test_an_upgraded_group_survives_a_restart() -> None:
    d = driver()
    _, y = two_classic(d)
    a = Consumer(d, "x2", instance="ix")
    a.join()
    before = described(d)
    d.restart()
    assert described(d) == before
    assert (y.beat(), a.beat().epoch) == (NONE, 22)


def test_a_whole_group_goes_there_and_back() -> None:
    d = driver()
    x, y = two_classic(d)
    new_x = Consumer(d, "x2", instance="ix")
    new_x.join()
    y.leave()
    new_y = Consumer(d, "y2")
    new_y.join()
    settled(new_x, new_y)
    assert epochs(d)[0] == "Stable"
    assert targets(d) == {"x2": {"foo": [0, 1, 2]}, "y2": {"foo": [3, 4, 5]}}
    new_y.leave()
    back_y = ClassicConsumer(d)
    back_y.join()
    back_x = ClassicConsumer(d, instance="ix")
    back_x.join()
    assert set(classic(d).members) == {back_x.id, back_y.id}
    assert x.beat() is ErrorCode.FENCED_INSTANCE_ID
