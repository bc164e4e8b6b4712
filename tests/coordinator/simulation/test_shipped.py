"""The scenarios that ship."""

import pytest

from coordinator.simulation.scenario import Start, Variant
from coordinator.simulation.scenario_file import shipped_names, shipped_scenario
from coordinator.simulation.variants import with_variant


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_scenario_starts_all_its_members_and_says_what_it_is(name: str) -> None:
    scenario = shipped_scenario(name)
    assert scenario.name == name
    assert scenario.description.splitlines()[0].endswith(".")
    assert {event.member for event in scenario.events if isinstance(event, Start)} == set(scenario.members)


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_scenario_can_be_played_under_each_protocol(name: str) -> None:
    scenario = shipped_scenario(name)
    for variant in (Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER):
        protocols = {script.protocol for script in with_variant(scenario, variant).members.values()}
        assert protocols == {"consumer" if variant is Variant.CONSUMER else "classic"}


def test_another_name_is_no_scenario() -> None:
    with pytest.raises(LookupError):
        shipped_scenario("../scenario")
