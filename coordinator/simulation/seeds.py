"""Playing many seeds of a scenario, or of scenarios, in several processes: the figures of each, in order."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from itertools import islice
from math import inf
from statistics import median_high
from typing import Any, TypeAlias, TypeVar

from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.variants import with_settings

ScenarioOf: TypeAlias = Callable[[int], Scenario]
"""The scenario of a seed. Processes receive it pickled: use a function of a module, or a `partial` of one."""

T = TypeVar("T")
R = TypeVar("R")

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
        callbacks=len(result.callbacks),
        thrown=len(result.thrown),
        zombie_overlap_s=sum(overlap.length_s for overlap in result.zombies),
        violations=len(result.violations),
        known=sum(bool(violation.known) for violation in result.violations),
        **{name: getattr(result, name) for name in _OF_RESULT},
    )


def summary_of(result: RunResult) -> RunSummary:
    """The part of a run that is kept when many are played."""
    return RunSummary(costs=costs_of(result), **{name: getattr(result, name) for name in _OF_SUMMARY})


_OF_RESULT = ("rebalances", "moved", "without_owner_s", "read_twice", "converged_s")
_OF_SUMMARY = ("variant", "seed", "is_cut", "requests")


def median_and_worst(several: Sequence[RunCosts]) -> tuple[RunCosts, RunCosts]:
    """The median (one of the values: the greater of two in the middle) and the worst of each figure separately."""
    medians: dict[str, Any] = {}
    worst: dict[str, Any] = {}
    for field in fields(RunCosts):
        values = [getattr(costs, field.name) for costs in several]
        numbers = [inf if value is None else value for value in values]
        for figures, number in (medians, median_high(numbers)), (worst, max(numbers)):
            figures[field.name] = None if number == inf else number
    return RunCosts(**medians), RunCosts(**worst)


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
    """Play each seed, and yield the results in the order of the seeds; `limit` and `break_rule` as in `run`."""
    play = partial(_play, scenario_of, variant, limit, break_rule)
    yield from in_processes(play, seeds, processes, CHUNK)


def in_processes(
    function: Callable[[Sequence[T]], list[R]], items: Sequence[T], processes: int, chunk: int
) -> Iterator[R]:
    """What a function returns for the items, in their order; it is called with `chunk` of them at a time. With more
    than one process, Ctrl-C (or the end of the iteration) stops the processes at once."""
    if processes < 2 or len(items) < 2:
        for item in items:
            yield from function((item,))
        return
    starts = iter(range(0, len(items), chunk))
    # A terminal sends Ctrl-C to all processes; only the main process reacts to it.
    executor = ProcessPoolExecutor(processes, None, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    pending: deque[Future[list[R]]] = deque()
    try:
        while True:
            # Just enough to keep the processes busy: there may be a hundred million seeds.
            for start in islice(starts, AHEAD * processes - len(pending)):
                pending.append(executor.submit(function, items[start : start + chunk]))
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
    play = partial(run, variant=variant, limit=limit, break_rule=break_rule, with_story=False)
    return [summary_of(play(scenario_of(seed), seed)) for seed in seeds]
