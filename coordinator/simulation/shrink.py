"""Shrinking a run that violates an invariant: fewer events, faults and members that still violate it.
Each candidate is played from the same seed. A removal changes the random numbers of everything after it, so the
result is small, but seldom minimal."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coordinator.faults import ChangeTopic, FailCoordinator
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import LIMIT, run
from coordinator.simulation.scenario import NetworkFaults, Scenario, Variant
from coordinator.simulation.scenario_file import parse_scenario
from coordinator.simulation.scenario_text import scenario_text
from groups.yaml_files import TreeError

TRIES = 200  # The maximum number of candidates that are played


def shrink(
    scenario: Scenario,
    seed: int,
    *,
    variant: Variant = Variant.AS_WRITTEN,
    limit: int = LIMIT,
    tries: int = TRIES,
    break_rule: str | None = None,
) -> RunResult | None:
    """The run of the smallest scenario that was found, with its story; None if this run violates no invariant."""
    play = partial(run, seed=seed, variant=variant, limit=limit, break_rule=break_rule)
    first = play(scenario, with_story=False)
    if not first.violations:
        return None
    searched = next((violation for violation in first.violations if not violation.known), first.violations[0])
    left = tries  # once they are used up, every candidate is rejected: the search ends with its best result

    def breaks(candidate: Scenario) -> bool:
        nonlocal left
        left -= 1
        if left < 0 or not _can_be_written(candidate):
            return False
        played = play(candidate, with_story=False).violations
        return (searched.invariant, searched.known) in {(one.invariant, one.known) for one in played}

    smallest = replace(scenario, description="")
    while True:
        before = smallest
        smallest = _with_fewest_events(before, breaks)
        for simpler in _simpler(smallest):
            if (smaller := simpler(smallest)) != smallest and breaks(smaller):
                smallest = smaller
        if smallest == before:
            return play(smallest)


def _with_fewest_events(scenario: Scenario, breaks: Callable[[Scenario], bool]) -> Scenario:
    """Remove halves, quarters, … and finally single events, later ones first (Zeller's ddmin, complements only)."""
    size = max(1, len(scenario.events) // 2)
    while scenario.events:
        end = len(scenario.events)
        while end > 0:
            start = max(0, end - size)
            fewer = replace(scenario, events=(*scenario.events[:start], *scenario.events[end:]))
            if breaks(fewer):
                scenario = fewer
            end = start
        if size == 1:
            break
        size //= 2
    return scenario


def _simpler(scenario: Scenario) -> Iterator[Callable[[Scenario], Scenario]]:
    """Changes that remove something."""
    for name in ("loss", "duplicate", "reorder", "delay_ms", "partitions"):
        usual = {name: getattr(NetworkFaults(), name)}
        yield partial(_with_faults, usual=usual)
    yield _without_idle_members
    for member in scenario.members:
        yield partial(_without_listener, member=member)
    for topic in scenario.topics:
        yield partial(_without_topic, topic=topic)
    yield _shorter


def _with_faults(scenario: Scenario, usual: Mapping[str, Any]) -> Scenario:
    return replace(scenario, faults=replace(scenario.faults, **usual))


def _shorter(scenario: Scenario) -> Scenario:
    """The scenario, ended soon after the last event."""
    last = max((event.at for event in scenario.events), default=0.0)
    return replace(scenario, until_s=min(scenario.until_s, last + 10.0))


def _without_idle_members(scenario: Scenario) -> Scenario:
    """The scenario without members that no event concerns."""
    used = {event.member for event in scenario.events if not isinstance(event, ChangeTopic | FailCoordinator)}
    partitions = tuple(
        replace(partition, members=tuple(name for name in partition.members if name in used))
        for partition in scenario.faults.partitions
        if used.intersection(partition.members)
    )
    return replace(
        scenario,
        members={name: script for name, script in scenario.members.items() if name in used},
        faults=replace(scenario.faults, partitions=partitions),
    )


def _without_listener(scenario: Scenario, member: str) -> Scenario:
    if member not in scenario.members or not scenario.members[member].listener:
        return scenario
    plain = replace(scenario.members[member], listener={})
    return replace(scenario, members={**scenario.members, member: plain})


def _without_topic(scenario: Scenario, topic: str) -> Scenario:
    """The scenario without the topic, if every member has another one."""
    topics = {name: count for name, count in scenario.topics.items() if name != topic}
    members = {
        name: replace(script, topics=tuple(other for other in script.topics if other != topic))
        for name, script in scenario.members.items()
    }
    events = tuple(
        one for one in scenario.events if not (isinstance(one, ChangeTopic) and one.topic == topic)
    )
    return replace(scenario, topics=topics, members=members, events=events)


def _can_be_written(scenario: Scenario) -> bool:
    """Whether each event is valid after the earlier ones."""
    try:
        return parse_scenario(Path(scenario.name), scenario_text(scenario), name=scenario.name) == scenario
    except TreeError:
        return False
