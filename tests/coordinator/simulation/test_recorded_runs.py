"""Whole runs are as recorded; scenarios of what went wrong with real clients show the symptoms, others do not."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest

from coordinator.consumer.library import LIBRARIES
from coordinator.simulation.random_scenario import random_scenario
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Restart, Scenario, Variant
from coordinator.simulation.scenario_file import shipped_names, shipped_scenario
from coordinator.simulation.world import World
from tests.coordinator.simulation.story_files import with_library
from tests.support.golden import assert_recorded
from tests.support.long import IS_LONG

CURES: dict[str, tuple[str, ...]] = {
    "storm": ("patient",),
    "leader-never-answers": (),
    "shutdown-rounds": ("consumer",),
    "static-close": (),
    "owner-never-polls": (),
    "callback-never-returns": (),
    "coordinator-away": ("java", "librdkafka"),
    "evicted-member-works-on": (),
    "commit-while-joining": ("java", "librdkafka"),
    "revoked-not-lost": ("java",),
    "static-fenced-by-itself": ("java",),
    "listener-throws": (),
    "topic-growth": ("eager", "cooperative", "consumer"),
    "leave-while-revoking": ("librdkafka",),
    "group-gone": ("librdkafka",),
    "commits-at-old-epochs": ("java", "librdkafka", "all fixes"),
    "offset-fetch-spins": ("java",),
    "commit-while-rebalancing": ("eager", "consumer"),
    "repeated-requests": ("without faults",),
}
"""By scenario: other libraries, protocols, brokers or applications, most of which do not have the symptom."""


def cured(scenario: Scenario, cure: str) -> Scenario:
    if cure in LIBRARIES:
        return with_library(scenario, cure)
    if cure == "patient":  # its applications poll again after an error
        return replace(
            scenario,
            members={name: replace(script, after_error=None) for name, script in scenario.members.items()},
            events=tuple(
                replace(event, script=replace(event.script, after_error=None))
                if isinstance(event, Restart)
                else event
                for event in scenario.events
            ),
        )
    if cure == "without faults":
        return replace(scenario, faults=replace(scenario.faults, duplicate=0.0, loss=0.0))
    return replace(scenario, without=()) if cure == "all fixes" else scenario


def symptoms(result: RunResult) -> Iterator[str]:
    for violation in result.violations:
        yield f"{violation.invariant}: {violation.message}"
    lives = Counter(presence.member for presence in result.presence)
    for member in sorted(lives):
        calls = [
            f"{call.kind.value} {len(call.partitions)} at {call.at_s:.1f} s"
            for call in result.callbacks
            if call.member == member
        ]
        owned = f"owns {len(result.final[member])}" if member in result.final else "has ended"
        yield f"{member}, {lives[member]} processes: {', '.join(calls) or 'no calls'}; {owned}"
    for thrown in result.thrown:
        yield f"{thrown.member} throws {thrown.error} at {thrown.at_s:.1f} s"
    zombies = Counter[str]()
    for overlap in result.zombies:
        zombies[overlap.member] += round(overlap.length_s)
    refused = Counter(entry.what for entry in result.story if entry.what.rpartition(" -> ")[2].isupper())
    yield f"zombies {dict(zombies)}, read twice {result.read_twice}, without owner {result.without_owner_s:.1f} s"
    yield from (f"{count} {what}" for what, count in sorted(refused.items()))


def test_symptoms_are_as_recorded() -> None:
    answers = {}
    for name, cures in CURES.items():
        for cure in ("", *cures):
            variant = Variant(cure) if cure in {one.value for one in Variant} else Variant.AS_WRITTEN
            for seed in (1, 2):
                result = run(cured(shipped_scenario(name), cure), seed, variant=variant)
                answers[f"{name} {cure}, seed {seed}"] = "\n".join(symptoms(result))
    assert_recorded("simulate/symptoms.txt", answers)


LOADS = range(1, 9) if IS_LONG else [3]  # In a third of them, a node cannot load the log


def _failed_loads(scenario: Scenario) -> int:
    """How many of some seeds have a node that cannot load the log, after which the group never settles again."""
    falls = [tuple(violation.invariant for violation in run(scenario, seed).violations) for seed in LOADS]
    assert set(falls) <= {(), ("I8", "I4")}
    return len(falls) - falls.count(())


@pytest.mark.parametrize("name", ["offsets-before-group", "compacted-while-loading"])
def test_brokers_without_a_fix_cannot_load_a_compacted_log(name: str) -> None:
    scenario = shipped_scenario(name)
    assert _failed_loads(scenario) >= len(LOADS) / 3
    assert _failed_loads(replace(scenario, without=())) == 0


def _unread(scenario: Scenario, seed: int) -> list[int]:
    """Partitions that are owned and not read, after the first bounce and after the second."""
    world, counts = World(scenario, seed), []
    for at_s in (115, 180):
        world.schedule.play(at_s * 1000, 10**6)
        owners = [process for process in world.processes.values() if process.is_running]
        assert sum(len(owner.owned) for owner in owners) == 6
        counts.append(sum(len(owner.owned - owner.member.fetching) for owner in owners))
    return counts


@pytest.mark.parametrize("seed", [1, 2])
def test_partitions_are_stranded_where_a_member_becomes_cooperative(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = shipped_scenario("change-of-balancer")
    assert _unread(scenario, seed) == [3, 0]
    assert _unread(with_library(scenario, "java"), seed) == [0, 0]
    flawed = LIBRARIES["franz-go-1.16"]
    mended = replace(flawed, behavior=replace(flawed.behavior, remembers_eager=False))
    monkeypatch.setitem(LIBRARIES, flawed.name, mended)
    assert _unread(scenario, seed) == [0, 0]
    assert run(scenario, seed).violations == ()


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
    random = {f"random {seed}": figures(run(random_scenario(seed), seed)) for seed in range(40)}
    assert_recorded("simulate/random.txt", random)


def test_a_shipped_scenario_gives_the_recorded_run() -> None:
    shipped = {name: figures(run(shipped_scenario(name), 1)) for name in shipped_names()}
    assert_recorded("simulate/shipped.txt", shipped)
