"""What a group's past costs in simulation, from several seeds: as it was, or as it might have been."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from random import Random
from statistics import median_high
from typing import Any

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.simulation.alternatives import WhatIfAlternative, applied
from coordinator.simulation.from_history import Past
from coordinator.simulation.history_log import US_PER_MS, HistoryLog
from coordinator.simulation.idle_time import skip_idle
from coordinator.simulation.measures import RecordsRead
from coordinator.simulation.process import Process
from coordinator.simulation.run import without_collector
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.seeds import in_processes
from coordinator.simulation.world import World
from groups.history.commits import Commits
from groups.history.costs import PastCost, cost_of, rebalanced_at
from groups.history.course import course_of

_STEP_MS = 500
_LIMIT = 2_000_000_000
_CHUNK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfCost(PastCost):
    """The cost of a period, also what a log does not have: None if it is observed. The time without an owner by the log
    is a lower bound, since it does not have when members stopped to read."""

    unread_s: float | None
    """How long no running member had the partitions, summed over all of them; while none runs, nothing counts."""
    read_twice: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRun:
    seed: int
    cost: WhatIfCost
    rebalanced_at: tuple[int, ...]  # µs since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedPast:
    """The runs of an alternative, or of the past as it was."""

    alternative: WhatIfAlternative
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


class UnreadTime(RecordsRead):
    """How long partitions that were owned before have no owner, as long as a process runs; and what is read twice. It
    replaces the world's own measures."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world, self._counted_ms = world, 0
        self._owned: Counter[TopicPartition] = Counter()
        self._since: dict[TopicPartition, int] = {}  # Since when partitions have no owner
        world.watchers.replace(world.measures, self)

    @property
    def ms(self) -> int:
        """The sum over all partitions, until now."""
        now_ms = self._world.schedule.now_ms
        return self._counted_ms + sum(now_ms - since_ms for since_ms in self._since.values())

    def owned_changed(self, process: Process, before: Partitions) -> None:
        now_ms = self._world.schedule.now_ms
        self._owned.subtract(before - process.owned)
        self._owned.update(process.owned - before)
        for partition in before - process.owned:
            if not self._owned[partition]:
                self._since[partition] = now_ms
        for partition in process.owned - before:
            self._counted_ms += now_ms - self._since.pop(partition, now_ms)

    def partition_deleted(self, partition: TopicPartition) -> None:
        super().partition_deleted(partition)
        now_ms = self._world.schedule.now_ms
        self._counted_ms += now_ms - self._since.pop(partition, now_ms)

    def ended(self, _process: Process) -> None:
        if not any(process.is_running for process in self._world.processes.values()):
            self._counted_ms = self.ms
            self._since.clear()


def play(
    past: Past, alternatives: Sequence[WhatIfAlternative], seeds: Sequence[int], processes: int
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
    past: Past, alternatives: Sequence[WhatIfAlternative], runs: Sequence[tuple[int, int]]
) -> list[PlayedRun]:
    with without_collector():
        return [play_run(past, alternatives[index], seed) for index, seed in runs]


def play_run(past: Past, alternative: WhatIfAlternative, seed: int) -> PlayedRun:
    """Play an alternative of the past. Raises InvalidSetting: it cannot be played."""
    scenario = _drawn(applied(past.scenario, alternative), past.spreads_s, seed)
    # Under another protocol the members have other ids.
    member_ids = past.member_ids if alternative.protocol is Variant.AS_WRITTEN else None
    world = World(scenario, seed, member_ids=member_ids, with_story=False, with_rules=False)
    log, unread = HistoryLog(world), UnreadTime(world)
    play_until(world, int(past.prelude_s * 1000))
    unread_ms, read_twice = unread.ms, _read_twice(world, unread)
    begin, end_ms = world.schedule.now_ms * US_PER_MS, int(scenario.until_s * 1000)
    play_until(world, end_ms)
    course = course_of(scenario.name, log.events, Commits({}))
    cost = cost_of(course.rebalances, course.holdings, begin, end_ms * US_PER_MS)
    times = (rebalanced_at(rebalance) for rebalance in course.rebalances)
    return PlayedRun(
        seed=seed,
        cost=WhatIfCost(
            **asdict(cost),
            unread_s=(unread.ms - unread_ms) / 1000,
            read_twice=_read_twice(world, unread) - read_twice,
        ),
        rebalanced_at=tuple(past.since + time - begin for time in times if time >= begin),
    )


def _drawn(scenario: Scenario, spreads_s: Sequence[float], seed: int) -> Scenario:
    """The scenario with each event at one of the times at which it may have been."""
    random = Random(f"{seed} times")  # noqa: S311
    events = [
        replace(event, at=max(0.0, event.at + random.uniform(-spread_s, spread_s)))
        for event, spread_s in zip(scenario.events, spreads_s, strict=True)
    ]
    return replace(scenario, events=tuple(sorted(events, key=lambda event: event.at)))


def play_until(world: World, end_ms: int) -> None:
    while world.schedule.now_ms < end_ms:
        if skip_idle(world, end_ms):
            world.forget()
        else:
            world.schedule.play(min(end_ms, world.schedule.now_ms + _STEP_MS), _LIMIT)


def _read_twice(world: World, records: RecordsRead) -> int:
    for process in world.processes.values():
        process.count_reading()
    return records.read_twice
