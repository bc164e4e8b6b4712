"""Shrinking a run that violates an invariant: fewer events, faults and members that still violate it.
Each candidate is played from the same seed. A removal changes the random numbers of everything after it, so the
result is small, but seldom minimal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from coordinator.faults import ChangeTopic, FailCoordinator
from coordinator.simulation.result import RunResult, Violation
from coordinator.simulation.run import LIMIT, run
from coordinator.simulation.scenario import Event, NetworkFaults, Scenario, Variant
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

    def breaks(candidate: Scenario) -> bool:
        if not _can_be_written(candidate):
            return False
        played = play(candidate, with_story=False)
        return any(_is_same(violation, searched) for violation in played.violations)

    smallest = _smallest(replace(scenario, description=""), _limited(breaks, tries))
    return play(smallest)


def _is_same(one: Violation, other: Violation) -> bool:
    """Whether both are violations of the same invariant, with the same known weakness, if any."""
    return (one.invariant, one.known) == (other.invariant, other.known)


def _limited(breaks: Callable[[Scenario], bool], tries: int) -> Callable[[Scenario], bool]:
    """Reject every candidate once the tries are used up: the search ends with its best result."""
    left = tries

    def judge(candidate: Scenario) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and breaks(candidate)

    return judge


def _smallest(scenario: Scenario, breaks: Callable[[Scenario], bool]) -> Scenario:
    """Remove parts until nothing more can be removed."""
    while True:
        before = scenario
        scenario = _with_events(scenario, _fewest(scenario.events, partial(_breaks_with, scenario, breaks)))
        for candidate in _simpler(scenario):
            smaller = candidate(scenario)
            if smaller != scenario and breaks(smaller):
                scenario = smaller
        if scenario == before:
            return scenario


def _with_events(scenario: Scenario, events: Sequence[Event]) -> Scenario:
    return replace(scenario, events=tuple(events))


def _breaks_with(scenario: Scenario, breaks: Callable[[Scenario], bool], events: Sequence[Event]) -> bool:
    return breaks(_with_events(scenario, events))


def _fewest(events: Sequence[Event], breaks: Callable[[Sequence[Event]], bool]) -> Sequence[Event]:
    """Remove halves, quarters, … and finally single events, later ones first (Zeller's ddmin, complements only)."""
    size = max(1, len(events) // 2)
    while events:
        end = len(events)
        while end > 0:
            start = max(0, end - size)
            fewer = [*events[:start], *events[end:]]
            if breaks(fewer):
                events = fewer
            end = start
        if size == 1:
            break
        size //= 2
    return events


def _simpler(scenario: Scenario) -> Iterator[Callable[[Scenario], Scenario]]:
    """Changes that remove something."""
    for name in ("loss", "duplicate", "reorder", "delay_ms", "partitions"):
        yield partial(_without_fault, name=name)
    yield _without_idle_members
    for member in scenario.members:
        yield partial(_without_listener, member=member)
    for topic in scenario.topics:
        yield partial(_without_topic, topic=topic)
    yield _shorter


def _without_fault(scenario: Scenario, name: str) -> Scenario:
    usual = getattr(NetworkFaults(), name)
    return replace(scenario, faults=replace(scenario.faults, **{name: usual}))


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
    members = {
        name: replace(script, topics=tuple(other for other in script.topics if other != topic))
        for name, script in scenario.members.items()
    }
    return replace(
        scenario,
        topics={name: count for name, count in scenario.topics.items() if name != topic},
        members=members,
        events=tuple(
            event
            for event in scenario.events
            if not (isinstance(event, ChangeTopic) and event.topic == topic)
        ),
    )


def _can_be_written(scenario: Scenario) -> bool:
    """Whether each event is valid after the earlier ones."""
    try:
        return parse_scenario(Path(scenario.name), scenario_text(scenario), name=scenario.name) == scenario
    except TreeError:
        return False
