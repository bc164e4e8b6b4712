"""A static member that joins too late has what others were given meanwhile.

Real consumers show it: the story static-misses-rebalance.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.simulation.known_flaws import MISSED_REBALANCE
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario

MISSED = """\
kohort: 1
topics: {orders: 3, payments: 1}
settings: {group.initial.rebalance.delay.ms: 0}
members:
  a:
    assignors: [cooperative-sticky]
    topics: [orders, payments]
    config:
      {heartbeat.interval.ms: 500, max.poll.interval.ms: 15000, metadata.max.age.ms: 1000, enable.auto.commit: false}
  c:
    assignors: [cooperative-sticky]
    topics: [orders, payments]
    instance: c
    config:
      {heartbeat.interval.ms: 6000, max.poll.interval.ms: 15000, metadata.max.age.ms: 1000, enable.auto.commit: true}
events:
  - {at: 0, start: a}
  - {at: 3, start: c}
  - {at: 6, topic: payments, partitions: 3}
  - {at: 19, topic: orders, delete: true}
until: 50
"""


def _found(text: str) -> set[tuple[str, str]]:
    result = run(parse_scenario(Path("missed.yaml"), text), 1, with_story=False)
    return {(each.invariant, each.known) for each in result.violations}


def test_two_own_what_it_got_since_it_joined_last() -> None:
    assert _found(MISSED) == {("I1", MISSED_REBALANCE)}


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("    instance: c\n", ""),  # it is removed, and loses everything when it joins
        ("enable.auto.commit: true", "enable.auto.commit: false"),  # it joins in time
        (
            "{at: 6, topic: payments, partitions: 3}",
            "{at: 6, enforce_rebalance: a}",
        ),  # it claimed all that it has
        ("{at: 19, topic", "{at: 22, topic"),  # a heartbeat with_story it
    ],
)
def test_no_member_is_assigned_what_another_owns_otherwise(part: str, other: str) -> None:
    assert part in MISSED
    assert _found(MISSED.replace(part, other)) == set()
