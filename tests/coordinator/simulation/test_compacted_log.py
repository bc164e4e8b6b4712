"""Whatever compaction leaves of a log, in whatever order, replays to the same state."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import combinations_with_replacement
from random import Random
from typing import Any

import pytest

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.simulation.compacted_log import LACKS, CannotBeLoaded, CleanerPositions, compacted, key_of
from coordinator.simulation.scenario import Scenario
from coordinator.simulation.scenario_file import shipped_scenario
from coordinator.simulation.world import World
from tests.coordinator.simulation.scenarios import SHARED, STORM
from tests.support.long import IS_LONG, cases

SEEDS = range(cases("KOHORT_SEEDS", 4, many=60))
DRAWS = 200 if IS_LONG else 80
SOFT = {"refresh_metadata", "client", "capacity", "_capacity", "state_since_ms", "previous_state"}


def restored(log: Sequence[Record], lack: str | None = None) -> dict[str, Any]:
    """All that replay makes of a log, what it derives included; by an earlier broker where one is named."""
    engine = Engine()
    for record in log:
        if lack is not None:
            LACKS[lack](engine, record)
        engine.replay(record)
    state = engine.state
    groups = {
        name: _attributes(group)
        for name, group in state.groups.items()
        if isinstance(group, ConsumerGroup) or group.stored is not None or name in state.offsets
    }
    return {"groups": groups, "offsets": state.offsets}


def _attributes(group: ClassicGroup | ConsumerGroup) -> dict[str, Any]:
    names = vars(group) if isinstance(group, ConsumerGroup) else [field.name for field in fields(group)]
    return {"type": group.type, **{name: getattr(group, name) for name in names if name not in SOFT}}


def cleanings(ends: Sequence[int]) -> Iterator[CleanerPositions]:
    """Every one that there can be of a log with so few batches."""
    places = (0, *ends[1:])
    parts = [None, *((start, end, known) for start, end, known in _ascending(places, 3) if start < end)]
    for dropped, cleaned in _ascending(places, 2):
        for start, end, known in (part or (0, 0, 0) for part in parts):
            yield CleanerPositions(cleaned=cleaned, dropped=dropped, overtaken=(start, end), known=known)


def _ascending(places: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    return combinations_with_replacement(places, count)


def played(scenario: Scenario, seed: int) -> World:
    world = World(scenario, seed, with_story=False)
    world.schedule.play(int(scenario.until_s * 1000), 5_000_000)
    return world


def differs(log: Sequence[Record], expected: object) -> str:
    """How the log replays to another state than is wanted; empty where it does not."""
    state = restored(log)
    return "" if state == expected else f"{log} gives {state}, not {expected}"


def faults_of_some(log: Sequence[Record], ends: Sequence[int], random: Random) -> list[str]:
    """Of compactions by chance."""
    expected = restored(log)
    left = (compacted(log, CleanerPositions.draw(random, ends)) for _ in range(DRAWS))
    return [fault for rest in left if (fault := differs(rest, expected))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["storm", "upgrade", "downgrade", "standard"])
def test_a_compacted_log_of_a_simulation_replays_to_the_same_state(name: str, seed: int) -> None:
    world = played(STORM if name == "storm" else shipped_scenario(name), seed)
    assert faults_of_some(world.log, world.ends, Random(seed)) == []


SMALL = [name for name in SHARED if name.startswith("small-")]


def every_compaction(log: Sequence[Record], ends: Sequence[int]) -> Iterable[Sequence[Record]]:
    """What each one leaves, once."""
    left = (compacted(log, cleaning) for cleaning in cleanings(ends))
    return {tuple(map(id, rest)): rest for rest in left}.values()


def faults_of_all(log: Sequence[Record], ends: Sequence[int]) -> list[str]:
    expected = restored(log)
    return [fault for rest in every_compaction(log, ends) if (fault := differs(rest, expected))]


@pytest.mark.parametrize("name", SMALL)
def test_every_compaction_of_a_small_log_replays_to_the_same_state(name: str) -> None:
    world = played(SHARED[name], 1)
    for number, end in [*enumerate(world.ends, 1)][:: 1 if IS_LONG else -3]:
        assert faults_of_all(world.log[:end], world.ends[:number]) == []


@pytest.mark.parametrize(
    ("name", "lack"), [("small-upgrade", "KAFKA-17306"), ("small-and-back", "KAFKA-21117")]
)
def test_the_orders_that_earlier_brokers_cannot_load_are_among_them(name: str, lack: str) -> None:
    world = played(SHARED[name], 1)
    failed = 0
    for log in every_compaction(world.log, world.ends):
        try:
            restored(log, lack)
        except CannotBeLoaded:
            failed += 1
    assert failed
    restored(world.log, lack)


def test_a_tombstone_that_goes_before_its_time_changes_the_state() -> None:
    world = played(SHARED["small-downgrade"], 1)
    logs = [world.log[:end] for end in world.ends]
    assert any(differs([record for record in log if record.value is not None], restored(log)) for log in logs)


def test_what_is_left_is_in_order_and_has_every_last_value() -> None:
    world = played(SHARED["small-upgrade"], 1)
    places = {id(record): index for index, record in enumerate(world.log)}
    last = {key_of(record): index for index, record in enumerate(world.log)}
    values = {index for index in last.values() if world.log[index].value is not None}
    lengths = set()
    for cleaning in cleanings(world.ends):
        left = [places[id(record)] for record in compacted(world.log, cleaning)]
        assert left == sorted(set(left))
        assert values <= {*left}
        lengths.add(len(left))
    assert (min(lengths), max(lengths)) == (len(values), len(world.log))
