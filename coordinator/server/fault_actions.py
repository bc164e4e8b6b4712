"""Faults that happen at once: a static member is fenced by requests of another, short-lived process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from coordinator import faults
from coordinator.engine.calls import A, Request
from coordinator.engine.classic.group import ClassicGroup, ClassicMember
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.consumer.member import STATIC_LEAVE_EPOCH, ConsumerMember
from coordinator.engine.context import Group
from coordinator.errors import CannotBeWritten, CoordinatorError, RequestRefused
from coordinator.server.broker import Caller
from coordinator.server.cluster import Cluster
from coordinator.server.faults.reading import tree_of
from coordinator.store.partition_files import OFFSETS_TOPIC
from groups.counts import counted
from groups.times import seconds_text
from wire.errors import ErrorCode
from wire.uuids import format_uuid

_log = logging.getLogger(__name__)

CALLER = Caller(client_id="kohort-fault", host="/127.0.0.1")  # the sender of the requests of a fault
ANSWER_TIMEOUT_S = 1.0  # a JoinGroup may be parked, and no client reads its answer
FENCED_FOR_S = 300.0  # how long a removed member is answered that it is fenced


class FaultRefused(CoordinatorError):
    """A fault that cannot be injected now."""


async def carry_out(cluster: Cluster, event: faults.FaultEvent) -> str | int:
    """Inject a fault and describe what was done; or activate a rule and return its id. Raises FaultRefused."""
    if isinstance(event, faults.RequestRule):
        return cluster.faults.add(event, cluster.now_ms())
    try:
        return await _ACTIONS[type(event)](cluster, event)
    except (CannotBeWritten, RequestRefused) as error:
        raise FaultRefused(str(error)) from None


async def play(cluster: Cluster, events: Sequence[faults.FaultEvent], report: Callable[[str], None]) -> None:
    """Inject faults, sorted by time, counting from now; `report` gets a line on each, injected or refused."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    for event in events:
        await asyncio.sleep(began + event.at - loop.time())
        text = ", ".join(f"{key} {value}" for key, value in tree_of(event).items())
        try:
            done = await carry_out(cluster, event)
        except FaultRefused as error:
            report(f"at {event.at:g} s: {text}: not done: {error}")
        else:
            report(f"at {event.at:g} s: {text if isinstance(done, int) else done}")


async def _expire(cluster: Cluster, event: faults.Expire) -> str:
    group = _group(cluster, event.group)
    members = _members(group, event.member)
    for member in members:
        cluster.groups.expire_session(group.id, member.id)
    left = [member for member in members if group.has_member(member.id)]
    if left:
        raise FaultRefused(f"{_listed(left)} waits for an answer to JoinGroup or SyncGroup and cannot expire")
    return f"the session of {_listed(members)} has expired"


async def _fence(cluster: Cluster, event: faults.Fence) -> str:
    group = _group(cluster, event.group)
    members = _members(group, event.member)
    for member in members:
        if member.instance is None:
            await _remove(cluster, group, member)
        elif isinstance(group, ClassicGroup):
            await _join(cluster, group.id, member, group.protocol_type, member)
        elif isinstance(member, ConsumerMember):
            await _take_place(cluster, group, member)
    is_fenced = any(member.instance is not None for member in members)
    how = "fenced: another process has taken its place" if is_fenced else "removed"
    return f"{_listed(members)} is {how}"


async def _remove(cluster: Cluster, group: Group, member: Any) -> None:
    """Remove a dynamic member. In the consumer protocol its next heartbeat is answered FENCED_MEMBER_EPOCH."""
    await _send(cluster, LeaveGroup(group=group.id, members=((member.id, None),)))
    if isinstance(member, ConsumerMember) and member.classic is None:
        fenced = faults.AnswerError(
            error=ErrorCode.FENCED_MEMBER_EPOCH.name,
            api=("ConsumerGroupHeartbeat",),
            group=group.id,
            member=member.id,
            times=1,
            for_s=FENCED_FOR_S,
        )
        cluster.faults.add(fenced, cluster.now_ms())


async def _take_place(cluster: Cluster, group: Group, member: ConsumerMember) -> None:
    if member.classic is not None:
        await _join(cluster, group.id, member, "consumer", member.classic)
        return
    if member.epoch != STATIC_LEAVE_EPOCH:
        away = ConsumerGroupHeartbeat(
            group=group.id, member=member.id, epoch=STATIC_LEAVE_EPOCH, instance=member.instance
        )
        await _send(cluster, away)
    metadata = member.metadata
    joining = ConsumerGroupHeartbeat(
        group=group.id,
        member=format_uuid(uuid4()),
        epoch=0,
        instance=member.instance,
        rack=metadata.rack,
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        topics=metadata.topics,
        regex=metadata.regex,
        assignor=metadata.assignor,
        owned={},
    )
    await _send(cluster, joining)


async def _join(cluster: Cluster, group: str, member: Any, protocol_type: str, offered: Any) -> None:
    """`offered` has the session timeout and the protocols of the member."""
    metadata = member if isinstance(member, ClassicMember) else member.metadata
    joining = JoinGroup(
        group=group,
        session_timeout_ms=offered.session_timeout_ms,
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        member="",
        instance=member.instance,
        protocol_type=protocol_type,
        protocols=offered.protocols,
    )
    await _send(cluster, joining)


