"""What a group's past costs in simulation, from several seeds: as it was, or as it might have been."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from statistics import median_high
from typing import Any

from coordinator.simulation.alternatives import Alternative, applied
from coordinator.simulation.from_history import Past
from coordinator.simulation.history_log import US_PER_MS, HistoryLog
from coordinator.simulation.idle_time import skip_idle
from coordinator.simulation.scenario import Variant
from coordinator.simulation.seeds import in_processes
from coordinator.simulation.world import World
from groups.history.commits import Commits
from groups.history.costs import PastCost, cost_of, rebalanced_at
from groups.history.course import course_of

_STEP_MS = 500
_LIMIT = 2_000_000_000
_CHUNK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfCost:
    """The cost of a period. None: the log of a group does not have it."""

    rebalances: int
    moved: int
    without_owner_s: float
    """How long partitions had no owner by the log, which does not have when members stopped to read: a lower bound."""
    unread_s: float | None
    """How long no running member had the partitions, summed over all of them."""
    read_twice: int | None

    @classmethod
    def observed(cls, cost: PastCost) -> WhatIfCost:
        return cls(
            rebalances=cost.rebalances,
            moved=cost.moved,
            without_owner_s=cost.without_owner_s,
            unread_s=None,
            read_twice=None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRun:
    seed: int
    cost: WhatIfCost
    rebalanced_at: tuple[int, ...]  # µs since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedPast:
    """The runs of an alternative, or of the past as it was."""

    alternative: Alternative
    runs: tuple[PlayedRun, ...]

    @property
    def median(self) -> WhatIfCost:
        """Of each figure separately, as the next two."""
        return self._of(median_high)

    @property
    def lowest(self) -> WhatIfCost:
        return self._of(min)

    @property
    def highest(self) -> WhatIfCost:
        return self._of(max)

    def _of(self, choose: Callable[[list[Any]], Any]) -> WhatIfCost:
        names = (one.name for one in fields(WhatIfCost))
        return WhatIfCost(**{name: choose([getattr(run.cost, name) for run in self.runs]) for name in names})


def play(
    past: Past, alternatives: Sequence[Alternative], seeds: Sequence[int], processes: int
) -> Iterator[PlayedPast]:
    """Play the alternatives, each from all seeds. Raises InvalidSetting: one cannot be played."""
    runs = in_processes(
        partial(_play_some, past, alternatives),
        [(index, seed) for index in range(len(alternatives)) for seed in seeds],
        processes,
        _CHUNK,
    )
    for alternative in alternatives:
        yield PlayedPast(alternative=alternative, runs=tuple(next(runs) for _ in seeds))


def _play_some(
    past: Past, alternatives: Sequence[Alternative], runs: Sequence[tuple[int, int]]
) -> list[PlayedRun]:
    return [play_run(past, alternatives[index], seed) for index, seed in runs]


def play_run(past: Past, alternative: Alternative, seed: int) -> PlayedRun:
    """Play an alternative of the past. Raises InvalidSetting: it cannot be played."""
    scenario = applied(past.scenario, alternative)
    # Under another protocol the members have other ids.
    member_ids = past.member_ids if alternative.protocol is Variant.AS_WRITTEN else None
    world = World(scenario, seed, member_ids=member_ids, with_story=False, with_rules=False)
    log = HistoryLog(world)
    _play_until(world, int(past.prelude_s * 1000))
    unread_s, read_twice = _unread_and_twice(world)
    begin, end_ms = world.schedule.now_ms * US_PER_MS, int(scenario.until_s * 1000)
    _play_until(world, end_ms)
    course = course_of(scenario.name, log.events, Commits({}))
    cost = cost_of(course.rebalances, course.holdings, begin, end_ms * US_PER_MS)
    unread_in_all_s, read_twice_in_all = _unread_and_twice(world)
    times = (rebalanced_at(rebalance) for rebalance in course.rebalances)
    return PlayedRun(
        seed=seed,
        cost=WhatIfCost(
            rebalances=cost.rebalances,
            moved=cost.moved,
            without_owner_s=cost.without_owner_s,
            unread_s=unread_in_all_s - unread_s,
            read_twice=read_twice_in_all - read_twice,
        ),
        rebalanced_at=tuple(past.since + time - begin for time in times if time >= begin),
    )


def _play_until(world: World, end_ms: int) -> None:
    while world.schedule.now_ms < end_ms:
        if skip_idle(world, end_ms):
            world.forget()
        else:
            world.schedule.play(min(end_ms, world.schedule.now_ms + _STEP_MS), _LIMIT)


def _unread_and_twice(world: World) -> tuple[float, int]:
    for process in world.processes.values():
        process.count_reading()
    return world.measures.without_owner_s, world.measures.read_twice
