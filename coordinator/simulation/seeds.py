"""Playing many seeds of a scenario, or of scenarios, in several processes: the figures of each, in order."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from itertools import islice
from statistics import median_high
from typing import TypeAlias

from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.variants import with_settings

ScenarioOf: TypeAlias = Callable[[int], Scenario]
"""The scenario of a seed. Processes receive it pickled: use a function of a module, or a `partial` of one."""

CHUNK = 8  # The number of seeds that a process plays before it answers
AHEAD = 4  # The number of chunks that wait for each process


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCosts:
    """The cost of a run, as a table shows it; in every figure less is better."""

    rebalances: int
    moved: int
    without_owner_s: float
    read_twice: int
    converged_s: float | None
    """None: it did not settle within the scenario's time, which is worse than any time."""
    callbacks: int
    thrown: int
    zombie_overlap_s: float
    violations: int
    known: int  # How many of these are known weaknesses of Kafka's own rules (`known_flaws`)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The part of a result that is kept when many runs are played."""

    variant: Variant
    seed: int
    costs: RunCosts
    is_cut: bool
    requests: int


def costs_of(result: RunResult) -> RunCosts:
    """The figures of a run."""
    return RunCosts(
        rebalances=result.rebalances,
        moved=result.moved,
        without_owner_s=result.without_owner_s,
        read_twice=result.read_twice,
        converged_s=result.converged_s,
        callbacks=len(result.callbacks),
        thrown=len(result.thrown),
        zombie_overlap_s=sum(overlap.length_s for overlap in result.zombies),
        violations=len(result.violations),
        known=sum(bool(violation.known) for violation in result.violations),
    )


def summary_of(result: RunResult) -> RunSummary:
    """The part of a run that is kept when many are played."""
    return RunSummary(
        variant=result.variant,
        seed=result.seed,
        costs=costs_of(result),
        is_cut=result.is_cut,
        requests=result.requests,
    )


def median_and_worst(several: Sequence[RunCosts]) -> tuple[RunCosts, RunCosts]:
    """The median (one of the values: the greater of two in the middle) and the worst of each figure separately."""
    medians: dict[str, object] = {}
    worst: dict[str, object] = {}
    for field in fields(RunCosts):
        values = [getattr(costs, field.name) for costs in several]
        infinite = [float("inf") if value is None else value for value in values]
        medians[field.name], worst[field.name] = _known(median_high(infinite)), _known(max(infinite))
    return _costs(medians), _costs(worst)


def _known(value: float) -> float | None:
    return None if value == float("inf") else value


def _costs(values: Mapping[str, object]) -> RunCosts:
    return RunCosts(**values)  # type: ignore[arg-type]  # each value has the type of its field


def always(scenario: Scenario) -> ScenarioOf:
    """The same scenario for every seed."""
    return partial(_always, scenario)


def _always(scenario: Scenario, _seed: int) -> Scenario:
    return scenario


def set_for_all(scenario_of: ScenarioOf, settings: Mapping[str, str]) -> ScenarioOf:
    """The same scenarios with these settings."""
    return partial(_set, scenario_of, dict(settings)) if settings else scenario_of


def _set(scenario_of: ScenarioOf, settings: Mapping[str, str], seed: int) -> Scenario:
    return with_settings(scenario_of(seed), settings)


def play_seeds(
    scenario_of: ScenarioOf,
    variant: Variant,
    seeds: Sequence[int],
    *,
    limit: int,
    processes: int,
    break_rule: str | None = None,
) -> Iterator[RunSummary]:
    """Play each seed, and yield the results in the order of the seeds; `limit` and `break_rule` as in `run`.
    With more than one process, Ctrl-C (or the end of the iteration) stops the processes at once."""
    play = partial(_play, scenario_of, variant, limit, break_rule)
    if processes < 2 or len(seeds) < 2:
        for seed in seeds:
            yield from play((seed,))
        return
    starts = iter(range(0, len(seeds), CHUNK))
    executor = ProcessPoolExecutor(processes, initializer=_ignore_interrupts)
    pending: deque[Future[list[RunSummary]]] = deque()
    try:
        while True:
            # Just enough to keep the processes busy: there may be a hundred million seeds.
            for start in islice(starts, AHEAD * processes - len(pending)):
                pending.append(executor.submit(play, seeds[start : start + CHUNK]))
            if not pending:
                break
            yield from pending.popleft().result()
        executor.shutdown()
    finally:  # no effect the second time
        executor.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()


def _play(
    scenario_of: ScenarioOf, variant: Variant, limit: int, break_rule: str | None, seeds: Sequence[int]
) -> list[RunSummary]:
    return [
        summary_of(
            run(
                scenario_of(seed), seed, variant=variant, limit=limit, break_rule=break_rule, with_story=False
            )
        )
        for seed in seeds
    ]


def _ignore_interrupts() -> None:
    """A terminal sends Ctrl-C to all processes; only the main process reacts to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
