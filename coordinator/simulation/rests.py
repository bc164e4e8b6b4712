"""Leaps over the time in which a group at rest does what it does by routine: heartbeats and automatic commits.

Theory of operation. A group is at rest where every member that runs has routines alone before it, and the coordinator
takes its heartbeats and commits without a change of the group. Nothing else happens until something is planned that
is no routine, or a timer of the coordinator ends: requests of that time leave behind when each member was heard last,
and what it has committed last.

So a leap ends at a moment at which no request is under way. The last heartbeat and the last commit of each member are
handed to the coordinator by themselves, as if they had taken the longest time that a message takes. As chance is drawn
anew after a leap, all that follows is what it would be, had every request been played, and those last ones twice.
"""

from __future__ import annotations

from collections.abc import Callable

from coordinator.consumer.member import Routine
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.network import Network
from coordinator.simulation.node import Node, NodeStatus
from coordinator.simulation.process import Process
from coordinator.simulation.world import World
from groups.listing import GroupState

SHORTEST_MS = 500
"""A rest that is worth a leap."""

_RECURRING = frozenset({Process.wake, Node.expire, Network.check})
"""Planned all the time, for what is due by then or is not."""


def leap(world: World, before_ms: int) -> bool:
    """Leap over the group's rest; whether it is at one that is long enough.

    :param before_ms: when the caller may do something with the group
    """
    began_ms, end_ms = world.schedule.now_ms, end_of_rest(world, before_ms)
    if end_ms is None:
        return False
    pass_rest(world, end_ms)
    _do_last(world, began_ms, end_ms)
    world.schedule.skip(end_ms, _recurs)
    world.begin_anew()
    return True


def end_of_rest(world: World, before_ms: int) -> int | None:
    """The last moment to which one can leap from now; None where the group is not at rest, or not for long."""
    now_ms, round_trip_ms = world.schedule.now_ms, 2 * world.network.slowest_ms
    routines = _routines(world) if before_ms - now_ms > SHORTEST_MS else None
    if routines is None:
        return None
    planned_ms, timer_ms = world.schedule.first_but(_recurs), world.engine.next_deadline()
    if planned_ms is not None:
        before_ms = min(before_ms, planned_ms)
    if timer_ms is not None:  # it may be that of a member which is heard before, by its routine
        before_ms = min(
            before_ms, timer_ms - round_trip_ms - max((one.every_ms for one in routines), default=0)
        )
    end_ms = before_ms - 1
    while end_ms >= now_ms + SHORTEST_MS:
        sent_ms = max((each.last_by(end_ms) for each in routines), default=0)
        if end_ms - sent_ms >= round_trip_ms:
            return end_ms
        end_ms = sent_ms - 1
    return None


def pass_rest(_world: World, _end_ms: int) -> None:
    """What is done of the routines but for the last ones: nothing. A test has them all played, and compares."""


def _do_last(world: World, began_ms: int, end_ms: int) -> None:
    node, delay_ms = world.coordinator, world.network.slowest_ms
    last = [
        (sent_ms, number, process, request_of)
        for number, process in enumerate(world.processes.values())
        if process.is_running
        for sent_ms, request_of in process.member.skip_routines(began_ms, end_ms)
    ]
    for sent_ms, _, process, request_of in sorted(last, key=lambda each: each[:2]):
        world.schedule.now_ms = sent_ms
        request = request_of()
        if type(request) is ConsumerGroupHeartbeat:
            process.reported_ms = sent_ms
        if request is not None:
            world.schedule.now_ms += delay_ms
            node.receive(world.network.nowhere(process, node.number), 0, request, is_late=False)


def _recurs(action: Callable[..., None]) -> bool:
    return getattr(action, "__func__", None) in _RECURRING


def _routines(world: World) -> list[Routine] | None:
    """Of all members; None where anything else may happen."""
    others = (node for node in world.nodes.values() if node is not world.coordinator)
    if (
        world.coordinator.status is not NodeStatus.COORDINATING
        or any(node.status is not NodeStatus.OFF for node in others)
        or not world.network.is_calm
    ):
        return None
    found: list[Routine] = []
    for process in world.processes.values():
        if process.is_running:
            routines = process.member.routines
            if routines is None or not process.is_polling or not _is_left_alone(world, process):
                return None
            found += routines
    return found


def _is_left_alone(world: World, process: Process) -> bool:
    """Whether the coordinator answers its heartbeats, and takes its commits, and that is all."""
    group, member = world.engine.state.groups.get(GROUP), process.member
    if world.is_zombie(process):
        return False
    if isinstance(group, ClassicGroup):
        return group.state is GroupState.STABLE and member.epoch == group.generation
    if not isinstance(group, ConsumerGroup):
        return False
    return (
        group.members[member.member_id].reconciled_to(member.epoch)
        and member.epoch == group.assignment_epoch == group.epoch
        and not group.refresh_metadata
        and not group.regex_users  # heartbeats have them resolved again
    )
