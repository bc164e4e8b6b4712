"""Succession on the real broker: every change of the leader is predicted."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from cli.sources.live import LiveSource
from cli.sources.wire_source import WireSource
from groups.model import Group
from groups.succession import Succession, after_load, succession
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.migration.raw_group import RawGroup
from tests.support.long import IS_LONG, cases
from wire.client.security import ConnectionSettings

pytestmark = pytest.mark.kafka
CHANGES = cases("KOHORT_SUCCESSION_CHANGES", 3, many=30)  # of the leader, for each size of a group
SHRUNK = 8 if IS_LONG else 4  # groups


@pytest.fixture
def source(broker: Broker) -> Iterator[LiveSource]:
    live = source_of(broker)
    yield live
    live.close()


def source_of(broker: Broker) -> LiveSource:
    return WireSource(ConnectionSettings(bootstrap_servers=(broker.bootstrap,), api_timeout_ms=20_000))


def described(source: LiveSource, group: str) -> Group:
    (description,) = source.with_leaders(source.describe([group], offsets=False).items)
    return description


def foretold(source: LiveSource, group: RawGroup) -> Succession:
    """The order of succession of a group whose leader every member knows."""
    prediction = succession(described(source, group.id))
    assert prediction is not None
    assert prediction.leader == group.leader
    assert prediction.certain
    return prediction


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8, 13, 20])
def test_the_successor_of_a_leader_that_leaves(broker: Broker, source: LiveSource, size: int) -> None:
    group = RawGroup(broker=broker)
    group.grow(size)
    for change in range(CHANGES):
        successor = foretold(source, group).order[0]
        group.leave(group.leader)
        if change % 2:
            group.grow(1)
        else:  # once with those that stay, so that no new member can have led
            group.rebalance()
            assert group.leader == successor
            group.grow(1)
        assert group.leader == successor, f"change {change}"


def test_a_group_that_has_shrunk_keeps_its_order_until_the_broker_restarts(
    start_broker: Callable[[dict[str, str]], Broker],
) -> None:
    broker = start_broker({})
    rng, differed = random.Random(4), 0
    groups = []
    for _ in range(SHRUNK):
        group = RawGroup(broker=broker)
        group.grow(30)
        for leaver in rng.sample([member for member in group.members if member != group.leader], 24):
            group.leave(leaver)
        group.rebalance()
        groups.append(group)
    with closing(source_of(broker)) as source:
        for group in groups[: SHRUNK // 2]:
            successor, reloaded = foretold(source, group).order[0], after_load(described(source, group.id))
            differed += successor != reloaded
            group.leave(group.leader)
            group.rebalance()
            assert group.leader == successor
        expected = {group.id: after_load(described(source, group.id)) for group in groups}
        differed += sum(foretold(source, raw).order[0] != expected[raw.id] for raw in groups)
    assert differed, "no group was ever in another order than that of a new map"
    broker.stop()
    broker.start()
    with closing(source_of(broker)) as source:
        for group in groups:
            wait_group(broker, group.id, members=len(group.members))
            assert foretold(source, group).order[0] == expected[group.id]
            group.leave(group.leader)
            group.rebalance()
            assert group.leader == expected[group.id]


def test_a_leader_that_misses_a_rebalance_is_followed_by_the_first_joined(
    broker: Broker, source: LiveSource
) -> None:
    for size in (2, 3, 5):
        group = RawGroup(broker=broker, rebalance_timeout_s=1.0)
        group.grow(size)
        for _ in range(3):
            late, joining = group.leader, [member for member in group.members if member != group.leader]
            answers = group.start_joining([*joining, group.new_id()])
            successor = foretold(source, group).order[0]
            group.finish(answers)
            assert group.leader == successor
            assert late not in {member.id for member in described(source, group.id).members}


def test_a_leader_that_rejoins_under_its_instance_id_continues_to_lead(
    broker: Broker, source: LiveSource
) -> None:
    group = RawGroup(broker=broker)
    first = group.join_static("a")
    group.leader, group.generation, group.members = first.leader, int(first.generation_id), [first.member_id]
    group.assign({first.member_id: {}})
    group.grow(2)
    assert group.leader == first.member_id
    back = group.join_static("a")
    assert back.member_id != first.member_id
    group.leader = back.member_id
    foretold(source, group)
