"""What a downgrade leaves undone has a name, and nothing else of the kind.

Real consumers show that no member watches the topics: the story downgrade-static. For members that wait, see
`tests/conformance/scripts/migration.yaml`; for a rebalance that is forgotten, `test_broker_converts_groups.py`.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from coordinator.consumer.classic_member import ClassicMember
from coordinator.engine import downgrade
from coordinator.engine.classic import rebalance
from coordinator.simulation.known_flaws import (
    DOWNGRADE_FORGOTTEN,
    DOWNGRADED_WHILE_RECONCILING,
    DOWNGRADED_WITHOUT_LEADER,
)
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario
from wire.messages.embedded_protocol import EmbeddedAssignment, write_assignment

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
    result = run(parse_scenario(Path("downgraded.yaml"), text), 1, with_story=False)
    return {(each.invariant, each.known) for each in result.violations}


@pytest.mark.parametrize("change", ["partitions: 4", "recreate: 1"])
def test_no_member_watches_the_topics_after_a_downgrade(change: str) -> None:
    assert _found(STATIC.replace("partitions: 4", change)) == {("I4", DOWNGRADED_WITHOUT_LEADER)}


def test_somebody_does_after_the_next_rebalance() -> None:
    assert _found(REBALANCED) == set()


def test_a_leader_that_does_not_look_is_a_fault() -> None:
    with mock.patch.object(ClassicMember, "_sees_change", return_value=False):
        assert _found(REBALANCED) == {("I4", "")}


WAITING = """\
kohort: 1
topics: {orders: 3}
members:
  a: {protocol: consumer, topics: [orders], instance: a}
  b: {assignors: [cooperative-sticky], topics: [orders]}
events:
  - {at: 0, start: a}
  - {at: 20, start: b}
  - {at: 20.5, restart: a, with: {protocol: classic, assignors: [cooperative-sticky]}}
until: 60
"""


def test_a_member_that_waits_is_not_notified_after_a_downgrade() -> None:
    assert _found(WAITING) == {("I4", DOWNGRADED_WHILE_RECONCILING)}


def test_a_member_that_has_its_partitions_keeps_them_after_a_downgrade() -> None:
    assert _found(WAITING.replace("at: 20.5", "at: 40")) == set()


def test_a_downgrade_that_does_not_keep_what_is_assigned_is_a_fault() -> None:
    nothing = write_assignment(EmbeddedAssignment(version=0, partitions={}))
    with mock.patch.object(downgrade, "_assignment", return_value=nothing):
        assert ("I4", "") in _found(WAITING.replace("at: 20.5", "at: 40"))


LEAVING = """\
kohort: 1
topics: {orders: 3}
members:
  a: {protocol: consumer, topics: [orders]}
  b: {assignors: [cooperative-sticky], topics: [orders]}
events:
  - {at: 0, start: a}
  - {at: 1, start: b}
  - {at: 41, close: a}
  - {at: 41.1, coordinator: move, for: 0.1}
until: 60
"""
WITHOUT_FAIL_OVER = LEAVING.replace("  - {at: 41.1, coordinator: move, for: 0.1}\n", "")


def test_a_fail_over_forgets_that_a_downgraded_group_is_to_rebalance() -> None:
    assert _found(LEAVING) == {("I4", DOWNGRADE_FORGOTTEN)}


@pytest.mark.parametrize("text", [WITHOUT_FAIL_OVER, LEAVING.replace("at: 41.1", "at: 50")])
def test_a_downgraded_group_rebalances(text: str) -> None:
    assert _found(text) == set()


def test_a_coordinator_must_rebalance_after_a_downgrade() -> None:
    with mock.patch.object(rebalance, "prepare"):
        assert _found(WITHOUT_FAIL_OVER) == {("I4", "")}
        assert _found(LEAVING) == {("I4", "")}
