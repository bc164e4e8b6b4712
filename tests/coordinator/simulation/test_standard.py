"""The standard scenario, from a few seeds: what breaks an invariant is a known weakness of Kafka's rules."""

import pytest

from coordinator.simulation.run import run
from coordinator.simulation.scenario import Variant
from coordinator.simulation.scenario_file import shipped_scenario
from tests.support.long import cases

SEEDS = cases("KOHORT_SEEDS", 4, many=500)


@pytest.mark.parametrize("variant", Variant)
def test_only_known_weaknesses_break_an_invariant(variant: Variant) -> None:
    scenario = shipped_scenario("standard")
    found = {
        (seed, each.invariant, each.message)
        for seed in range(1, SEEDS + 1)
        for each in run(scenario, seed, variant=variant, with_story=False).violations
        if not each.known
    }
    assert found == set()
