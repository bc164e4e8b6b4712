"""Who leads when the leader goes, against the embedded coordinator, whose groups walk through a Java map."""

import random
from dataclasses import replace
from uuid import UUID

import pytest

from coordinator.engine.classic.group import ClassicGroup, ClassicMember
from coordinator.engine.records import JoinProtocol
from groups.model import Client, Group, GroupState, GroupType, Member
from groups.succession import after_load, first_follower, leader_of, leads, precedes, succession


def member(member_id: str, client_id: str | None = None, instance: str | None = None) -> Member:
    return Member(id=member_id, instance=instance, client=Client(id=client_id))


def group(*members: Member, leader: str | None = None, kind: GroupType = GroupType.CLASSIC) -> Group:
    return Group(id="g", type=kind, state=GroupState.STABLE, leader=leader, members=members)


def fresh_ids(rng: random.Random, count: int) -> list[str]:
    return [f"m{number}-{UUID(int=rng.getrandbits(128), version=4)}" for number in range(count)]


def broker_group(ids: list[str]) -> ClassicGroup:
    held = ClassicGroup(id="g", state_since_ms=0)
    for id_ in ids:
        join(held, id_)
    return held


def join(held: ClassicGroup, member_id: str) -> None:
    joined = ClassicMember(
        id=member_id,
        instance=None,
        client_id="c",
        host="/127.0.0.1",
        rebalance_timeout_ms=1000,
        session_timeout_ms=1000,
        protocols=(JoinProtocol(name="range", metadata=b""),),
    )
    held.add(joined, "consumer")


def described(held: ClassicGroup) -> Group:
    return group(*(member(peer.id) for peer in held.in_order()), leader=held.leader)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 12, 13, 20, 25, 60])
def test_the_whole_order_is_that_in_which_leaders_follow_each_other(size: int) -> None:
    rng = random.Random(size)
    for _ in range(20):
        held = broker_group(fresh_ids(rng, size))
        prediction = succession(described(held))
        assert prediction is not None
        assert prediction.certain
        assert prediction.leader == held.leader
        for successor in prediction.order:
            assert held.leader is not None
            held.remove(held.leader)
            assert held.leader == successor


def test_another_order_is_certain_only_where_every_length_agrees() -> None:
    rng, seen = random.Random(2), {True: 0, False: 0}
    for _ in range(400):
        size = rng.choice([3, 4, 6])
        crowd = fresh_ids(rng, rng.choice([size, 20, 60]))
        held = broker_group(crowd)
        for leaver in rng.sample([peer for peer in crowd if peer != held.leader], len(crowd) - size):
            held.remove(leaver)
        reported = described(held)
        shuffled = replace(reported, members=tuple(sorted(reported.members, key=lambda peer: peer.id)))
        prediction = succession(shuffled)
        assert prediction is not None
        assert held.leader is not None
        if "listed in the order" in prediction.why:
            continue  # by chance in the order of some map
        held.remove(held.leader)
        seen[prediction.certain] += 1
        if prediction.certain:
            assert prediction.order[0] == held.leader
    assert min(seen.values()) > 5, seen


def in_map(*client_ids: str) -> tuple[Member, ...]:
    """Members whose ids a map of 16 bins gives back in this order."""
    held = broker_group(fresh_ids(random.Random(3), len(client_ids)))
    return tuple(member(peer.id, client) for peer, client in zip(held.in_order(), client_ids, strict=True))


def test_groups_without_a_leader_and_of_one_member() -> None:
    consumer, alone = group(member("a", "c"), kind=GroupType.CONSUMER), group(member("a", "c"))
    assert (succession(group()), succession(consumer)) == (None, None)
    assert (leader_of(consumer), leads(consumer, "c")) == (None, False)
    assert (leader_of(alone), leads(alone, "c"), precedes(alone, "c")) == ("a", True, True)
    assert after_load(alone) is None
    assert [first_follower(one) for one in (consumer, alone, group(*in_map("a", "b", "c")))] == [None] * 3


def test_with_a_known_leader_the_first_of_the_others_precedes() -> None:
    members, names = in_map("temporary", "old", "old"), ("temporary", "old", "absent")
    led = group(*members, leader=members[2].id)
    assert [precedes(led, name) for name in names] == [True, True, False]
    assert [leads(led, name) for name in names] == [False, True, False]
    assert precedes(group(*members, leader=members[0].id), "temporary") is True, "it leads already"


def test_with_an_unknown_leader_the_first_of_all_leads_or_follows() -> None:
    members = in_map("a", "b", "c")
    unknown = group(*members)
    # The second one follows only if the first one leads.
    assert [precedes(unknown, name) for name in "abc"] == [True, None, False]
    assert [leads(unknown, name) for name in "abc"] == [None, None, None]
    alike = group(*(replace(peer, client=Client(id="same")) for peer in members))
    assert leads(alike, "same") is True


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_as_many_newcomers_come_first_as_there_are_places_in_front(size: int) -> None:
    rng = random.Random(size)
    seen: set[int] = set()
    for _ in range(15):
        ids = fresh_ids(rng, size)
        front = first_follower(described(broker_group(ids)))
        assert front is not None
        assert front.bins == 16
        seen.add(front.places)
        newcomers = fresh_ids(rng, 80)
        orders = [(newcomer, succession(described(broker_group([*ids, newcomer])))) for newcomer in newcomers]
        first = [newcomer for newcomer, found in orders if found is not None and found.order[0] == newcomer]
        assert [newcomer for newcomer in newcomers if _bin(newcomer) < front.places] == first
    assert len(seen) > 1


def _bin(member_id: str) -> int:
    """Where a map of 16 bins puts a key: Java's String.hashCode, spread as HashMap does."""
    code = 0
    for unit in member_id.encode():
        code = (31 * code + unit) & 0xFFFFFFFF
    return (code ^ code >> 16) & 15


def test_a_recorded_leader_that_has_left_tells_nothing_of_who_leads_now() -> None:
    members = in_map("a", "b")
    prediction = succession(group(*members, leader="gone-1"))
    assert prediction is not None
    assert prediction.leader is None
    assert not prediction.certain
    assert prediction.why.startswith("gone-1 led the last finished rebalance")
    assert prediction.order == tuple(peer.id for peer in members)
