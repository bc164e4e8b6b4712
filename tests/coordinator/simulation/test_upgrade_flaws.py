"""Weaknesses of online upgrade and downgrade fall under their names, and a fault of the same kind does not.

That a broker does the same: `tests/conformance/scripts/migration.yaml`, and, for a rebalance that is forgotten,
`test_broker_converts_groups.py`. Real consumers show some of it: the stories upgrade-topic-deleted, downgrade-static.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest import mock

import pytest

from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.engine import downgrade, topic_changes, upgrade
from coordinator.engine.classic import rebalance
from coordinator.engine.consumer import target_assignment, update
from coordinator.errors import RequestRefused
from coordinator.simulation.known_flaws import (
    DOWNGRADE_FORGOTTEN,
    DOWNGRADED_WHILE_RECONCILING,
    DOWNGRADED_WITHOUT_LEADER,
    GONE_TAKEN_OVER,
    TOPIC_RECREATED,
    UPGRADED_WHILE_REBALANCING,
    UPGRADED_WITHOUT_TARGET,
)
from tests.coordinator.simulation.scenarios import violated
from tests.support.long import IS_LONG
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedAssignment, write_assignment

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
    assert ("I2", UPGRADED_WHILE_REBALANCING) in violated(BETWEEN_TWO_REBALANCES)


def test_after_the_second_rebalance_the_upgrade_takes_nothing() -> None:
    assert violated(BETWEEN_TWO_REBALANCES.replace("at: 44", "at: 60")) == set()


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
    assert violated(SECOND_REBALANCE) == {
        ("I1", UPGRADED_WHILE_REBALANCING),
        ("I2", UPGRADED_WHILE_REBALANCING),
    }


def test_an_upgrade_of_a_group_that_rebalances_once_takes_nothing() -> None:
    once = SECOND_REBALANCE.replace("  - {at: 25.2, start: c}\n", "")
    assert violated(once.replace("at: 26.2", "at: 25.9")) == set()


def test_an_upgrade_that_forgets_an_assignment_is_a_fault() -> None:
    def handed_out(*_arguments: Any) -> EmbeddedAssignment:
        return EmbeddedAssignment(version=0, partitions={})

    later = BETWEEN_TWO_REBALANCES.replace("at: 44", "at: 60")
    with mock.patch.object(upgrade, "_leader_assignment", handed_out):
        assert ("I2", "") in violated(later)


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
    assert violated(STATIC) == {("I4", UPGRADED_WITHOUT_TARGET)}


def test_a_static_successor_upgrades_a_group_that_is_stable() -> None:
    assert violated(STATIC.replace("at: 20.2", "at: 35")) == set()


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
    assert violated(LEFT_OUT) == {("I4", UPGRADED_WITHOUT_TARGET)}


@pytest.mark.parametrize("deleted_s", ["10", "30"])
def test_members_learn_of_topics_deleted_around_the_upgrade(deleted_s: str) -> None:
    assert violated(LEFT_OUT.replace("at: 20.5", f"at: {deleted_s}")) == set()


def test_an_upgraded_group_that_overlooks_a_topic_that_goes_is_a_fault() -> None:
    def fingerprint(*_arguments: Any) -> int:
        return 0

    with (
        mock.patch.object(upgrade, "metadata_hash", fingerprint),
        mock.patch.object(topic_changes, "metadata_hash", fingerprint),
    ):
        assert violated(LEFT_OUT.replace("at: 20.5", "at: 30")) == {("I4", "")}


def test_a_downgrade_keeps_what_the_upgrade_has_taken_over() -> None:
    back = "  - {at: 30, restart: a, with: {protocol: classic, assignors: [range]}}\nuntil"
    assert violated(STATIC.replace("until", back)) == {("I4", UPGRADED_WITHOUT_TARGET)}


def _computes(targets: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        member: {topic: numbers[:-1] for topic, numbers in partitions.items()}
        for member, partitions in targets.items()
    }


def test_a_computed_target_that_leaves_a_partition_out_is_a_fault() -> None:
    original = target_assignment.compute_target
    with mock.patch.object(update, "compute_target", lambda *arguments: _computes(original(*arguments))):
        faults = violated(STATIC.replace("instance: a", "instance: null"))
    assert faults >= {("I4", ""), ("I5", "")}


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
    assert violated(RECREATED) == {("I9", GONE_TAKEN_OVER)}


def test_the_upgrade_waits_for_the_rebalance_after_a_recreated_topic() -> None:
    assert violated(RECREATED.replace("at: 20.1", "at: 40")) == set()


def test_an_assignor_that_fails_for_another_reason_is_a_fault() -> None:
    def compute(*_arguments: Any) -> None:
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "Partitions were left unassigned")

    with mock.patch.object(update, "compute_target", compute):
        assert violated(RECREATED.replace("recreate: 1", "recreate: 2")) == {("I9", "")}


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
    assert violated(alone) == {("I4", GONE_TAKEN_OVER)}


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
    assert violated(text, *range(1, 6 if IS_LONG else 2)) == {
        ("I4", GONE_TAKEN_OVER),
        ("I9", GONE_TAKEN_OVER),
    }


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
    assert violated(text) == {("I1", TOPIC_RECREATED), ("I2", TOPIC_RECREATED), ("I7", TOPIC_RECREATED)}


DOWNGRADED = """\
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
REBALANCED = DOWNGRADED.replace("  - {at: 20,", "  - {at: 15, start: b}\n  - {at: 40,")


@pytest.mark.parametrize("change", ["partitions: 4", "recreate: 1"])
def test_no_member_watches_the_topics_after_a_downgrade(change: str) -> None:
    assert violated(DOWNGRADED.replace("partitions: 4", change)) == {("I4", DOWNGRADED_WITHOUT_LEADER)}


def test_somebody_does_after_the_next_rebalance() -> None:
    assert violated(REBALANCED) == set()


def test_a_leader_that_ignores_topics_after_a_downgrade_is_a_fault() -> None:
    with mock.patch.object(ClassicConsumer, "_sees_change", return_value=False):
        assert violated(REBALANCED) == {("I4", "")}


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
    assert violated(WAITING) == {("I4", DOWNGRADED_WHILE_RECONCILING)}


def test_a_member_that_has_its_partitions_keeps_them_after_a_downgrade() -> None:
    assert violated(WAITING.replace("at: 20.5", "at: 40")) == set()


def test_a_downgrade_that_does_not_keep_what_is_assigned_is_a_fault() -> None:
    nothing = write_assignment(EmbeddedAssignment(version=0, partitions={}))
    with mock.patch.object(downgrade, "_assignment", return_value=nothing):
        assert ("I4", "") in violated(WAITING.replace("at: 20.5", "at: 40"))


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
    assert violated(LEAVING) == {("I4", DOWNGRADE_FORGOTTEN)}


@pytest.mark.parametrize("text", [WITHOUT_FAIL_OVER, LEAVING.replace("at: 41.1", "at: 50")])
def test_a_downgraded_group_rebalances(text: str) -> None:
    assert violated(text) == set()


def test_a_coordinator_must_rebalance_after_a_downgrade() -> None:
    with mock.patch.object(rebalance, "prepare"):
        assert violated(WITHOUT_FAIL_OVER) == {("I4", "")}
        assert violated(LEAVING) == {("I4", "")}
