"""A failing scenario is made smaller, and still fails in the same way."""

from __future__ import annotations

import pytest

from coordinator.simulation.result import Result, Violation
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.shrink import shrink
from tests.coordinator.simulation.scenarios import STORM

RULE = "revoke-before-assign"


def play(scenario: Scenario, seed: int) -> Result:
    return run(scenario, seed, variant=Variant.COOPERATIVE, break_rule=RULE)


def test_what_is_left_are_two_members_that_start() -> None:
    fallen = next(each for each in play(STORM, 0).violations if each.invariant == "I2")
    smaller, result = shrink(STORM, 0, fallen, play)
    assert len(smaller.members) == 2
    assert len(smaller.events) == 2
    assert smaller.faults.loss == 0
    assert not smaller.faults.partitions
    again = next(each for each in result.violations if each.invariant == "I2")
    assert again.story
    assert len(again.story) < 40
    assert "I2 is broken" in again.story[-1]


def test_runs_are_bounded() -> None:
    played: list[Scenario] = []

    def count(scenario: Scenario, seed: int) -> Result:
        played.append(scenario)
        return play(scenario, seed)

    fallen = Violation(invariant="I2", at_s=0, message="")
    shrink(STORM, 0, fallen, count, most_runs=7)
    assert len(played) == 7


def test_nothing_falls_in_a_sound_world() -> None:
    fallen = Violation(invariant="I2", at_s=0, message="")
    with pytest.raises(ValueError, match="I2 does not fall in storm from seed 0"):
        shrink(STORM, 0, fallen, lambda scenario, seed: run(scenario, seed, variant=Variant.EAGER))
