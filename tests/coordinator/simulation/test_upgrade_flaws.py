"""Weaknesses of the online upgrade fall under their names, and a fault of the same kind does not.

That a broker does the same: `tests/conformance/scripts/migration.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from coordinator.engine import topic_changes, upgrade
from coordinator.engine.consumer import target_assignment, update
from coordinator.errors import RequestRefused
from coordinator.simulation.known_flaws import (
    GONE_TAKEN_OVER,
    TOPIC_RECREATED,
    UPGRADED_WHILE_REBALANCING,
    UPGRADED_WITHOUT_TARGET,
)
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario
from tests.support.long import IS_LONG
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedAssignment


def _found(text: str, seeds: int = 5) -> set[tuple[str, str]]:
    scenario = parse_scenario(Path("upgraded.yaml"), text)
    return {
        (each.invariant, each.known)
        for seed in range(1, seeds + 1)
        for each in run(scenario, seed, with_story=False).violations
    }


BETWEEN_TWO_REBALANCES = """\
kohort: 1
topics: {orders: 6}
members:
  a: &slow {assignors: [cooperative-sticky], topics: [orders], listener: {revoked: {takes: 4}}}
  b: *slow
  c: {assignors: [cooperative-sticky], topics: [orders]}
  d: {protocol: consumer, topics: [orders]}
events:
  - {at: 0, start: a}
  - {at: 1, start: b}
  - {at: 40, start: c}
  - {at: 44, start: d}
until: 80
"""


def test_the_upgrade_gives_on_what_a_listener_has_not_given_up() -> None:
    assert ("I2", UPGRADED_WHILE_REBALANCING) in _found(BETWEEN_TWO_REBALANCES)


def test_after_the_second_rebalance_the_upgrade_takes_nothing() -> None:
    assert _found(BETWEEN_TWO_REBALANCES.replace("at: 44", "at: 60")) == set()


# A message takes half a second. At 26.5 a and b have joined generation 2. The leader's assignment would arrive at 27.5,
# c's JoinGroup does before it, and d's heartbeat before a has joined again.
SECOND_REBALANCE = """\
kohort: 1
topics: {orders: 6}
members:
  a: &classic {assignors: [cooperative-sticky], topics: [orders]}
  b: *classic
  c: {assignors: [cooperative-sticky], topics: [orders], instance: c}
  d: {protocol: consumer, topics: [orders]}
events:
  - {at: 0, start: a}
  - {at: 20, start: b}
  - {at: 25.2, start: c}
  - {at: 26.2, start: d}
faults: {delay_ms: [500, 500]}
until: 60
"""


def test_the_upgrade_gives_on_what_a_second_rebalance_has_cleared() -> None:
    assert _found(SECOND_REBALANCE) == {
        ("I1", UPGRADED_WHILE_REBALANCING),
        ("I2", UPGRADED_WHILE_REBALANCING),
    }


def test_an_upgrade_of_a_group_that_rebalances_once_takes_nothing() -> None:
    once = SECOND_REBALANCE.replace("  - {at: 25.2, start: c}\n", "")
    assert _found(once.replace("at: 26.2", "at: 25.9")) == set()


def test_an_upgrade_that_forgets_an_assignment_is_a_fault() -> None:
    def handed_out(*_arguments: Any) -> EmbeddedAssignment:
        return EmbeddedAssignment(version=0, partitions={})

    later = BETWEEN_TWO_REBALANCES.replace("at: 44", "at: 60")
    with mock.patch.object(upgrade, "_leader_assignment", handed_out):
        assert ("I2", "") in _found(later)


STATIC = """\
kohort: 1
topics: {orders: 6, payments: 2}
members:
  a: {assignors: [range], topics: [orders], instance: a}
  b: {assignors: [range], topics: [orders, payments]}
events:
  - {at: 0, start: a}
  - {at: 20, start: b}
  - {at: 20.2, restart: a, with: {protocol: consumer, assignors: null}}
until: 40
"""


def test_a_static_replacement_upgrades_without_targets_for_joined() -> None:
    assert _found(STATIC) == {("I4", UPGRADED_WITHOUT_TARGET)}


def test_a_static_successor_upgrades_a_group_that_is_stable() -> None:
    assert _found(STATIC.replace("at: 20.2", "at: 35")) == set()


LEFT_OUT = """\
kohort: 1
topics: {orders: 2, payments: 2}
members:
  a: {instance: a, assignors: [range], topics: [orders, payments],
      config: {metadata.max.age.ms: 5000, enable.auto.commit: false}}
  b: {assignors: [range], topics: [orders, payments],
      config: {metadata.max.age.ms: 5000, enable.auto.commit: false}}
events:
  - {at: 0, start: a}
  - {at: 0.1, start: b}
  - {at: 20, restart: a, after: 1, with: {protocol: consumer, assignors: null}}
  - {at: 20.5, topic: payments, delete: true}
