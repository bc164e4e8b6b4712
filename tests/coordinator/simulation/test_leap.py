"""A world with an initial state, and skipped time: an idle group still exists after days."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.records import ClassicGroupRecord, ClassicGroupValue
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Kill, MemberScript, Scenario, Start
from coordinator.simulation.topics import InitialState, SimulatedClient
from coordinator.simulation.world import World

DAY_MS = 86_400_000
ORDERS_0 = TopicPartition("orders", 0)
MEMBER = MemberScript(topics=("orders",), config={"enable.auto.commit": "false"})
MEMBERS = {
    "range": replace(MEMBER, assignors=("range",)),
    "cooperative-sticky": replace(MEMBER, assignors=("cooperative-sticky",)),
    "consumer": replace(MEMBER, protocol="consumer"),
}


def resting(member: MemberScript, beginning: InitialState | None = None) -> World:
    """Two members, idle for half a minute."""
    scenario = Scenario(
        name="resting",
        topics={"orders": 4},
        members={"a": member, "b": member},
        events=(Start(at=0, member="a"), Start(at=0, member="b")),
        records_per_s=0.001,
    )
    world = World(scenario, 1, initial=beginning or InitialState())
    world.schedule.play(world.schedule.now_ms + 30_000, LIMIT)
    return world


@pytest.mark.parametrize("kind", MEMBERS)
def test_members_stay_over_days_of_a_few_heartbeats(kind: str) -> None:
    world = resting(MEMBERS[kind])
    before, written, answered = world.schedule.now_ms, len(world.log), world.answered
    for day in range(1, 6):
        assert world.skip(before + day * DAY_MS, LIMIT)
    assert world.schedule.now_ms == before + 5 * DAY_MS
    assert len(world.log) == written
    assert 5 * 2 < world.answered - answered < 5 * 2 * 10
    assert {name: len(process.owned) for name, process in world.processes.items()} == {"a": 2, "b": 2}
    assert world.violations.all == []


@pytest.mark.parametrize("kind", MEMBERS)
def test_who_dies_after_a_leap_is_removed_when_its_session_ends(kind: str) -> None:
    world = resting(MEMBERS[kind])
    world.skip(world.schedule.now_ms + DAY_MS, LIMIT)
    world.play(Kill(at=0, member="b"))
    killed_ms, written = world.schedule.now_ms, len(world.log)
    while len(world.log) == written:
        world.schedule.play(world.schedule.now_ms + 1000, LIMIT)
    # It was heard at most a heartbeat's interval before.
    assert 45_000 - 6_000 <= world.schedule.now_ms - killed_ms <= 45_000 + 6_000
    world.schedule.play(world.schedule.now_ms + 30_000, LIMIT)
    assert len(world.processes["a"].owned) == 4
    assert world.violations.all == []


def test_a_world_starts_from_its_initial_state() -> None:
    topic = UUID(int=7)
    before = ClassicGroupValue(
        protocol_type="consumer", generation=41, protocol=None, leader=None, state_since_ms=0, members=()
    )
    beginning = InitialState(
        at_ms=20 * DAY_MS,
        log=(ClassicGroupRecord(group=GROUP, value=before),),
        topic_ids={"orders": topic},
        offsets={ORDERS_0: 500},
        clients={"a": SimulatedClient(id="app", host="/10.0.0.1")},
    )
    world = resting(MEMBERS["range"], beginning)
    assert world.schedule.now_ms == 20 * DAY_MS + 30_000
    assert world.topics.image.topics["orders"].id == topic
    assert world.topics.end(ORDERS_0) == 500
    last = world.log[-1]
    assert isinstance(last, ClassicGroupRecord)
    assert last.value is not None
    assert last.value.generation == 42
    assert {(member.client_id, member.host) for member in last.value.members} == {
        ("app", "/10.0.0.1"),
        ("b", "/127.0.0.1"),
    }
    assert world.violations.all == []
