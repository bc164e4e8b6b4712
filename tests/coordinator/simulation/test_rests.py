"""Leaps over rests: what follows is what it would be, had all heartbeats and commits been played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from coordinator.engine.records import OffsetRecord
from coordinator.faults import CoordinatorFault, FailCoordinator
from coordinator.simulation import idle_time
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.run import LIMIT
from coordinator.simulation.scenario import Event, Kill, MemberScript, Restart, Scenario, Start
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
AFTERWARDS: Mapping[str, Event] = {
    "a process dies": Kill(at=0, member="b"),
    "a process is restarted": Restart(at=0, member="b", script=MEMBER, after_s=60),
    "the coordinator crashes": FailCoordinator(at=0, fault=CoordinatorFault.CRASH, for_s=2),
}


def resting(member: MemberScript) -> World:
    """Three members, idle for half a minute."""
    names = ("a", "b", "c")
    scripts = {name: replace(member, instance=member.instance and f"i-{name}") for name in names}
    starts = tuple(Start(at=0, member=name) for name in names)
    world = World(Scenario(name="resting", topics={"orders": 7}, members=scripts, events=starts), 1)
    world.schedule.play(30_000, LIMIT)
    return world


def leap(world: World, before_ms: int) -> int:
    """The length of a skip, if the group is idle within a second: requests may be in flight."""
    for _ in range(1_000):
        began_ms = world.schedule.now_ms
        if idle_time.skip_idle(world, before_ms):
            return world.schedule.now_ms - began_ms
        world.schedule.play(began_ms + 1, LIMIT)
    return 0


def play_all(world: World, end_ms: int) -> None:
    world.schedule.play(end_ms, LIMIT)


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("afterwards", AFTERWARDS)
def test_what_follows_is_as_if_all_had_been_played(
    kind: str, afterwards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions end, offsets are read and coordinators load as they would."""
    stories, groups, offsets = [], [], []
    for plays in (False, True):
        with monkeypatch.context() as patch:
            if plays:
                patch.setattr(idle_time, "pass_idle", play_all)
            world = resting(MEMBERS[kind])
            assert leap(world, 60_000) > 20_000
            event = AFTERWARDS[afterwards]
            if isinstance(event, Restart):
                event = replace(event, script=world.scenario.members["b"])
            world.play(event)
            world.schedule.play(world.schedule.now_ms + 90_000, LIMIT)
        assert world.violations.all == []
        stories.append(world.story.entries())
        groups.append([record for record in world.log if type(record) is not OffsetRecord])
        offsets.append(world.engine.state.offsets)
    assert stories[0] == stories[1]
    assert groups[0] == groups[1]
    assert offsets[0] == offsets[1]


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
    assert idle_time.end_of_idle(world, 600_000) is None


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
