"""A group that is upgraded between the two rebalances of the cooperative protocol gives away what is still owned."""

from dataclasses import replace
from pathlib import Path

from coordinator.simulation.known_flaws import UPGRADED_WHILE_REVOKING
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario
from coordinator.simulation.scenario_file import parse_scenario

SCENARIO = parse_scenario(
    Path("upgraded.yaml"),
    """\
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
""",
)


def _found(scenario: Scenario) -> set[tuple[str, str]]:
    return {
        (each.invariant, each.known)
        for seed in range(1, 6)
        for each in run(scenario, seed, tells=False).violations
    }


def test_the_upgrade_gives_on_what_a_listener_has_not_given_up() -> None:
    assert ("I2", UPGRADED_WHILE_REVOKING) in _found(SCENARIO)


def test_after_the_second_rebalance_the_upgrade_takes_nothing() -> None:
    later = [replace(event, at=60.0) if event.member == "d" else event for event in SCENARIO.events]  # type: ignore[union-attr]
    assert _found(replace(SCENARIO, events=tuple(later))) == set()
