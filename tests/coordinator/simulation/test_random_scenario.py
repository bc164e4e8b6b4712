"""Random scenarios: each is one that a file can have, all kinds come, and only known weaknesses break an invariant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from coordinator.faults import CoordinatorFault, FailCoordinator
from coordinator.simulation.random_scenario import NAME, random_scenario
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Event, Restart, Scenario
from coordinator.simulation.scenario_file import parse_scenario
from coordinator.simulation.scenario_text import scenario_text
from tests.support.long import cases

SEEDS = cases("KOHORT_RANDOM_SCENARIOS", 150, many=5_000)
SOME = range(1, 400)


def test_reads_back_from_its_file() -> None:
    for number in SOME:
        scenario = random_scenario(number)
        assert parse_scenario(Path("random.yaml"), scenario_text(scenario), name=NAME) == scenario
        assert random_scenario(number) == scenario


def test_everything_comes() -> None:
    scenarios = [random_scenario(number) for number in range(1, 4000)]
    events = [event for scenario in scenarios for event in scenario.events]
    scripts = [script for scenario in scenarios for script in scenario.members.values()]
    restarts = {pair for scenario in scenarios for pair in _restarts(scenario)}
    assert {type(event) for event in events} == set(get_args(Event))
    assert {event.fault for event in events if isinstance(event, FailCoordinator)} == set(CoordinatorFault)
    assert {(script.library, script.protocol) for script in scripts} == {
        (library, protocol) for library in ("java", "librdkafka") for protocol in ("classic", "consumer")
    }
    assert restarts >= {("classic", "classic"), ("classic", "consumer"), ("consumer", "classic")}
    assert {assignors for script in scripts for assignors in [script.assignors]} >= {
        ("range",), ("roundrobin",), ("sticky",), ("cooperative-sticky",), ("cooperative-sticky", "range"),
    }  # fmt: skip


def _restarts(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """From which protocol to which."""
    protocols = {name: script.protocol for name, script in scenario.members.items()}
    for event in scenario.events:
        if isinstance(event, Restart):
            yield protocols[event.member], event.script.protocol
            protocols[event.member] = event.script.protocol


def test_only_known_weaknesses_break_an_invariant() -> None:
    for number in range(1, SEEDS + 1):
        result = run(random_scenario(number), number, with_story=False)
        assert not result.is_cut
        unknown = [
            (violation.invariant, violation.at_s, violation.message)
            for violation in result.violations
            if not violation.known
        ]
        assert not unknown, f"kohort simulate random --seed {number}: {unknown}"
