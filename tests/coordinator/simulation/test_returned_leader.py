"""What a static leader missed while it was away has a name; what it does not notice later has none.

Real consumers show it: the story static-leader-returns.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from coordinator.consumer.classic_member import ClassicMember
from coordinator.simulation.known_flaws import RETURNED_LEADER
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario

STATIC_LEAVE_EPOCH = """\
kohort: 1
topics: {orders: 2}
members:
  a: {library: java, assignors: [range], topics: [orders], instance: a, config: {metadata.max.age.ms: 5000}}
events:
  - {at: 0, start: a}
  - {at: 20, restart: a, after: 5}
  - {at: 22, topic: orders, partitions: 4}
until: 60
"""
LATER = STATIC_LEAVE_EPOCH.replace("at: 22", "at: 30")


def _found(text: str) -> set[tuple[str, str]]:
    result = run(parse_scenario(Path("away.yaml"), text), 1, with_story=False)
    return {(each.invariant, each.known) for each in result.violations}


@pytest.mark.parametrize("change", ["partitions: 4", "recreate: 1"])
@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_changes_while_the_leader_was_away_go_unnoticed(library: str, change: str) -> None:
    text = STATIC_LEAVE_EPOCH.replace("library: java", f"library: {library}").replace("partitions: 4", change)
    assert _found(text) == {("I4", RETURNED_LEADER)}


# A message takes half a second. The leader's second JoinGroup is answered at 27.5, and it hears so at 28.
UNDER_WAY = STATIC_LEAVE_EPOCH.replace("until", "faults: {delay_ms: [500, 500]}\nuntil").replace(
    "at: 22", "at: 27.7"
)


def test_what_the_leader_finds_is_what_it_sees_when_it_hears_that_it_leads() -> None:
    assert _found(UNDER_WAY.replace("partitions: 4", "recreate: 4")) == {("I4", RETURNED_LEADER)}


# The leader assigns at 5, its assignment arrives at 5.5, and it looks at the topics at 5.2.
ASSIGNING = """\
kohort: 1
topics: {orders: 2}
members:
  a: {assignors: [range], topics: [orders], instance: a, config: {metadata.max.age.ms: 5200}}
events:
  - {at: 0, start: a}
  - {at: 5.1, topic: orders, partitions: 4}
  - {at: 5.6, restart: a, kill: true}
faults: {delay_ms: [500, 500]}
until: 60
"""


def test_what_the_leader_has_assigned_is_what_it_saw_before() -> None:
    assert _found(ASSIGNING) == {("I4", RETURNED_LEADER)}


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_what_changes_after_the_return_is_noticed(library: str) -> None:
    assert _found(LATER.replace("library: java", f"library: {library}")) == set()


@pytest.mark.parametrize("text", [LATER, LATER.replace("  - {at: 20, restart: a, after: 5}\n", "")])
def test_a_leader_that_does_not_look_is_a_fault(text: str) -> None:
    with mock.patch.object(ClassicMember, "_sees_change", return_value=False):
        assert _found(text) == {("I4", "")}
