"""A run that breaks an invariant is made smaller, and still breaks it."""

from dataclasses import replace
from pathlib import Path

from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario
from coordinator.simulation.scenario_file import parse_scenario, shipped_scenario
from coordinator.simulation.scenario_text import scenario_text
from coordinator.simulation.shrink import shrink


def _old_member() -> Scenario:
    """KIP-429's unsafe case, among much that has nothing to do with it."""
    scenario = shipped_scenario("version-0-member")
    more = parse_scenario(
        Path("more.yaml"),
        "kohort: 1\ntopics: {other: 3}\nmembers: {x: &m {topics: [other]}, y: *m}\nevents:\n"
        "  - {at: 3, topic: other, partitions: 4}\n  - {at: 5, coordinator: move, for: 1}\n",
    )
    events = sorted([*scenario.events, *more.events], key=lambda event: event.at)
    return replace(
        scenario,
        topics={**scenario.topics, **more.topics},
        members={**scenario.members, **more.members},
        events=tuple(events),
        faults=replace(scenario.faults, delay_ms=(1, 80)),
    )


def test_a_smaller_scenario_breaks_the_same_invariant_from_a_file() -> None:
    shrunk = shrink(_old_member(), 1)
    assert shrunk is not None
    assert (shrunk.violations[0].invariant, set(shrunk.scenario.topics)) == ("I2", {"orders"})
    assert len(shrunk.scenario.events) <= 3
    assert shrunk.story
    again = run(parse_scenario(Path("again.yaml"), scenario_text(shrunk.scenario)), shrunk.seed)
    assert [(violation.invariant, violation.at_s) for violation in again.violations] == [
        (violation.invariant, violation.at_s) for violation in shrunk.violations
    ]


def test_the_search_ends_with_its_tries() -> None:
    scenario = _old_member()
    shrunk = shrink(scenario, 1, tries=0)
    assert shrunk is not None
    assert shrunk.scenario.events == scenario.events
    assert shrink(shipped_scenario("crash"), 1) is None
