"""A downgrade by a static member leaves nobody who looks at the topics: that has a name, and nothing else of the kind.

Real consumers show it: the story downgrade-static.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from coordinator.consumer.classic_member import ClassicMember
from coordinator.simulation.known_flaws import DOWNGRADED_WITHOUT_LEADER
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario

STATIC = """\
kohort: 1
topics: {orders: 2}
members:
  a: {protocol: consumer, topics: [orders], instance: a}
  b: {assignors: [range], topics: [orders], config: {metadata.max.age.ms: 5000}}
events:
  - {at: 0, start: a}
  - {at: 10, restart: a, with: {protocol: classic, assignors: [range], config: {metadata.max.age.ms: 5000}}}
  - {at: 20, topic: orders, partitions: 4}
until: 60
"""
REBALANCED = STATIC.replace("  - {at: 20,", "  - {at: 15, start: b}\n  - {at: 40,")


def _found(text: str) -> set[tuple[str, str]]:
    result = run(parse_scenario(Path("downgraded.yaml"), text), 1, tells=False)
    return {(each.invariant, each.known) for each in result.violations}


@pytest.mark.parametrize("change", ["partitions: 4", "recreate: 1"])
def test_nobody_looks_at_the_topics_after_a_downgrade(change: str) -> None:
    assert _found(STATIC.replace("partitions: 4", change)) == {("I4", DOWNGRADED_WITHOUT_LEADER)}


def test_somebody_does_after_the_next_rebalance() -> None:
    assert _found(REBALANCED) == set()


def test_a_leader_that_does_not_look_is_a_fault() -> None:
    with mock.patch.object(ClassicMember, "_sees_change", return_value=False):
        assert _found(REBALANCED) == {("I4", "")}