async def _send(cluster: Cluster, request: Request[A]) -> None:
    """Pass a request to the engine. Raises FaultRefused: with the engine's error."""
    asking = asyncio.create_task(cluster.groups.ask(request, CALLER))
    done, _ = await asyncio.wait({asking}, timeout=ANSWER_TIMEOUT_S)
    if not done:
        asking.cancel()
        return
    error: ErrorCode = getattr(asking.result(), "error", ErrorCode.NONE)
    if error:
        raise FaultRefused(f"the coordinator answered {error.name}")


def _group(cluster: Cluster, name: str) -> Group:
    group = cluster.groups.state.groups.get(name)
    if group is None:
        raise FaultRefused(f"there is no group {name}")
    return group


def _members(group: Group, name: str) -> list[Any]:
    """The members with this member id, or else instance id, or else client id. Raises FaultRefused: unknown."""
    members: list[Any] = list(group.members.values())
    for names in (
        [member.id for member in members],
        [member.instance for member in members],
        [(one if isinstance(one, ClassicMember) else one.metadata).client_id for one in members],
    ):
        if name in names:
            return [member for member, known in zip(members, names, strict=True) if known == name]
    there = ", ".join(member.id for member in members) or "none"
    raise FaultRefused(f"{group.id} has no member with id, instance id or client id {name}; members: {there}")


def _listed(members: list[Any]) -> str:
    return ", ".join(member.id for member in members)


async def _change_topic(cluster: Cluster, event: faults.ChangeTopic) -> str:
    """Raises RequestRefused. Raises FaultRefused."""
    try:
        async with cluster.topics.changing:
            return await asyncio.to_thread(_changed, cluster, event)
    finally:
        cluster.topics_changed()


def _changed(cluster: Cluster, event: faults.ChangeTopic) -> str:
    topics, name = cluster.topics, event.topic
    known = topics.find(name, None)
    if known is None and event.create is None:
        raise FaultRefused(f"there is no topic {name}")
    if event.partitions is not None:
        topics.grow(name, event.partitions)
        return f"{name} has {event.partitions} partitions"
    if known is not None and event.deletes:
        topics.delete(known)
    if event.count is None:
        return f"{name} is deleted"
    made = topics.create(name, event.count)
    return f"{name} is created with {made.partitions} partitions and id {format_uuid(made.id)}"


async def _disconnect(cluster: Cluster, event: faults.Disconnect) -> str:
    sessions = [connected for connected in cluster.sessions if connected.client_id == event.client]
    for session in sessions:
        session.end()
    return f"closed {counted(len(sessions), 'connection')} of {event.client}"


async def _fail_coordinator(cluster: Cluster, event: faults.FailCoordinator) -> str:
    if event.fault is faults.CoordinatorFault.CRASH:
        return _crash(cluster, event)
    coordinators = cluster.coordinators
    if event.group is None:
        partitions, whose = list(range(coordinators.partitions)), "all groups"
    else:
        partitions, whose = [coordinators.partition_of(event.group)], event.group
    node_ids = set()
    for partition in partitions:
        node_id = _next_broker(cluster, partition) if event.to is None else event.to
        cluster.move_coordinator(partition, node_id, round(event.for_s * 1000))
        node_ids.add(node_id)
    brokers = ", ".join(map(str, sorted(node_ids)))
    loading = f", which loads for {seconds_text(event.for_s)}" if event.for_s else ""
    return f"the coordinator of {whose} is now broker {brokers}{loading}"


def _crash(cluster: Cluster, event: faults.FailCoordinator) -> str:
    """Stop a broker, or all of them, and restart it later, in a task: the caller's connection may be one of its."""
    if event.group is None:
        lost = [broker.node_id for broker in cluster.present]
    else:
        coordinator = cluster.coordinator_of(event.group)
        lost = [] if coordinator is None else [coordinator.node_id]
    if not lost:
        raise FaultRefused("no broker is running")
    away = asyncio.get_running_loop().create_task(_restart_later(cluster, lost, event.for_s))
    _PENDING_RESTARTS.add(away)
    away.add_done_callback(_PENDING_RESTARTS.discard)
    named = f"broker {lost[0]} is" if len(lost) == 1 else f"brokers {', '.join(map(str, lost))} are"
    return f"{named} down for {seconds_text(event.for_s)}"


async def _restart_later(cluster: Cluster, lost: Sequence[int], seconds: float) -> None:
    try:
        for node_id in lost:
            await cluster.stop_broker(node_id)
        await asyncio.sleep(seconds)
        for node_id in lost:
            await cluster.restart_broker(node_id)
    except (RequestRefused, OSError) as error:
        _log.warning("A crashed broker could not restart: %s", error)


_PENDING_RESTARTS: set[asyncio.Task[None]] = set()  # the event loop does not keep them alive


def _next_broker(cluster: Cluster, partition: int) -> int:
    """The broker after the leader of a partition of `__consumer_offsets`; the leader if there is no other."""
    present = [broker.node_id for broker in cluster.present]
    leader = cluster.leader_of(OFFSETS_TOPIC, partition)
    if not present or leader is None:
        raise FaultRefused("no broker is running")
    return present[(present.index(leader.node_id) + 1) % len(present)]


_ACTIONS: Mapping[type[faults.Action], Callable[[Cluster, Any], Awaitable[str]]] = {
    faults.Expire: _expire,
    faults.Fence: _fence,
    faults.Disconnect: _disconnect,
    faults.ChangeTopic: _change_topic,
    faults.FailCoordinator: _fail_coordinator,
}