until: 60
"""


def test_an_upgrade_by_a_static_replacement_omits_deleted_topics() -> None:
    """Real consumers show it: the story upgrade-topic-deleted."""
    assert _found(LEFT_OUT) == {("I4", UPGRADED_WITHOUT_TARGET)}


@pytest.mark.parametrize("deleted_s", ["10", "30"])
def test_members_learn_of_topics_deleted_around_the_upgrade(deleted_s: str) -> None:
    assert _found(LEFT_OUT.replace("at: 20.5", f"at: {deleted_s}")) == set()


def test_an_upgraded_group_that_overlooks_a_topic_that_goes_is_a_fault() -> None:
    def fingerprint(*_arguments: Any) -> int:
        return 0

    with (
        mock.patch.object(upgrade, "metadata_hash", fingerprint),
        mock.patch.object(topic_changes, "metadata_hash", fingerprint),
    ):
        assert _found(LEFT_OUT.replace("at: 20.5", "at: 30")) == {("I4", "")}


def test_a_downgrade_keeps_what_the_upgrade_has_taken_over() -> None:
    back = "  - {at: 30, restart: a, with: {protocol: classic, assignors: [range]}}\nuntil"
    assert _found(STATIC.replace("until", back)) == {("I4", UPGRADED_WITHOUT_TARGET)}


def _computes(targets: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        member: {topic: numbers[:-1] for topic, numbers in partitions.items()}
        for member, partitions in targets.items()
    }


def test_a_computed_target_that_leaves_a_partition_out_is_a_fault() -> None:
    original = target_assignment.compute_target
    with mock.patch.object(update, "compute_target", lambda *arguments: _computes(original(*arguments))):
        found = _found(STATIC.replace("instance: a", "instance: null"))
    assert found >= {("I4", ""), ("I5", "")}


RECREATED = """\
kohort: 1
topics: {orders: 2}
members:
  a: &classic {assignors: [range], topics: [orders], config: {metadata.max.age.ms: 5000, enable.auto.commit: false}}
  b: *classic
  c: {protocol: consumer, topics: [orders]}
events:
  - {at: 0, start: a}
  - {at: 0, start: b}
  - {at: 20, topic: orders, recreate: 1}
  - {at: 20.1, start: c}
until: 60
"""


def test_no_target_is_computed_with_partitions_that_are_gone() -> None:
    assert _found(RECREATED) == {("I9", GONE_TAKEN_OVER)}


def test_the_upgrade_waits_for_the_rebalance_after_a_recreated_topic() -> None:
    assert _found(RECREATED.replace("at: 20.1", "at: 40")) == set()


def test_an_assignor_that_fails_for_another_reason_is_a_fault() -> None:
    def compute(*_arguments: Any) -> None:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "Partitions were left unassigned")

    with mock.patch.object(update, "compute_target", compute):
        assert _found(RECREATED.replace("recreate: 1", "recreate: 2")) == {("I9", "")}


def test_a_static_successor_takes_over_a_partition_that_is_gone() -> None:
    alone = """\
kohort: 1
topics: {orders: 2}
members:
  a: {assignors: [range], topics: [orders], instance: a, config: {enable.auto.commit: false}}
events:
  - {at: 0, start: a}
  - {at: 20, topic: orders, recreate: 1}
  - {at: 20, restart: a, with: {protocol: consumer, assignors: null}}
until: 40
"""
    assert _found(alone) == {("I4", GONE_TAKEN_OVER)}


def test_a_classic_member_cannot_join_where_a_partition_is_gone() -> None:
    text = """\
kohort: 1
topics: {orders: 3}
members:
  a: &classic {assignors: [cooperative-sticky], topics: [orders], config: {enable.auto.commit: false}}
  b: *classic
  d: {assignors: [cooperative-sticky], topics: [orders], instance: d, config: {enable.auto.commit: false}}
events:
  - {at: 0, start: a}
  - {at: 0, start: d}
  - {at: 20, topic: orders, recreate: 1}
  - {at: 20, restart: d, with: {protocol: consumer, assignors: null}}
  - {at: 25, start: b}
until: 40
"""
    # Its members ask again and again: a seed takes seconds.
    assert _found(text, seeds=5 if IS_LONG else 1) == {("I4", GONE_TAKEN_OVER), ("I9", GONE_TAKEN_OVER)}


def test_an_assignment_under_way_names_partitions_of_the_topic_before() -> None:
    """A message takes half a second: the topic is recreated while the answer to SyncGroup is in flight."""
    text = """\
kohort: 1
topics: {orders: 6}
members:
  a: {assignors: [cooperative-sticky], topics: [orders]}
  b: {protocol: consumer, topics: [orders]}
events:
  - {at: 0, start: a}
  - {at: 5.1, start: b}
  - {at: 6.8, topic: orders, recreate: 6}
faults: {delay_ms: [500, 500]}
until: 40
"""
    assert _found(text) == {("I1", TOPIC_RECREATED), ("I2", TOPIC_RECREATED), ("I7", TOPIC_RECREATED)}
