"""Skipped time: what follows is what it would be, had all heartbeats and commits been played, also after days."""

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.records import ClassicGroupRecord, ClassicGroupValue, OffsetRecord
from coordinator.faults import CoordinatorFault, FailCoordinator
from coordinator.simulation import idle_time
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Event, Kill, MemberScript, Restart, Scenario, Start
from coordinator.simulation.topics import InitialState, SimulatedClient
from coordinator.simulation.world import World
from groups.listing import GroupState

MEMBER = MemberScript(topics=("orders",))
MEMBERS = {
    "range": replace(MEMBER, assignors=("range",)),
    "cooperative-sticky": replace(MEMBER, assignors=("cooperative-sticky",)),
    "static": replace(MEMBER, assignors=("range",), instance="i"),
    "consumer": replace(MEMBER, protocol="consumer"),
    "static consumer": replace(MEMBER, protocol="consumer", instance="i"),
    "librdkafka": replace(MEMBER, library="librdkafka", assignors=("range",)),
}
FRESH, DAY_MS = InitialState(), 86_400_000
AFTERWARDS: Mapping[str, Event] = {
    "a process dies": Kill(at=0, member="b"),
    "a process is restarted": Restart(at=0, member="b", script=MEMBER, after_s=60),
    "the coordinator crashes": FailCoordinator(at=0, fault=CoordinatorFault.CRASH, for_s=2),
}


def resting(member: MemberScript, initial: InitialState = FRESH) -> World:
    """Three members, idle for half a minute."""
    scripts = {name: replace(member, instance=member.instance and f"i-{name}") for name in "abc"}
    starts = tuple(Start(at=0, member=name) for name in "abc")
    scenario = Scenario(
        name="resting", topics={"orders": 7}, members=scripts, events=starts, records_per_s=0.5
    )
    world = World(scenario, 1, initial=initial)
    world.schedule.play(initial.at_ms + 30_000, LIMIT)
    return world


def leap(world: World, before_ms: int) -> int:
    """The length of a skip, if the group is idle within a second: requests may be in flight."""
    for _ in range(1_000):
        began_ms = world.schedule.now_ms
        if idle_time.skip_idle(world, before_ms):
            return world.schedule.now_ms - began_ms
        world.schedule.play(began_ms + 1, LIMIT)
    return 0


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("afterwards", AFTERWARDS)
def test_what_follows_is_as_if_all_had_been_played(
    kind: str, afterwards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    for plays in (False, True):
        with monkeypatch.context() as patch:
            if plays:
                patch.setattr(
                    idle_time, "pass_idle", lambda world, end_ms: world.schedule.play(end_ms, LIMIT)
                )
            world = resting(MEMBERS[kind])
            assert leap(world, 60_000) > 20_000
            event = AFTERWARDS[afterwards]
            if isinstance(event, Restart):
                event = replace(event, script=world.scenario.members["b"])
            world.play(event)
            world.schedule.play(world.schedule.now_ms + 90_000, LIMIT)
        assert world.violations.all == []
        groups = [record for record in world.log if type(record) is not OffsetRecord]
        results.append((world.story.entries(), groups, world.engine.state.offsets))
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", MEMBERS)
def test_a_leap_ends_before_what_is_planned(kind: str) -> None:
    world = resting(MEMBERS[kind])
    world.schedule.at(50_000, world.play, Kill(at=0, member="b"))
    assert leap(world, 600_000) > 15_000
    assert world.schedule.now_ms < 50_000


def test_a_group_that_rebalances_is_not_idle() -> None:
    world = resting(MEMBERS["range"])
    world.play(Restart(at=0, member="b", script=world.scenario.members["b"], after_s=5))
    while world.engine.state.groups[GROUP].state is GroupState.STABLE:
        world.schedule.play(world.schedule.now_ms + 1, LIMIT)
    assert not idle_time.skip_idle(world, 600_000)


def test_old_offsets_are_forgotten_and_the_last_ones_kept() -> None:
    world = resting(MEMBERS["consumer"])
    world.schedule.play(120_000, LIMIT)
    before = world.engine.state.offsets
    world.forget()
    kept = [(record.topic, record.partition) for record in world.log if type(record) is OffsetRecord]
    assert sorted(kept) == [("orders", number) for number in range(7)]
    assert world.ends[-1] == len(world.log)
    world.play(FailCoordinator(at=0, fault=CoordinatorFault.CRASH, for_s=2))
    world.schedule.play(180_000, LIMIT)
    assert before.keys() == world.engine.state.offsets.keys()
    assert world.violations.all == []


@pytest.mark.parametrize("kind", MEMBERS)
def test_members_stay_over_days_of_a_few_heartbeats(kind: str) -> None:
    world = resting(replace(MEMBERS[kind], config={"enable.auto.commit": "false"}))
    before, written, answered = world.schedule.now_ms, len(world.log), world.answered
    for day in range(1, 6):
        assert world.skip(before + day * DAY_MS, LIMIT)
    assert (world.schedule.now_ms, len(world.log)) == (before + 5 * DAY_MS, written)
    assert 5 * 3 < world.answered - answered < 5 * 3 * 10
    assert sorted(len(process.owned) for process in world.processes.values()) == [2, 2, 3]
    assert world.violations.all == []


def test_a_world_starts_from_its_initial_state() -> None:
    before = ClassicGroupValue(
        protocol_type="consumer", generation=41, protocol=None, leader=None, state_since_ms=0, members=()
    )
    orders, topic = TopicPartition("orders", 0), UUID(int=7)
    initial = InitialState(
        at_ms=20 * DAY_MS,
        log=(ClassicGroupRecord(group=GROUP, value=before),),
        topic_ids={"orders": topic},
        offsets={orders: 500},
        clients={"a": SimulatedClient(id="app", host="/10.0.0.1")},
    )
    world = resting(replace(MEMBERS["range"], config={"enable.auto.commit": "false"}), initial)
    assert world.schedule.now_ms == 20 * DAY_MS + 30_000
    assert (world.topics.image.topics["orders"].id, world.topics.end(orders)) == (topic, 515)
    last = world.log[-1]
    assert isinstance(last, ClassicGroupRecord)
    assert last.value is not None
    assert last.value.generation == 42
    assert {(member.client_id, member.host) for member in last.value.members} == {
        ("app", "/10.0.0.1"),
        ("b", "/127.0.0.1"),
        ("c", "/127.0.0.1"),
    }
    assert world.violations.all == []
