"""Many seeds of scenarios in which much goes wrong: no invariant falls but by a known weakness of Kafka's own rules."""

from __future__ import annotations

import pytest

from coordinator.simulation import known_flaws
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.scenario_file import shipped_scenario
from tests.coordinator.simulation.scenarios import MIXED, STORM
from tests.support.chance import IS_RANDOM, seed
from tests.support.long import cases

CASES = (
    (STORM, Variant.EAGER),
    (STORM, Variant.COOPERATIVE),
    (STORM, Variant.CONSUMER),
    (MIXED, Variant.AS_WRITTEN),
)
SEEDS = cases("KOHORT_SIMULATION_SEEDS", 15, many=500)
SEEDS_OF_STANDARD = cases("KOHORT_SEEDS", 4, many=500)
FLAWS = {value for name, value in vars(known_flaws).items() if name.isupper()}


@pytest.mark.parametrize(("scenario", "variant"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_no_invariant_falls(scenario: Scenario, variant: Variant) -> None:
    first = int(seed("KOHORT_SIMULATION_SEED"), 16) if IS_RANDOM else 0
    _assert_only_known(scenario, variant, range(first, first + SEEDS))


@pytest.mark.parametrize("variant", Variant)
def test_no_invariant_falls_in_the_standard_scenario(variant: Variant) -> None:
    _assert_only_known(shipped_scenario("standard"), variant, range(1, SEEDS_OF_STANDARD + 1))


def _assert_only_known(scenario: Scenario, variant: Variant, seeds: range) -> None:
    for number in seeds:
        result = run(scenario, number, variant=variant, with_story=False)
        assert not result.is_cut
        assert {violation.known for violation in result.violations} - {""} <= FLAWS
        unknown = [
            (violation.invariant, violation.at_s, violation.message)
            for violation in result.violations
            if not violation.known
        ]
        assert not unknown, f"{scenario.name}, {variant.value}, seed {number}: {unknown}"
