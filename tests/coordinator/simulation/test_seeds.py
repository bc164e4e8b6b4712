"""Many seeds of scenarios in which much goes wrong: no invariant falls but by a known weakness of Kafka's own rules."""

from __future__ import annotations

import pytest

from coordinator.simulation import known_flaws
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
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
FLAWS = {value for name, value in vars(known_flaws).items() if name.isupper()}


@pytest.mark.parametrize(("scenario", "variant"), CASES, ids=lambda each: getattr(each, "name", ""))
def test_no_invariant_falls(scenario: Scenario, variant: Variant) -> None:
    first = int(seed("KOHORT_SIMULATION_SEED"), 16) if IS_RANDOM else 0
    for number in range(first, first + SEEDS):
        result = run(scenario, number, variant=variant, with_story=False)
        assert not result.is_cut
        assert {each.known for each in result.violations} - {""} <= FLAWS
        unknown = [(each.invariant, each.at_s, each.message) for each in result.violations if not each.known]
        assert not unknown, f"{scenario.name}, {variant.value}, seed {number}: {unknown}"
