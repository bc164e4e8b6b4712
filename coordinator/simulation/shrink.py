"""A scenario in which an invariant falls, made smaller as long as it falls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from coordinator.simulation.result import Result, Violation
from coordinator.simulation.scenario import Event, Faults, Scenario

MOST_RUNS = 400
"""Runs after which the smallest one found so far must do."""


def shrink(
    scenario: Scenario,
    seed: int,
    fallen: Violation,
    play: Callable[[Scenario, int], Result],
    *,
    most_runs: int = MOST_RUNS,
) -> tuple[Scenario, Result]:
    """The smallest scenario found in which the same invariant falls from the same seed, in the same way (`known`), and
    its run.

    Tried are, again and again until none helps: an earlier end; no faults of one kind; no event, many at once and then
    one by one; no member, with its events; fewer partitions. An event less changes what chance brings to all that
    follows, so it is a search, not a proof that nothing smaller falls.

    :param play: plays a scenario from a seed, under the variant and with the rules in which the invariant has fallen
    :raises ValueError: the invariant does not fall in the scenario as it is
    """
    result = play(scenario, seed)
    if not _falls(result, fallen):
        raise ValueError(f"{fallen.invariant} does not fall in {scenario.name} from seed {seed}")
    runs = 1
    has_shrunk = True
    while has_shrunk and runs < most_runs:
        has_shrunk = False
        for smaller in _smaller(scenario, result, fallen):
            runs += 1
            found = play(smaller, seed)
            if _falls(found, fallen):
                scenario, result, has_shrunk = smaller, found, True
                break
            if runs >= most_runs:
                break
    return scenario, result


def _falls(result: Result, fallen: Violation) -> bool:
    return any((each.invariant, each.known) == (fallen.invariant, fallen.known) for each in result.violations)


def _smaller(scenario: Scenario, result: Result, fallen: Violation) -> Iterator[Scenario]:
    """Scenarios with something less, the greatest steps first."""
    at_s = next(each.at_s for each in result.violations if each.invariant == fallen.invariant)
    end_s = float(int(at_s) + 2)
    if end_s < scenario.until_s:
        events = tuple(each for each in scenario.events if each.at <= at_s)
        yield replace(scenario, events=events, until_s=end_s)
    for faults in _fewer_faults(scenario.faults):
        yield replace(scenario, faults=faults)
    for name in scenario.members:
        yield _without_member(scenario, name)
    count = len(scenario.events)
    length = count // 2
    while length >= 1:
        for start in range(0, count, length):
            kept = scenario.events[:start] + scenario.events[start + length :]
            yield replace(scenario, events=kept)
        length //= 2
    for topic, partitions in scenario.topics.items():
        if partitions > 1:
            yield replace(scenario, topics={**scenario.topics, topic: partitions // 2})


def _fewer_faults(faults: Faults) -> Iterator[Faults]:
    if faults.loss:
        yield replace(faults, loss=0.0)
    if faults.duplicate:
        yield replace(faults, duplicate=0.0)
    if faults.reorder:
        yield replace(faults, reorder=False)
    for index in range(len(faults.partitions)):
        yield replace(faults, partitions=faults.partitions[:index] + faults.partitions[index + 1 :])


def _without_member(scenario: Scenario, name: str) -> Scenario:
    faults = scenario.faults
    partitions = []
    for each in faults.partitions:
        members = tuple(member for member in each.members if member != name)
        if members:
            partitions.append(replace(each, members=members))
    return replace(
        scenario,
        members={other: script for other, script in scenario.members.items() if other != name},
        events=tuple(event for event in scenario.events if _member_of(event) != name),
        faults=replace(faults, partitions=tuple(partitions)),
    )


def _member_of(event: Event) -> str | None:
    return getattr(event, "member", None)
