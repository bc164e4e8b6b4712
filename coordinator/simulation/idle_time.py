"""Skipping of idle time, in which a settled group does only periodic work: heartbeats and auto-commits.

A skip ends before the next planned event or timer of the coordinator, at a moment when no request is in flight. The
last heartbeat and commit of each member are passed to the coordinator directly, as if they had taken the longest time
that a message takes. As the random generator is seeded again, all that follows is as if every request had been
played."""

from collections.abc import Callable, Mapping, Sequence

from coordinator.consumer.member import PeriodicTask
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.context import Group
from coordinator.engine.timers import TimerKey
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.network import Network
from coordinator.simulation.node import CoordinatorNode, NodeStatus
from coordinator.simulation.process import Process
from coordinator.simulation.world import World
from groups.listing import GroupState

MIN_IDLE_MS = 500  # The shortest idle time worth skipping
_RECURRING = frozenset({Process.wake, CoordinatorNode.expire, Network.check})
"""Events that are always planned, and do nothing unless something is due."""


def skip_idle(world: World, before_ms: int) -> bool:
    """Skip idle time until `before_ms`, when the caller may act. Returns whether there was enough."""
    began_ms = world.schedule.now_ms
    tasks = _periodic_tasks(world) if before_ms - began_ms > MIN_IDLE_MS else None
    end_ms = None if tasks is None else _end_of_idle(world, tasks, before_ms)
    if tasks is None or end_ms is None:
        return False
    pass_idle(world, end_ms)
    _replay_last(world, tasks, began_ms, end_ms)
    world.schedule.skip(end_ms, _recurs)
    world.resume_periodic_work()
    return True


def _end_of_idle(
    world: World, tasks_by_process: Mapping[Process, Sequence[PeriodicTask]], before_ms: int
) -> int | None:
    """The moment up to which idle time can be skipped; None if there is too little."""
    now_ms, round_trip_ms = world.schedule.now_ms, 2 * world.network.slowest_ms
    periodic_tasks = [task for tasks in tasks_by_process.values() for task in tasks]
    planned_ms = world.schedule.first_except(_recurs)
    timer_ms = world.engine.next_deadline(_renewed_sessions(world, tasks_by_process, round_trip_ms))
    if planned_ms is not None:
        before_ms = min(before_ms, planned_ms)
    if timer_ms is not None:  # it may be the timer of a member whose heartbeat arrives before
        before_ms = min(
            before_ms, timer_ms - round_trip_ms - max((one.every_ms for one in periodic_tasks), default=0)
        )
    end_ms = before_ms - 1
    while end_ms >= now_ms + MIN_IDLE_MS:
        sent_ms = max((task.last_by(end_ms) for task in periodic_tasks), default=0)
        if end_ms - sent_ms >= round_trip_ms:
            return end_ms
        end_ms = sent_ms - 1
    return None


def pass_idle(_world: World, _end_ms: int) -> None:
    """Do the skipped periodic work, except the last of each kind: nothing. A test plays all of it, and compares."""


def _replay_last(
    world: World, tasks: Mapping[Process, Sequence[PeriodicTask]], began_ms: int, end_ms: int
) -> None:
    node, delay_ms = world.coordinator, world.network.slowest_ms
    last = [
        (sent_ms, number, process, request_of)
        for number, process in enumerate(tasks)
        for sent_ms, request_of in process.member.skip_periodic_tasks(tasks[process], began_ms, end_ms)
    ]
    for sent_ms, _, process, request_of in sorted(last, key=lambda entry: entry[:2]):
        world.schedule.now_ms = sent_ms
        request = request_of()
        if type(request) is ConsumerGroupHeartbeat:
            process.reported_ms = sent_ms
        if request is not None:
            world.schedule.now_ms += delay_ms
            node.receive(world.network.lost_connection(process, node.number), 0, request, is_late=False)


def _recurs(action: Callable[..., None]) -> bool:
    return getattr(action, "__func__", None) in _RECURRING


def _periodic_tasks(world: World) -> dict[Process, tuple[PeriodicTask, ...]] | None:
    """The periodic tasks of the members of all running processes; None if anything else may happen."""
    others = (node for node in world.nodes.values() if node is not world.coordinator)
    if (
        world.coordinator.status is not NodeStatus.COORDINATING
        or any(node.status is not NodeStatus.OFF for node in others)
        or not world.network.has_no_faults
    ):
        return None
    running = [process for process in world.processes.values() if process.is_running]
    tasks: dict[Process, tuple[PeriodicTask, ...]] = {}
    if running and not _is_settled(world.engine.state.groups.get(GROUP)):
        return None
    for process in running:
        is_idle = process.is_polling and _is_idle(world, process)
        periodic_tasks = process.member.periodic_tasks if is_idle else None
        if periodic_tasks is None:
            return None
        tasks[process] = periodic_tasks
    return tasks


def _renewed_sessions(
    world: World, tasks_by_process: Mapping[Process, Sequence[PeriodicTask]], round_trip_ms: int
) -> set[TimerKey]:
    """The timers of sessions that heartbeats renew in time, however long the group is idle. A session lasts from the
    arrival of a heartbeat, which is not before the last one was sent: if the next one arrives before the deadline,
    with a round trip to spare for the delay of the last one, every later one does."""
    renewed = set()
    for process, tasks in tasks_by_process.items():
        if tasks:
            session = world.engine.session_deadline(GROUP, process.member.member_id)
            if session is not None and tasks[0].next_ms + 2 * round_trip_ms < session[1]:
                renewed.add(session[0])
    return renewed


def _is_settled(group: Group | None) -> bool:
    """Whether no rebalance of the group is under way or will begin by itself."""
    if isinstance(group, ClassicGroup):
        return group.state is GroupState.STABLE
    return (
        isinstance(group, ConsumerGroup)
        and group.assignment_epoch == group.epoch
        and not group.refresh_metadata
        and not group.regex_users  # heartbeats cause regexes to be resolved again
    )


def _is_idle(world: World, process: Process) -> bool:
    """Whether the coordinator of a settled group only answers the member's heartbeats and accepts its commits."""
    group, member = world.engine.state.groups[GROUP], process.member
    if world.is_zombie(process):
        return False
    if isinstance(group, ClassicGroup):
        return member.epoch == group.generation
    return group.members[member.member_id].reconciled_to(member.epoch) and member.epoch == group.epoch
