"""Rests that are leapt over and rests that are played: rehearsals are equal in all that is reported of them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files

import pytest

from coordinator.engine.records import OffsetRecord
from coordinator.simulation import idle_time
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.run import LIMIT
from coordinator.simulation.world import World
from groups.model import Topic
from groups.snapshot import Snapshot, read_snapshot
from migration.clients import parse_clients
from migration.model import Destination
from migration.plan import case_of, make_plan
from migration.rehearsal.plan_run import places
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.simulated_members import StepRound
from migration.rehearsal.simulation import Simulation
from migration.rules.case import PlanRequest
from tests.migration.cases import CLASSIC, CONSUMER, COOPERATIVE, EAGER
from tests.migration.rehearsal.groups import PlannedGroup, classic_group, planned
from tests.support.long import LONG

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


def of_sample(name: str, to: Destination) -> PlannedGroup:
    fleet = sample()
    group, topics = fleet.groups[name], list(fleet.topics.values())
    request = PlanRequest(destination=to, declared=parse_clients(["java:4.1.0"]))
    plan = make_plan(case_of(request, group, fleet.cluster, topics=topics))
    return PlannedGroup(plan, group, fleet.cluster, fleet.topics)


def assert_alike(
    scene: PlannedGroup, seed: int, monkeypatch: pytest.MonkeyPatch, *, stop_at: StepRound | None = None
) -> Rehearsed:
    """With rests leapt over, and with rests played; but for how many requests that took."""
    fast = scene.rehearse(seed, with_story=True, stop_at=stop_at)
    with monkeypatch.context() as patch:
        patch.setattr(idle_time, "pass_idle", play_all)
        slow = scene.rehearse(seed, with_story=True, stop_at=stop_at)
    assert _uncounted(fast) == _uncounted(slow)
    return fast


def _uncounted(rehearsed: Rehearsed) -> Rehearsed:
    assert rehearsed.result is not None
    return replace(rehearsed, result=replace(rehearsed.result, requests=0))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=LONG) for seed in (2, 3))])
@pytest.mark.parametrize(("name", "to"), SAMPLE, ids=[f"{name}-{to.value}" for name, to in SAMPLE])
def test_plans_of_the_sample(name: str, to: Destination, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert assert_alike(of_sample(name, to), seed, monkeypatch).story != ()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=LONG)])
@pytest.mark.parametrize("to", [COOPERATIVE, CONSUMER])
@pytest.mark.parametrize(("client", "static"), OTHERS)
def test_other_libraries_and_static_members_there_and_back(
    client: str, static: bool, to: Destination, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = planned(classic_group(client, static=static), to)
    assert assert_alike(scene, seed, monkeypatch, stop_at=places(scene.plan)[-1]).back is not None


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
        assert_alike(planned(classic_group(static=static), to, settings=config), 1, monkeypatch)


def test_more_members_than_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = {"orders": Topic(name="orders", partitions=2)}
    assert_alike(planned(classic_group(), CONSUMER, topics=topics), 1, monkeypatch)


def test_most_of_a_restart_is_leapt_over() -> None:
    """A leap does what it is for: it leaves out most of the requests."""
    scene = planned(classic_group(), COOPERATIVE)
    leapt = Simulation(scene.found, scene.simulated, 1, with_story=False)
    leapt.begin()
    before = leapt.world.answered
    leapt.wait(600.0)
    # Three members, each with a heartbeat in 3 s and a commit in 5 s, would send 960.
    assert leapt.world.answered - before < 200
    assert leapt.unsettled() == ""


def test_the_group_is_shown_again_only_where_it_has_changed() -> None:
    scene = planned(classic_group(), COOPERATIVE)
    simulation = Simulation(scene.found, scene.simulated, 1, with_story=False)
    simulation.begin()
    shown = simulation.group()
    simulation.wait(30.0)
    assert simulation.group() is shown
