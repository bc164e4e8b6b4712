"""What holds for any group: complete, disjoint, only what is subscribed to, even, deterministic."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from assignors.assignor import Assignor, Side
from assignors.broker.uniform_heterogeneous import MAXIMUM_SWEEPS
from assignors.model import Claim, DenseGroup, GroupSpec
from assignors.registry import find
from tests.assignors.groups import groups

CLIENT_RANGE, ROUND_ROBIN = find("range", Side.CLIENT), find("roundrobin", Side.CLIENT)
SERVER_RANGE, UNIFORM = find("range", Side.BROKER), find("uniform", Side.BROKER)
ALL = [CLIENT_RANGE, ROUND_ROBIN, SERVER_RANGE, UNIFORM]
Owners = dict[tuple[str, int], str]
"""Member by topic and partition number."""


unhurried = settings(suppress_health_check=[HealthCheck.too_slow])
"""A busy machine draws and assigns slowly; that is no finding."""


def _owners(assignor: Assignor, spec: GroupSpec) -> Owners:
    named = assignor.assign(DenseGroup.of(spec)).assignment.named()
    places = [(t, p, m) for m, topics in named.items() for t, numbers in topics.items() for p in numbers]
    assert max(Counter((t, p) for t, p, _ in places).values(), default=1) == 1, "a partition has two owners"
    return {(t, p): m for t, p, m in places}


def _topics(spec: GroupSpec, member: str) -> tuple[str, ...]:
    return next(m.topics for m in spec.members if m.id == member)


@pytest.mark.parametrize("assignor", ALL, ids=lambda a: f"{a.side.value}-{a.name}")
@unhurried
@given(spec=groups(owned=True))
def test_every_subscribed_partition_has_one_subscriber(assignor: Assignor, spec: GroupSpec) -> None:
    owners = _owners(assignor, spec)
    subscribed = {topic for member in spec.members for topic in member.topics}
    assert owners.keys() == {
        (t.name, p) for t in spec.topics for p in range(t.partitions) if t.name in subscribed
    }
    assert all(topic in _topics(spec, member) for (topic, _), member in owners.items())


@pytest.mark.parametrize("assignor", ALL, ids=lambda a: f"{a.side.value}-{a.name}")
@unhurried
@given(spec=groups(owned=True))
def test_the_same_group_gets_the_same_assignment(assignor: Assignor, spec: GroupSpec) -> None:
    assert _owners(assignor, spec) == _owners(assignor, spec)


@pytest.mark.parametrize("assignor", [ROUND_ROBIN, UNIFORM], ids=lambda a: a.name)
@unhurried
@given(spec=groups(owned=True, equal=True))
def test_equal_subscriptions_come_out_even(assignor: Assignor, spec: GroupSpec) -> None:
    counts = Counter({member.id: 0 for member in spec.members})
    counts.update(_owners(assignor, spec).values())
    assert max(counts.values()) - min(counts.values()) <= 1


@unhurried
@given(spec=groups(owned=True))
def test_nothing_could_move_from_the_fullest_to_the_emptiest_subscriber(spec: GroupSpec) -> None:
    """Uniform with differing subscriptions; groups this small rest long before the last sweep."""
    assert MAXIMUM_SWEEPS == 16
    owners = _owners(UNIFORM, spec)
    counts = Counter({member.id: 0 for member in spec.members})
    counts.update(owners.values())
    for (topic, _), owner in owners.items():
        least = min(counts[m.id] for m in spec.members if topic in m.topics)
        assert counts[owner] - least <= 1


@unhurried
@given(spec=groups(owned=True))
def test_a_group_that_the_broker_has_levelled_rests(spec: GroupSpec) -> None:
    owners = _owners(UNIFORM, spec)
    members = []
    for member in spec.members:
        owned: dict[str, list[int]] = {}
        for (topic, partition), owner in owners.items():
            if owner == member.id:
                owned.setdefault(topic, []).append(partition)
        members.append(replace(member, owned=Claim(partitions=owned)))
    assert _owners(UNIFORM, replace(spec, members=tuple(members))) == owners


@unhurried
@given(spec=groups(owned=True))
def test_rows_are_ascending(spec: GroupSpec) -> None:
    for assignor in ALL:
        rows = assignor.assign(DenseGroup.of(spec)).assignment.partitions
        assert all(bool((np.diff(rows[i]) > 0).all()) for i in range(len(rows)))
