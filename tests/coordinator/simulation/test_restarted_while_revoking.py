"""A static member that ends between the two rebalances of the cooperative protocol leaves partitions without an owner.

Real consumers show it: the story static-killed-while-revoking.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.simulation.known_flaws import RESTARTED_WHILE_REVOKING
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import parse_scenario

KILLED = """\
kohort: 1
topics: {orders: 4}
members:
  a: {library: java, assignors: [cooperative-sticky], topics: [orders], instance: a, listener: {revoked: {takes: 4}}}
  b: {assignors: [cooperative-sticky], topics: [orders], instance: b}
events:
  - {at: 0, start: a}
  - {at: 10, start: b}
  - {at: 15, restart: a, kill: true}
until: 60
"""


def _found(text: str) -> set[tuple[str, str]]:
    result = run(parse_scenario(Path("killed.yaml"), text), 1, with_story=False)
    return {(each.invariant, each.known) for each in result.violations}


@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_what_it_was_to_give_up_has_no_owner(library: str) -> None:
    assert _found(KILLED.replace("library: java", f"library: {library}")) == {
        ("I4", RESTARTED_WHILE_REVOKING)
    }


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("cooperative-sticky", "range"),  # nothing is held back for a second rebalance
        ("instance: a, ", ""),  # a member that leaves makes the group rebalance
        ("{at: 15, restart: a", "{at: 25, restart: a"),  # the second rebalance is over
    ],
)
def test_other_restarts_do_no_harm(part: str, other: str) -> None:
    assert part in KILLED
    assert _found(KILLED.replace(part, other)) == set()
