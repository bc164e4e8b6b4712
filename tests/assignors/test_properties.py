"""Properties of any group: complete, disjoint, only subscribed topics, even, deterministic; a settled group stays."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assignors.assignor import Assignor, Leader, Side
from assignors.errors import AssignorFailedError
from assignors.model import DenseGroup, GroupSpec, Partitions
from assignors.registry import find
from tests.assignors.groups import groups, holding

RANGE, ROUND_ROBIN, STICKY, COOPERATIVE = (
    find(name, Side.CLIENT) for name in ("range", "roundrobin", "sticky", "cooperative-sticky")
)
BROKERS_RANGE, UNIFORM = find("range", Side.BROKER), find("uniform", Side.BROKER)
LIBRDKAFKAS = [
    find(name, Side.CLIENT, Leader.LIBRDKAFKA) for name in ("range", "roundrobin", "cooperative-sticky")
]
COMPLETE = [RANGE, ROUND_ROBIN, STICKY, BROKERS_RANGE, UNIFORM, *LIBRDKAFKAS[:2]]
"""Those that give out everything at once."""
MOST_REBALANCES = 8

Owners = dict[tuple[str, int], str]
"""Member by topic and partition number."""

unhurried = settings(suppress_health_check=[HealthCheck.too_slow])
"""A busy machine draws and assigns slowly; that is no finding."""


def _name(assignor: Assignor) -> str:
    return f"{assignor.leader.value if assignor.leader else 'broker'}-{assignor.name}"


def _owners(named: Mapping[str, Partitions]) -> Owners:
    places = [(t, p, m) for m, topics in named.items() for t, numbers in topics.items() for p in numbers]
    assert max(Counter((t, p) for t, p, _ in places).values(), default=1) == 1, "a partition has two owners"
    return {(t, p): m for t, p, m in places}


def _assigned(assignor: Assignor, spec: GroupSpec) -> Mapping[str, Partitions]:
    return assignor.assign(DenseGroup.of(spec)).assignment.named()


def _rejoined(spec: GroupSpec, held: Mapping[str, Partitions], generation: int) -> GroupSpec:
    members = tuple(holding(member, held[member.id], generation) for member in spec.members)
    return replace(spec, members=members)


def _settled(assignor: Assignor, spec: GroupSpec) -> Mapping[str, Partitions]:
    """The assignment that a rebalance no longer changes. What a cooperative one withholds is given in the next, which
    may withhold something else: where subscriptions differ a third one may be needed, as with Kafka's own."""
    assignment = _assigned(assignor, spec)
    for generation in range(2, 2 + MOST_REBALANCES):
        before, assignment = assignment, _assigned(assignor, _rejoined(spec, assignment, generation))
        if assignment == before:
            return assignment
    raise AssertionError(f"no rest after {MOST_REBALANCES} rebalances")


def _subscribed(spec: GroupSpec) -> set[tuple[str, int]]:
    topics = {topic for member in spec.members for topic in member.topics}
    return {(t.name, p) for t in spec.topics if t.name in topics for p in range(t.partitions)}


def _loads(spec: GroupSpec, owners: Owners) -> Counter[str]:
    counts = Counter({member.id: 0 for member in spec.members})
    counts.update(owners.values())
    return counts


def _check_complete(spec: GroupSpec, owners: Owners) -> None:
    topics_of = {member.id: member.topics for member in spec.members}
    assert owners.keys() == _subscribed(spec)
    assert all(topic in topics_of[member] for (topic, _), member in owners.items())


def _group(assignor: Assignor, data: st.DataObject) -> GroupSpec:
    """Java's sticky assignors may overlook that a member without topics is no subscriber: not those."""
    return data.draw(groups(owned=True, idle=assignor not in (STICKY, COOPERATIVE)))


@pytest.mark.parametrize("assignor", COMPLETE, ids=_name)
@unhurried
@given(data=st.data())
def test_every_subscribed_partition_has_one_subscriber(assignor: Assignor, data: st.DataObject) -> None:
    spec = _group(assignor, data)
    named = _assigned(assignor, spec)
    _check_complete(spec, _owners(named))
    assert _assigned(assignor, spec) == named
    rows = assignor.assign(DenseGroup.of(spec)).assignment.partitions
    assert all(bool((np.diff(rows[i]) > 0).all()) for i in range(len(rows)))


@pytest.mark.parametrize("assignor", [COOPERATIVE, LIBRDKAFKAS[2]], ids=_name)
@unhurried
@given(spec=groups(owned=True))
def test_cooperative_never_reassigns_owned_partitions(assignor: Assignor, spec: GroupSpec) -> None:
    before = _owners({member.id: member.owned.partitions for member in spec.members})
    try:
        result = assignor.assign(DenseGroup.of(spec))
    except AssignorFailedError:
        return
    for partition, owner in _owners(result.assignment.named()).items():
        assert before.get(partition, owner) == owner


@pytest.mark.parametrize("assignor", [ROUND_ROBIN, UNIFORM, STICKY, COOPERATIVE], ids=_name)
@unhurried
@given(spec=groups(owned=True, equal=True))
def test_equal_subscriptions_give_even_loads(assignor: Assignor, spec: GroupSpec) -> None:
    counts = _loads(spec, _owners(_settled(assignor, spec)))
    assert max(counts.values()) - min(counts.values()) <= 1


@pytest.mark.parametrize("assignor", [UNIFORM, STICKY, COOPERATIVE], ids=_name)
@unhurried
@given(data=st.data())
def test_no_single_move_would_level_the_loads_of_a_settled_group(
    assignor: Assignor, data: st.DataObject
) -> None:
    """Also with differing subscriptions; groups this small rest long before uniform's last sweep."""
    spec = _group(assignor, data)
    final = _settled(assignor, spec)
    owners = _owners(final)
    _check_complete(spec, owners)
    counts = _loads(spec, owners)
    for (topic, _), owner in owners.items():
        assert counts[owner] - min(counts[m.id] for m in spec.members if topic in m.topics) <= 1
    assert _assigned(assignor, _rejoined(spec, final, 99)) == final


@unhurried
@given(spec=groups(owned=True))
def test_uniform_rests_at_once(spec: GroupSpec) -> None:
    named = _assigned(UNIFORM, spec)
    assert _assigned(UNIFORM, _rejoined(spec, named, 2)) == named
