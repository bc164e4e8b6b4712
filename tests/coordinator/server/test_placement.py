"""The placement of partitions: leaders alternate, and another broker leads while one is stopped."""

from collections import Counter

import pytest

from coordinator.server.placement import NO_LEADER, Placement

RACKLESS: dict[int, str | None] = {1: None, 2: None, 3: None}
TOPICS = {"orders": 6}


def placed(factor: int) -> Placement:
    placement = Placement(RACKLESS)
    placement.put("orders", placement.choose("orders", range(6), factor))
    return placement


def leaders(placement: Placement) -> list[int]:
    return [placement.leader("orders", number) for number in range(6)]


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_leaders_take_turns_and_replicas_follow(factor: int) -> None:
    placement = placed(factor)
    assert Counter(leaders(placement)) == {1: 2, 2: 2, 3: 2}
    for number in range(6):
        partition = placement.place("orders", number)
        assert partition.leader == partition.replicas[0]
        assert len(set(partition.replicas)) == factor
        assert (partition.in_sync, partition.offline) == (partition.replicas, ())


def test_topics_begin_at_different_brokers() -> None:
    placement = Placement(RACKLESS)
    assert {placement.leader(f"topic-{number}", 0) for number in range(20)} == {1, 2, 3}


def test_replicas_are_in_different_racks() -> None:
    racks: dict[int, str | None] = {1: "a", 2: "a", 3: "b", 4: "b"}
    for replicas in Placement(racks).choose("orders", range(8), 2):
        assert {racks[replica] for replica in replicas} == {"a", "b"}


def test_another_replica_keeps_leading_when_the_first_restarts() -> None:
    placement = placed(2)
    before = leaders(placement)
    moved = placement.stop(1, TOPICS)
    assert moved == [("orders", number) for number in range(6) if before[number] == 1]
    for _, number in moved:
        partition = placement.place("orders", number)
        assert partition.leader == partition.replicas[1]
        assert (partition.in_sync, partition.offline) == (partition.replicas[1:], (1,))
    assert placement.restart(1, TOPICS) == []
    assert 1 not in leaders(placement)
    assert all(len(placement.place("orders", number).in_sync) == 2 for number in range(6))


def test_another_broker_leads_while_the_only_replica_is_down() -> None:
    placement = placed(1)
    before = leaders(placement)
    moved = placement.stop(1, TOPICS)
    assert 1 not in leaders(placement)
    for _, number in moved:
        partition = placement.place("orders", number)
        assert partition.replicas == partition.in_sync == (partition.leader,)
    assert placement.restart(1, TOPICS) == moved
    assert leaders(placement) == before


def test_there_is_no_leader_when_all_brokers_are_down() -> None:
    placement = placed(1)
    before = leaders(placement)
    for broker in RACKLESS:
        placement.stop(broker, TOPICS)
    assert leaders(placement) == [NO_LEADER] * 6
    for broker in RACKLESS:
        placement.restart(broker, TOPICS)
    assert leaders(placement) == before


def test_a_broker_that_is_to_lead_gets_a_replica_if_it_has_none() -> None:
    placement = placed(2)
    first, second = placement.replicas("orders", 0)
    (third,) = RACKLESS.keys() - {first, second}
    placement.move("orders", 0, second)
    assert placement.place("orders", 0)[:2] == (second, (first, second))
    placement.move("orders", 0, third)
    assert placement.place("orders", 0)[:2] == (third, (third, first))
    assert placement.stop(second, TOPICS) != []
    assert placement.leader("orders", 0) == third


def test_a_recreated_topic_starts_over() -> None:
    placement = placed(1)
    placement.move("orders", 0, 3)
    placement.forget("orders")
    placement.put("orders", [(1,)])
    assert placement.place("orders", 0) == (1, (1,), (1,), ())
