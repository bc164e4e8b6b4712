"""Classic members inside a consumer group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.engine.offsets.fetch import OffsetFetch, OffsetFetchAnswer, OffsetQuery
from coordinator.engine.records import JoinProtocol
from tests.coordinator.engine.consumer import (
    Consumer,
    described_member,
    epochs,
    images,
    joined,
    lists,
    settled,
    speaks_classic,
)
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer, subscription
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import read_assignment

NONE, AGAIN = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS
UNKNOWN, INCONSISTENT = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def mixed(driver: Driver, **changes: Any) -> tuple[Consumer, ClassicConsumer]:
    """A Stable group at epoch 3 with a member of each protocol: a owns 0 to 2, the classic one 3 to 5."""
    a, x = Consumer(driver, "a"), ClassicConsumer(driver, **changes)
    a.join()
    x.join()
    a.beat()
    a.beat()
    x.join()
    x.sync()
    assert (epochs(driver), a.owned, x.owned) == (("Stable", 3, 3), {"foo": [0, 1, 2]}, {"foo": [3, 4, 5]})
    return a, x


def test_a_join_is_answered_at_once_without_leader_and_members(driver: Driver) -> None:
    Consumer(driver, "a").join()
    x = ClassicConsumer(driver, names=("roundrobin", "range"))
    given = driver.ask(x.join_request(), JoinGroupAnswer)
    assert (given.error, len(given.member)) == (ErrorCode.MEMBER_ID_REQUIRED, 22)
    answer = x.join()
    assert (answer.generation, answer.leader, answer.members) == (3, "", ())
    assert (answer.protocol_type, answer.protocol, answer.skip_assignment) == (
        "consumer",
        "roundrobin",
        False,
    )
    assert len(x.id) == 22
    assert speaks_classic(driver, x.id)


def test_a_cooperative_member_stays_at_the_old_generation_while_it_reports_what_it_has_to_give_up(
    driver: Driver,
) -> None:
    _, x = mixed(driver, cooperative=True)
    joined(driver, "b")
    assert x.beat() is AGAIN
    assert x.join().generation == 3
    assert (x.sync(), x.owned) == (NONE, {"foo": [3, 4]})
    assert x.beat() is AGAIN
    assert lists(described_member(driver, x.id).owned) == {"foo": [3, 4, 5]}
    assert x.join().generation == 4
    assert x.beat() is NONE


def test_one_rejoin_of_an_eager_member_is_enough(driver: Driver) -> None:
    _, x = mixed(driver)
    Consumer(driver, "b").join()
    assert x.beat() is AGAIN
    assert x.join().generation == 4
    assert (x.beat(), x.sync(), x.owned) == (NONE, NONE, {"foo": [3, 4]})


def test_a_heartbeat_says_nothing_before_there_is_a_target(driver: Driver) -> None:
    a, x = mixed(driver)
    b = joined(driver, "b")
    b.leave()
    assert epochs(driver) == ("Assigning", 5, 4)
    x.join()
    settled(a)
    c = joined(driver, "c")
    x.join()
    c.leave()
    assert epochs(driver)[0] == "Assigning"
    assert x.beat() is NONE


def test_a_heartbeat_says_when_awaited_partitions_are_free(driver: Driver) -> None:
    a, x = Consumer(driver, "a"), ClassicConsumer(driver)
    a.join()
    assert x.join().generation == 3
    assert (x.sync(), x.owned) == (NONE, {})
    assert x.beat() is NONE
    a.beat()
    assert x.beat() is NONE
    a.beat()
    assert x.beat() is AGAIN
    x.join()
    assert (x.sync(), x.owned) == (NONE, {"foo": [3, 4, 5]})
    assert x.beat() is NONE


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_assignment_has_the_version_of_the_subscription(driver: Driver, version: int) -> None:
    Consumer(driver, "a").join()
    x = ClassicConsumer(driver, version=version)
    x.join()
    sync = SyncGroup(
        group="g",
        generation=3,
        member=x.id,
        instance=None,
        protocol_type="consumer",
        protocol="range",
        assignments=(),
    )
    answer = driver.ask(sync, SyncGroupAnswer)
    read = read_assignment(answer.assignment)
    assert (read.version, read.partitions, read.user_data) == (version, {}, None)
    assert (answer.protocol_type, answer.protocol) == ("consumer", "range")


def test_topics_of_an_assignment_stand_in_the_order_of_a_java_hash_map() -> None:
    names = ("alpha", "beta", "delta", "eps", "gamma")
    driver = Driver(images(*((name, 1) for name in names)))
    Consumer(driver, "a", topics=()).join()
    x = ClassicConsumer(driver, topics=names)
    x.join()
    assert x.sync() is NONE
    assert list(x.owned) == ["alpha", "beta", "eps", "delta", "gamma"]


def test_whose_ids_are_accepted(driver: Driver) -> None:
    Consumer(driver, "a").join()
    assert ClassicConsumer(driver, "mine").join().member == "mine"
    answer = ClassicConsumer(driver, "other", instance="i").join()
    assert (answer.error, answer.member) == (UNKNOWN, "")


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol_type": "connect"},
        {"protocols": ()},
        {"protocols": (JoinProtocol(name="range", metadata=b"\0"),), "version": 3},
        {"protocols": (JoinProtocol(name="sticky", metadata=subscription()),)},
    ],
)
def test_who_is_refused(driver: Driver, changes: dict[str, Any]) -> None:
    mixed(driver)
    request = replace(ClassicConsumer(driver).join_request(), **changes)
    answer = driver.ask(request, JoinGroupAnswer)
    assert (answer.error, answer.member, answer.generation) == (INCONSISTENT, "", -1)


def test_metadata_are_read_last(driver: Driver) -> None:
    mixed(driver)
    broken = (JoinProtocol(name="range", metadata=b"\0"),)
    request = replace(ClassicConsumer(driver).join_request(), protocols=broken)
    assert driver.ask(request, JoinGroupAnswer).error is ErrorCode.MEMBER_ID_REQUIRED
    stranger = replace(request, member="other", instance="i")
    assert driver.ask(stranger, JoinGroupAnswer).error is UNKNOWN


def test_wrong_generation_protocol_and_instance(driver: Driver) -> None:
    _, x = mixed(driver)

    def beat(**changes: Any) -> ErrorCode:
        request = Heartbeat(group="g", generation=3, member=x.id, instance=None)
        return driver.ask(replace(request, **changes), HeartbeatAnswer).error

    def sync(**changes: Any) -> ErrorCode:
        request = SyncGroup(
            group="g",
            generation=3,
            member=x.id,
            instance=None,
            protocol_type="consumer",
            protocol="range",
            assignments=(),
        )
        return driver.ask(replace(request, **changes), SyncGroupAnswer).error

    for ask in (beat, sync):
        assert ask() is NONE
        assert ask(generation=2) is ErrorCode.ILLEGAL_GENERATION
        assert ask(member="other") is UNKNOWN
        assert ask(instance="other") is UNKNOWN
    assert sync(protocol="sticky") is INCONSISTENT
    assert sync(protocol_type="connect") is INCONSISTENT


def test_a_replaced_static_member_is_fenced(driver: Driver) -> None:
    Consumer(driver, "a").join()
    old, new = ClassicConsumer(driver, instance="i"), ClassicConsumer(driver, instance="i")
    old.join()
    new.join()
    assert old.beat() is ErrorCode.FENCED_INSTANCE_ID
    assert new.beat() is NONE
    old.instance = None
    assert old.beat() is UNKNOWN


def test_a_classic_static_joiner_takes_the_place_of_an_active_member_at_once(driver: Driver) -> None:
    a, b = joined(driver, "a", instance="i"), joined(driver, "b")
    settled(a, b)
    had = dict(a.owned)
    x = ClassicConsumer(driver, instance="i")
    assert x.join().generation == 3
    assert (x.sync(), x.owned) == (NONE, had)
    assert a.refused()[0] is ErrorCode.FENCED_INSTANCE_ID


@pytest.mark.parametrize("version", [2, 8, 9])
def test_commits_of_a_classic_member(driver: Driver, version: int) -> None:
    _, x = mixed(driver)

    def commit(generation: int, member: str, partition: int = 3) -> ErrorCode:
        offsets = (Offset(topic="foo", topic_id=None, partition=partition, offset=1),)
        request = OffsetCommit(
            group="g",
            generation_or_epoch=generation,
            member=member,
            instance=None,
            offsets=offsets,
            version=version,
        )
        return driver.ask(request, OffsetCommitAnswer).partitions[0][3]

    assert commit(3, x.id) is NONE
    assert commit(4, x.id) is ErrorCode.ILLEGAL_GENERATION
    assert commit(2, x.id) is ErrorCode.ILLEGAL_GENERATION
    assert commit(3, "other") is UNKNOWN
    fetch = OffsetFetch(groups=(OffsetQuery(group="g", member=x.id, epoch=2, topics=()),), version=9)
    assert driver.ask(fetch, OffsetFetchAnswer).groups[0].error is ErrorCode.ILLEGAL_GENERATION


def test_its_own_session_timeout_removes_it(driver: Driver) -> None:
    _, x = mixed(driver)
    driver.advance(9_999)
    assert x.beat() is NONE
    driver.advance(10_000)
    assert x.beat() is UNKNOWN


def test_it_is_removed_when_it_should_join_and_does_not(driver: Driver) -> None:
    _, x = mixed(driver, rebalance_timeout_ms=4_000)
    Consumer(driver, "b").join()
    assert x.beat() is AGAIN
    driver.advance(3_999)
    assert x.beat() is AGAIN
    driver.advance(1)
    assert x.beat() is UNKNOWN


def test_it_is_removed_when_it_joined_and_does_not_sync(driver: Driver) -> None:
    Consumer(driver, "a").join()
    x = ClassicConsumer(driver, rebalance_timeout_ms=4_000)
    x.join()
    driver.advance(3_999)
    assert x.beat() is NONE
    driver.advance(1)
    assert x.beat() is UNKNOWN


def test_a_classic_members_id_may_heartbeat_under_the_consumer_protocol(driver: Driver) -> None:
    _, x = mixed(driver, rebalance_timeout_ms=4_000)
    Consumer(driver, "b").join()
    assert x.beat() is AGAIN
    same = Consumer(driver, x.id, epoch=3, owned=x.owned)
    assert same.beat().error is NONE
    assert not speaks_classic(driver, x.id)
    driver.advance(1_000)
    same.beat()
    driver.advance(3_000)
    assert same.beat().error is NONE
    assert x.beat() is UNKNOWN


def test_members_of_both_protocols_leave_in_one_request(driver: Driver) -> None:
    _, x = mixed(driver)
    Consumer(driver, "b", instance="ib").join()
    request = LeaveGroup(
        group="g",
        members=(
            ("a", None),
            ("", "ib"),
            ("nobody", None),
            ("", "nobody"),
            (x.id, None),
        ),
    )
    answer = driver.ask(request, LeaveGroupAnswer)
    assert answer.error is NONE
    assert [error for *_, error in answer.members] == [NONE, NONE, UNKNOWN, UNKNOWN, NONE]
    assert epochs(driver) == ("Empty", 5, 4)


def test_a_group_without_consumer_protocol_members_by_their_own_wish_stays_a_consumer_group(
    driver: Driver,
) -> None:
    a, x = mixed(driver)
    turned = ClassicConsumer(driver, a.id)
    assert turned.join().error is NONE
    assert epochs(driver)[0] == "Stable"
    assert (turned.sync(), turned.beat(), x.beat()) == (NONE, NONE, NONE)
    assert all(speaks_classic(driver, each) for each in (a.id, x.id))
