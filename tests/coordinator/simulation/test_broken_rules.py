"""Without a safety rule an invariant falls (S10); with it none does."""

from __future__ import annotations

import pytest

from coordinator.simulation.broken_rules import BROKEN_RULES
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from tests.coordinator.simulation.scenarios import DUPLICATES, STORM, TWO_BOUNCES

CASES = (
    ("withhold-owned", STORM, Variant.CONSUMER, {"I1", "I2"}),
    ("revoke-before-acknowledge", STORM, Variant.CONSUMER, {"I2"}),
    ("previous-epoch-check", DUPLICATES, Variant.CONSUMER, {"I3"}),
    ("revoke-before-assign", STORM, Variant.COOPERATIVE, {"I1", "I2"}),
    ("append-before-answer", STORM, Variant.CONSUMER, {"I8"}),
    ("two-bounces", TWO_BOUNCES, Variant.AS_WRITTEN, {"I1", "I2"}),
)
SEEDS = range(60)


def fallen(scenario: Scenario, variant: Variant, seed: int, rule: str | None) -> set[str]:
    result = run(scenario, seed, variant=variant, break_rule=rule, with_story=False)
    return {violation.invariant for violation in result.violations if not violation.known}


def test_every_rule_is_tried() -> None:
    assert {rule for rule, *_ in CASES} == BROKEN_RULES.keys()


@pytest.mark.parametrize(("rule", "scenario", "variant", "expected"), CASES, ids=[case[0] for case in CASES])
def test_without_the_rule_an_invariant_falls(
    rule: str, scenario: Scenario, variant: Variant, expected: set[str]
) -> None:
    invariants: set[str] = set()
    for seed in SEEDS:
        here = fallen(scenario, variant, seed, rule)
        if here:
            assert not fallen(scenario, variant, seed, None), f"seed {seed} breaks it with the rule, too"
        invariants |= here
        if expected <= invariants:
            return
    pytest.fail(f"{sorted(expected - invariants)} did not fall")
