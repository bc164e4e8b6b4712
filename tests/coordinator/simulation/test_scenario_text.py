"""A scenario that is written reads back as the same."""

from pathlib import Path

import pytest

from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.scenario_file import parse_scenario, shipped_names, shipped_scenario
from coordinator.simulation.scenario_text import scenario_text, scenario_tree
from coordinator.simulation.variants import with_variant
from tests.coordinator.simulation.test_scenario_file import READ

FILE = Path("a.yaml")


def _again(scenario: Scenario) -> Scenario:
    return parse_scenario(FILE, scenario_text(scenario), name=scenario.name)


def test_every_kind_of_event_survives() -> None:
    assert _again(READ) == READ


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_scenario_survives_under_each_protocol(name: str, variant: Variant) -> None:
    scenario = with_variant(shipped_scenario(name), variant)
    assert _again(scenario) == scenario


def test_a_restart_writes_what_it_changes_and_takes_away() -> None:
    member = "{topics: [t], instance: i, listener: {lost: throws, revoked: {takes: never}}}"
    changes = "{protocol: consumer, regex: x, instance: null, listener: {lost: null}}"
    scenario = parse_scenario(
        FILE,
        f"kohort: 1\ntopics: {{t: 1}}\nmembers:\n  a: {member}\n"
        f"events: [{{at: 0, start: a}}, {{at: 1.5, restart: a, with: {changes}, after: 2, kill: true}}]\n",
    )
    assert _again(scenario) == scenario
    _, restart = scenario_tree(scenario)["events"]
    with_ = {
        "protocol": "consumer",
        "regex": "x",
        "topics": None,
        "instance": None,
        "listener": {"lost": None},
    }
    assert restart == {"at": 1.5, "restart": "a", "with": with_, "after": 2, "kill": True}
