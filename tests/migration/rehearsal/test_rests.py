"""Rests that are leapt over and rests that are played: rehearsals are equal in all that is reported of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from types import MappingProxyType

import pytest

from coordinator.engine.records import OffsetRecord
from coordinator.simulation import idle_time
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.run import LIMIT
from coordinator.simulation.world import World
from groups.model import Cluster, Group, Topic
from groups.snapshot import Snapshot, read_snapshot
from migration.clients import parse_clients
from migration.model import Destination, Plan
from migration.plan import case_of, make_plan
from migration.rehearsal.plan_run import places, rehearse, simulated_for_plan
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.simulated_members import FoundGroup
from migration.rehearsal.simulation import Simulation
from migration.rules.case import PlanRequest
from tests.migration.cases import CLASSIC, CONSUMER, COOPERATIVE, EAGER, NEW
from tests.migration.rehearsal.groups import TOPICS, classic_group, plan_of

SAMPLE = (
    ("audit", CLASSIC),
    ("billing", COOPERATIVE),
    ("billing", CONSUMER),
    ("clickstream", CONSUMER),
    ("clickstream", EAGER),
    ("fraud", CLASSIC),
    ("search-indexer", EAGER),
    ("warehouse", COOPERATIVE),
    ("warehouse", CONSUMER),
    ("warehouse", EAGER),
)
OTHERS = (("java:4.1.0", True), ("librdkafka:2.16.0", False), ("librdkafka:2.16.0", True))


def play_all(world: World, end_ms: int) -> None:
    """The slow version of a leap: every heartbeat and every commit; nothing else may happen meanwhile."""
    before, written = world.engine.state.groups.get(GROUP), len(world.log)
    changed_ms = world.measures.changed_ms
    assert world.schedule.play(end_ms, LIMIT)
    assert world.engine.state.groups.get(GROUP) is before
    assert all(type(record) is OffsetRecord for record in world.log[written:])
    assert world.measures.changed_ms == changed_ms
    assert world.coordinator.parked == {}


@cache
def sample() -> Snapshot:
    with as_file(files("cli.verbs.demo").joinpath("sample.yaml")) as file:
        return read_snapshot(file)


def of_sample(name: str, to: Destination) -> tuple[Plan, FoundGroup]:
    fleet = sample()
    group, topics = fleet.groups[name], list(fleet.topics.values())
    request = PlanRequest(destination=to, declared=parse_clients(["java:4.1.0"]))
    plan = make_plan(case_of(request, group, fleet.cluster, topics=topics))
    return plan, FoundGroup(group=group, cluster=fleet.cluster, topics=fleet.topics)


def made_up(group: Group, to: Destination, cluster: Cluster = NEW) -> tuple[Plan, FoundGroup]:
    return plan_of(group, to), FoundGroup(group=group, cluster=cluster, topics=TOPICS)


def both(
    plan: Plan,
    found: FoundGroup,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
    *,
    stop: bool = False,
    config: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Rehearsed, Rehearsed]:
    """With rests leapt over, and with rests played; but for how many requests that took."""
    stop_at = places(plan)[-1] if stop else None
    simulated = simulated_for_plan(plan, found)
    simulated = replace(
        simulated,
        members={
            member: replace(each, script=replace(each.script, config={**each.script.config, **config}))
            for member, each in simulated.members.items()
        },
    )
    fast = rehearse(plan, found, simulated, seed, with_story=True, stop_at=stop_at)
    with monkeypatch.context() as patch:
        patch.setattr(idle_time, "pass_idle", play_all)
        slow = rehearse(plan, found, simulated, seed, with_story=True, stop_at=stop_at)
    return _uncounted(fast), _uncounted(slow)


def _uncounted(rehearsed: Rehearsed) -> Rehearsed:
    assert rehearsed.result is not None
    return replace(rehearsed, result=replace(rehearsed.result, requests=0))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("name", "to"), SAMPLE, ids=[f"{name}-{to.value}" for name, to in SAMPLE])
def test_plans_of_the_sample(name: str, to: Destination, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = both(*of_sample(name, to), seed, monkeypatch)
    assert fast == slow
    assert fast.story != ()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("to", [COOPERATIVE, CONSUMER])
@pytest.mark.parametrize(("client", "static"), OTHERS)
def test_other_libraries_and_static_members_there_and_back(
    client: str, static: bool, to: Destination, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast, slow = both(*made_up(classic_group(client, static=static), to), seed, monkeypatch, stop=True)
    assert fast == slow
    assert fast.back is not None


@pytest.mark.parametrize("to", [COOPERATIVE, CONSUMER])
@pytest.mark.parametrize(
    "config",
    [
        {"enable.auto.commit": "false"},
        {"auto.commit.interval.ms": "700", "heartbeat.interval.ms": "500", "session.timeout.ms": "6000"},
        {"heartbeat.interval.ms": "10000", "auto.commit.interval.ms": "60000"},
    ],
)
def test_members_that_heartbeat_and_commit_otherwise(
    config: Mapping[str, str], to: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    for static in (False, True):
        fast, slow = both(*made_up(classic_group(static=static), to), 1, monkeypatch, config=config)
        assert fast == slow


def test_more_members_than_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    group = classic_group()
    plan = plan_of(group, CONSUMER)
    found = FoundGroup(group=group, cluster=NEW, topics={"orders": Topic(name="orders", partitions=2)})
    fast, slow = both(plan, found, 1, monkeypatch)
    assert fast == slow


def test_most_of_a_restart_is_leapt_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leap does what it is for: it leaves out most of the requests."""
    plan, found = made_up(classic_group(), COOPERATIVE)
    leapt = Simulation(found, simulated_for_plan(plan, found), 1, with_story=False)
    leapt.begin()
    before = leapt.world.answered
    leapt.wait(600.0)
    # Three members, each with a heartbeat in 3 s and a commit in 5 s, would send 960.
    assert leapt.world.answered - before < 200
    assert leapt.unsettled() == ""


def test_the_group_is_shown_again_only_where_it_has_changed() -> None:
    plan, found = made_up(classic_group(), COOPERATIVE)
    simulation = Simulation(found, simulated_for_plan(plan, found), 1, with_story=False)
    simulation.begin()
    shown = simulation.group()
    simulation.wait(30.0)
    assert simulation.group() is shown
