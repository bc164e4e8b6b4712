"""Whole runs: the recorded one from each seed, in figures that name everything that a run draws."""

from __future__ import annotations

from hashlib import sha256

from coordinator.simulation.random_scenario import random_scenario
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import shipped_names, shipped_scenario
from tests.support.golden import assert_recorded

SEEDS = range(40)


def figures(result: RunResult) -> str:
    """What a run cost, and a digest of its story: any other draw changes both or the latter alone."""
    story = "\n".join(f"{entry.at_s} {entry.who} {entry.what}" for entry in result.story)
    converged = "never settled" if result.converged_s is None else f"settled after {result.converged_s:.3f} s"
    return (
        f"{result.requests} requests, {len(result.callbacks)} callbacks, {len(result.thrown)} exceptions, "
        f"{result.rebalances} rebalances\n"
        f"{result.moved} moved, {result.read_twice} read twice, {result.without_owner_s:.3f} s without owner\n"
        f"{len(result.zombies)} zombies, {sorted({violation.known for violation in result.violations})}, {converged}\n"
        f"{ {name: len(owned) for name, owned in sorted(result.final.items())} }\n"
        f"{sha256(story.encode()).hexdigest()[:16]}"
    )


def test_the_same_seed_gives_the_recorded_run() -> None:
    random = {f"random {seed}": figures(run(random_scenario(seed), seed)) for seed in SEEDS}
    assert_recorded("simulate/random.txt", random)


def test_a_shipped_scenario_gives_the_recorded_run() -> None:
    shipped = {name: figures(run(shipped_scenario(name), 1)) for name in shipped_names()}
    assert_recorded("simulate/shipped.txt", shipped)
