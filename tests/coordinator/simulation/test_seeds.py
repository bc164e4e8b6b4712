"""Many seeds of scenarios, random or with all that goes wrong: only known weaknesses break an invariant."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from coordinator.faults import CoordinatorFault, FailCoordinator
from coordinator.simulation import known_flaws
from coordinator.simulation.random_scenario import NAME, random_scenario
from coordinator.simulation.run import run
from coordinator.simulation.scenario import ChangeState, Event, Restart, Scenario, Variant
from coordinator.simulation.scenario_file import parse_scenario, shipped_scenario
from coordinator.simulation.scenario_text import scenario_text
from tests.coordinator.simulation.scenarios import MIXED, STORM
from tests.support.chance import IS_RANDOM, seed
from tests.support.long import cases

SEEDS = cases("KOHORT_RANDOM_SCENARIOS", 80, many=5_000)
STORMS = cases("KOHORT_SIMULATION_SEEDS", 8, many=500)
STANDARDS = cases("KOHORT_SEEDS", 2, many=500)
SOME = range(1, 400)
FLAWS = {value for name, value in vars(known_flaws).items() if name.isupper()}
CASES = (
    (STORM, Variant.EAGER),
    (STORM, Variant.COOPERATIVE),
    (STORM, Variant.CONSUMER),
    (MIXED, Variant.AS_WRITTEN),
)


def test_reads_back_from_its_file() -> None:
    for number in SOME:
        scenario = random_scenario(number)
        assert parse_scenario(Path("random.yaml"), scenario_text(scenario), name=NAME) == scenario
        assert random_scenario(number) == scenario


@pytest.mark.parametrize(
    ("number", "variant"),
    [(1018, Variant.COOPERATIVE), (4606, Variant.AS_WRITTEN), (19006, Variant.AS_WRITTEN)],
)
def test_a_member_outside_poll_waits_until_it_may_rejoin(number: int, variant: Variant) -> None:
    """A member of librdkafka whose topic was deleted meanwhile: without that it asks itself for ever."""
    assert run(random_scenario(number), number, variant=variant).violations == ()


def test_everything_comes() -> None:
    scenarios = [random_scenario(number) for number in range(1, 4000)]
    events = [event for scenario in scenarios for event in scenario.events]
    scripts = [script for scenario in scenarios for script in scenario.members.values()]
    restarts = {pair for scenario in scenarios for pair in _restarts(scenario)}
    # Only custom assignors read a member's state, and none is installed.
    assert {type(event) for event in events} == set(get_args(Event)) - {ChangeState}
    assert {event.fault for event in events if isinstance(event, FailCoordinator)} == set(CoordinatorFault)
    assert {(script.library, script.protocol) for script in scripts} == {
        (library, protocol) for library in ("java", "librdkafka") for protocol in ("classic", "consumer")
    }
    assert restarts >= {("classic", "classic"), ("classic", "consumer"), ("consumer", "classic")}
    assert {assignors for script in scripts for assignors in [script.assignors]} >= {
        ("range",),
        ("roundrobin",),
        ("sticky",),
        ("cooperative-sticky",),
        ("cooperative-sticky", "range"),
    }


def _restarts(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """From which protocol to which."""
    protocols = {name: script.protocol for name, script in scenario.members.items()}
    for event in scenario.events:
        if isinstance(event, Restart):
            yield protocols[event.member], event.script.protocol
            protocols[event.member] = event.script.protocol


@pytest.mark.parametrize(("scenario", "variant"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_no_invariant_falls(scenario: Scenario, variant: Variant) -> None:
    first = int(seed("KOHORT_SIMULATION_SEED"), 16) if IS_RANDOM else 0
    for number in range(first, first + STORMS):
        _assert_only_known(scenario, number, variant)


@pytest.mark.parametrize("variant", Variant)
def test_no_invariant_falls_in_the_standard_scenario(variant: Variant) -> None:
    for number in range(1, STANDARDS + 1):
        _assert_only_known(shipped_scenario("standard"), number, variant)


def test_only_known_weaknesses_break_an_invariant_of_random_scenarios() -> None:
    for number in range(1, SEEDS + 1):
        _assert_only_known(random_scenario(number), number)


def _assert_only_known(scenario: Scenario, number: int, variant: Variant = Variant.AS_WRITTEN) -> None:
    result = run(scenario, number, variant=variant, with_story=False)
    assert not result.is_cut
    assert {violation.known for violation in result.violations} - {""} <= FLAWS
    unknown = [
        (violation.invariant, violation.at_s, violation.message)
        for violation in result.violations
        if not violation.known
    ]
    assert not unknown, f"{scenario.name}, {variant.value}, seed {number}: {unknown}"
