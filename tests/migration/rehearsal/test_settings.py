"""What settings of a rehearsal take the place of."""

from dataclasses import replace

import pytest

from coordinator.errors import InvalidSetting
from groups.model import Cluster
from migration.model import Destination
from migration.rehearsal.plan_run import rehearse
from migration.rehearsal.simulated_members import overrides_from, with_settings
from tests.migration.rehearsal.groups import classic_group, planned

SESSION = "group.consumer.session.timeout.ms"


def test_a_setting_goes_to_brokers_members_or_both() -> None:
    settings = {"group.max.size": "9", "max.poll.interval.ms": "60000", "session.timeout.ms": "50000"}
    new = overrides_from(settings)
    assert new.brokers == {"group.max.size": "9", SESSION: "50000"}
    assert new.members == {"max.poll.interval.ms": "60000", "session.timeout.ms": "50000"}


def test_a_bound_of_the_brokers_gives_way_where_it_is_in_the_way() -> None:
    bound = "group.consumer.max.session.timeout.ms"
    assert overrides_from({"session.timeout.ms": "70000"}).brokers == {SESSION: "70000", bound: "70000"}
    assert overrides_from({"session.timeout.ms": "70000"}, {bound: "80000"}).brokers == {SESSION: "70000"}


@pytest.mark.parametrize(
    ("name", "value", "reported"),
    [
        ("max.poll.intervall.ms", "1", "did you mean max.poll.interval.ms"),
        ("max.poll.interval.ms", "soon", "a number of ms"),
        ("loss", "0.1", "there is no setting 'loss'"),
        ("library", "java", "there is no setting 'library'"),
    ],
)
def test_what_is_no_setting_of_a_rehearsal(name: str, value: str, reported: str) -> None:
    with pytest.raises(InvalidSetting, match=reported):
        overrides_from({name: value})


def test_it_takes_the_place_of_the_groups_own_setting() -> None:
    """What is set for a group itself wins over the brokers': not over what the rehearsal is asked for."""
    group = replace(classic_group(), settings={"consumer.session.timeout.ms": "50000", "other": "1"})
    scene = planned(group, Destination.CONSUMER, cluster=Cluster(settings={SESSION: "45000"}))
    found_group, simulated = scene.found, scene.simulated
    assert with_settings(found_group, simulated, {}) == (found_group, simulated)
    other, members = with_settings(found_group, simulated, {SESSION: "55000"})
    assert (other.group.settings, other.cluster.settings) == ({"other": "1"}, {SESSION: "55000"})
    assert members == simulated


def test_members_are_played_with_it_before_and_after_a_restart() -> None:
    """A slower heartbeat is slower to show a rebalance, under both protocols."""
    scene = planned(classic_group(), Destination.CONSUMER, cluster=Cluster())
    costs = []
    for interval_ms in ("1000", "9000"):
        changed = with_settings(scene.found, scene.simulated, {"heartbeat.interval.ms": interval_ms})
        run = rehearse(scene.plan, *changed, 1)
        assert run.is_safe
        costs.append(sum(played.costs.without_owner_s for played in run.rounds))
    assert costs[0] < costs[1]
