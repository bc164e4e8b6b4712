"""What must hold of any sticky assignment, for members that tell the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignors.java import cooperative_sticky as cooperative
from assignors.java import sticky
from assignors.model import Claim, DenseGroup, GroupSpec, MemberSpec, Result, TopicSpec

Named = Mapping[str, Mapping[str, list[int]]]
Assign = Callable[[DenseGroup], Result]
TOPICS = ("a", "b", "c", "d")
MOST_REBALANCES = 8
BOTH = pytest.mark.parametrize("assign", [sticky.assign, cooperative.assign])


@st.composite
def groups(draw: st.DrawFn, *, equal: bool = False) -> GroupSpec:
    """Every partition belongs to at most one of its subscribers, as of one generation."""
    counts = draw(st.lists(st.integers(1, 8), min_size=1, max_size=len(TOPICS)))
    names = TOPICS[: len(counts)]
    subscription = st.lists(st.sampled_from(names), min_size=1, unique=True).map(tuple)
    ids = draw(
        st.lists(
            st.text("ab\xe9\uffee\U0001f600", min_size=1, max_size=3), min_size=1, max_size=6, unique=True
        )
    )
    members = [MemberSpec(id=id_, topics=names if equal else draw(subscription)) for id_ in ids]
    held: dict[str, dict[str, list[int]]] = {member.id: {} for member in members}
    for name, count in zip(names, counts, strict=True):
        able = [member.id for member in members if name in member.topics]
        for number in range(count):
            owner = draw(st.sampled_from([None, *able]))
            if owner is not None:
                held[owner].setdefault(name, []).append(number)
    topics = tuple(TopicSpec(name=n, partitions=c) for n, c in zip(names, counts, strict=True))
    return rejoined(GroupSpec(topics=topics, members=tuple(members)), held, 1)


def rejoined(spec: GroupSpec, held: Named, generation: int) -> GroupSpec:
    """Every member claims what it holds, in both ways."""
    members = []
    for member in spec.members:
        claim = Claim(partitions=held[member.id], generation=generation)
        members.append(replace(member, owned=claim, user_data=claim))
    return replace(spec, members=tuple(members))


def owners(named: Named) -> dict[tuple[str, int], list[str]]:
    result: dict[tuple[str, int], list[str]] = {}
    for member, topics in named.items():
        for topic, numbers in topics.items():
            for number in numbers:
                result.setdefault((topic, number), []).append(member)
    return result


def subscribed(spec: GroupSpec) -> set[tuple[str, int]]:
    wanted = {topic for member in spec.members for topic in member.topics}
    return {(t.name, p) for t in spec.topics if t.name in wanted for p in range(t.partitions)}


def named(assign: Assign, spec: GroupSpec) -> Named:
    return assign(DenseGroup.of(spec)).assignment.named()


@given(groups())
def test_sticky_gives_every_subscribed_partition_to_one_subscriber(spec: GroupSpec) -> None:
    given_to = owners(named(sticky.assign, spec))
    assert set(given_to) == subscribed(spec)
    topics_of = {member.id: member.topics for member in spec.members}
    for (topic, _), members in given_to.items():
        assert len(members) == 1
        assert topic in topics_of[members[0]]


@given(groups())
def test_cooperative_never_gives_away_what_is_owned(spec: GroupSpec) -> None:
    before = owners({m.id: {t: list(p) for t, p in m.owned.partitions.items()} for m in spec.members})
    for partition, members in owners(named(cooperative.assign, spec)).items():
        assert len(members) == 1
        assert partition not in before or members == before[partition]


@BOTH
@given(spec=groups(equal=True))
def test_equal_subscribers_differ_by_one_at_most(assign: Assign, spec: GroupSpec) -> None:
    loads = Counter({member.id: 0 for member in spec.members})
    loads.update(members[0] for members in owners(at_rest(assign, spec)).values())
    assert max(loads.values()) - min(loads.values()) <= 1


@BOTH
@given(spec=groups())
def test_no_single_move_to_a_subscriber_would_level_the_loads(assign: Assign, spec: GroupSpec) -> None:
    final = at_rest(assign, spec)
    loads = {member.id: sum(map(len, final[member.id].values())) for member in spec.members}
    for (topic, _), (owner,) in owners(final).items():
        for member in spec.members:
            if topic in member.topics:
                assert loads[owner] <= loads[member.id] + 1


@BOTH
@settings(max_examples=50)
@given(spec=groups())
def test_a_group_at_rest_stays_as_it_is(assign: Assign, spec: GroupSpec) -> None:
    final = at_rest(assign, spec)
    assert set(owners(final)) == subscribed(spec)
    assert named(assign, rejoined(spec, final, 9)) == final


def at_rest(assign: Assign, spec: GroupSpec) -> Named:
    """The assignment that a rebalance no longer changes.

    What a cooperative one withholds is given in the next, which may withhold something else: where subscriptions
    differ a third one may be needed, as with Kafka's own.
    """
    found = named(assign, spec)
    for generation in range(2, 2 + MOST_REBALANCES):
        before, found = found, named(assign, rejoined(spec, found, generation))
        if found == before:
            return found
    raise AssertionError(f"no rest after {MOST_REBALANCES} rebalances")
