"""Fault events that happen at once. What becomes of a group is the engine's doing, with records as ever:

- an expired session is the member's own timer that fires now;
- a static member is fenced by what another process with its instance id would send: a JoinGroup, or heartbeats that
  say "away" and join. Nobody is behind it, so its session ends some time later;
- a dynamic member is removed by a LeaveGroup, as an administrator does it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from coordinator.engine.calls import A, Request
from coordinator.engine.classic.group import ClassicGroup, ClassicMember
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.consumer.member import AWAY, ConsumerMember
from coordinator.engine.context import Group
from coordinator.errors import CannotBeWritten, CoordinatorError, RequestRefused
from coordinator.server.caller import Caller
from coordinator.server.cluster import Cluster
from coordinator.server.faults.events import (
    Action,
    AnswerError,
    ChangeTopic,
    CoordinatorFault,
    Disconnect,
    Expire,
    FailCoordinator,
    FaultEvent,
    Fence,
    Rule,
)
from coordinator.server.topics import TopicRefused
from coordinator.store.partition_files import OFFSETS_TOPIC
from wire.errors import ErrorCode
from wire.uuids import format_uuid

_log = logging.getLogger(__name__)

CALLER = Caller(client_id="kohort-fault", host="/127.0.0.1")
"""Who sends the requests of a fault."""
PATIENCE_S = 1.0
"""How long a request of a fault is waited for: a JoinGroup may be parked, and nobody is there to read its answer."""
FENCED_FOR_S = 300.0
"""How long a removed member is answered that it is fenced."""
ANOTHER = "another process has taken its place"


class FaultRefused(CoordinatorError):
    """A fault event that cannot be done now."""


async def carry_out(cluster: Cluster, event: FaultEvent) -> str | int:
    """Do it, and say what was done; or put it in force, and give its id. :raises FaultRefused:"""
    if isinstance(event, Rule):
        return cluster.faults.add(event, cluster.now_ms())
    try:
        return await _ACTIONS[type(event)](cluster, event)
    except (CannotBeWritten, RequestRefused) as error:
        raise FaultRefused(str(error)) from None


async def _expire(cluster: Cluster, event: Expire) -> str:
    group = _group(cluster, event.group)
    members = _members(group, event.member)
    for member in members:
        cluster.groups.expire_session(group.id, member.id)
    left = [member.id for member in members if group.has_member(member.id)]
    if left:
        raise FaultRefused(
            f"{', '.join(left)} waits for an answer to JoinGroup or SyncGroup and does not expire"
        )
    return f"the session of {_listed(members)} has expired"


async def _fence(cluster: Cluster, event: Fence) -> str:
    group = _group(cluster, event.group)
    members = _members(group, event.member)
    for member in members:
        if member.instance is None:
            await _remove(cluster, group, member)
        elif isinstance(group, ClassicGroup):
            await _take_classic_place(cluster, group, member)
        elif isinstance(member, ConsumerMember):
            await _take_place(cluster, group, member)
    how = "removed" if all(member.instance is None for member in members) else f"fenced: {ANOTHER}"
    return f"{_listed(members)} is {how}"


async def _remove(cluster: Cluster, group: Group, member: Any) -> None:
    """A dynamic member. One of the consumer protocol is answered FENCED_MEMBER_EPOCH when it comes next."""
    await _send(cluster, LeaveGroup(group=group.id, members=((member.id, None),)))
    if isinstance(member, ConsumerMember) and member.classic is None:
        fenced = AnswerError(
            error=ErrorCode.FENCED_MEMBER_EPOCH.name,
            api=("ConsumerGroupHeartbeat",),
            group=group.id,
            member=member.id,
            times=1,
            for_s=FENCED_FOR_S,
        )
        cluster.faults.add(fenced, cluster.now_ms())


async def _take_classic_place(cluster: Cluster, group: ClassicGroup, member: Any) -> None:
    await _join(cluster, group.id, member, group.protocol_type, member)


async def _take_place(cluster: Cluster, group: Group, member: ConsumerMember) -> None:
    """A static member of a consumer group, of either protocol."""
    if member.classic is not None:
        await _join(cluster, group.id, member, "consumer", member.classic)
        return
    if member.epoch != AWAY:
        away = ConsumerGroupHeartbeat(group=group.id, member=member.id, epoch=AWAY, instance=member.instance)
        await _send(cluster, away)
    metadata = member.metadata
    await _send(
        cluster,
        ConsumerGroupHeartbeat(
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
        ),
    )


async def _join(cluster: Cluster, group: str, member: Any, protocol_type: str, offered: Any) -> None:
    """`offered` has the session timeout and the protocols of the member."""
    metadata = member if isinstance(member, ClassicMember) else member.metadata
    await _send(
        cluster,
        JoinGroup(
            group=group,
            session_timeout_ms=offered.session_timeout_ms,
            rebalance_timeout_ms=metadata.rebalance_timeout_ms,
            member="",
            instance=member.instance,
            protocol_type=protocol_type,
            protocols=offered.protocols,
        ),
    )


async def _send(cluster: Cluster, request: Request[A]) -> None:
    """Have the engine handle a request. :raises FaultRefused: with its error"""
    asking = asyncio.create_task(cluster.groups.ask(request, CALLER))
    done, _ = await asyncio.wait({asking}, timeout=PATIENCE_S)
    if not done:
        asking.cancel()
        return
    error: ErrorCode = getattr(asking.result(), "error", ErrorCode.NONE)
    if error:
        raise FaultRefused(f"the coordinator answers {error.name}")


def _group(cluster: Cluster, name: str) -> Group:
    group = cluster.groups.state.groups.get(name)
    if group is None:
        raise FaultRefused(f"there is no group {name}")
    return group


def _members(group: Group, name: str) -> list[Any]:
    """By member id, else by instance id, else all with that client id. :raises FaultRefused: there is none"""
    members: list[Any] = list(group.members.values())
    for found in (
        [each for each in members if each.id == name],
        [each for each in members if each.instance == name],
        [each for each in members if _client_id(each) == name],
    ):
        if found:
            return found
    there = ", ".join(each.id for each in members) or "none"
    raise FaultRefused(f"{group.id} has no member with id, instance id or client id {name}; members: {there}")


def _client_id(member: ClassicMember | ConsumerMember) -> str:
    return member.client_id if isinstance(member, ClassicMember) else member.metadata.client_id


def _listed(members: list[Any]) -> str:
    return ", ".join(member.id for member in members)


async def _change_topic(cluster: Cluster, event: ChangeTopic) -> str:
    """:raises FaultRefused:"""
    try:
        async with cluster.topics.changing:
            return await asyncio.to_thread(_changed, cluster, event)
    except TopicRefused as error:
        raise FaultRefused(str(error)) from None
    finally:
        cluster.topics_changed()


def _changed(cluster: Cluster, event: ChangeTopic) -> str:
    topics, name = cluster.topics, event.topic
    known = topics.find(name, None)
    if known is None and event.create is None:
        raise FaultRefused(f"there is no topic {name}")
    if event.partitions is not None:
        topics.grow(name, event.partitions)
        return f"{name} has {event.partitions} partitions"
    if known is not None and event.create is None:
        topics.delete(known)
    if event.delete:
        return f"{name} is deleted"
    made = topics.create(name, event.create or event.recreate or 1)
    return f"{name} is created with {made.partitions} partitions and id {format_uuid(made.id)}"


async def _disconnect(cluster: Cluster, event: Disconnect) -> str:
    sessions = [each for each in cluster.sessions if each.client_id == event.client]
    for session in sessions:
        session.end()
    return f"{len(sessions)} connections of {event.client} are closed"


async def _fail_coordinator(cluster: Cluster, event: FailCoordinator) -> str:
    """Of one group, or of all."""
    if event.fault is CoordinatorFault.CRASH:
        return _crash(cluster, event)
    coordinators = cluster.coordinators
    if event.group is None:
        partitions, whose = list(range(coordinators.partitions)), "all groups"
    else:
        partitions, whose = [coordinators.partition_of(event.group)], event.group
    places = set()
    for partition in partitions:
        place = _next_broker(cluster, partition) if event.to is None else event.to
        cluster.move_coordinator(partition, place, round(event.for_s * 1000))
        places.add(place)
    brokers = ", ".join(map(str, sorted(places)))
    loading = f", which loads for {event.for_s:g} s" if event.for_s else ""
    return f"the coordinator of {whose} is broker {brokers} now{loading}"


def _crash(cluster: Cluster, event: FailCoordinator) -> str:
    """Lose a broker, or all of them, and have it come back: aside, as the connection of who asks may be one to it."""
    if event.group is None:
        lost = [broker.node_id for broker in cluster.present]
    else:
        coordinator = cluster.coordinator_of(event.group)
        lost = [] if coordinator is None else [coordinator.node_id]
    if not lost:
        raise FaultRefused("no broker is there")
    away = asyncio.get_running_loop().create_task(_be_away(cluster, lost, event.for_s))
    _AWAY.add(away)
    away.add_done_callback(_AWAY.discard)
    named = f"broker {lost[0]} is" if len(lost) == 1 else f"brokers {', '.join(map(str, lost))} are"
    return f"{named} away for {event.for_s:g} s"


async def _be_away(cluster: Cluster, lost: Sequence[int], seconds: float) -> None:
    try:
        for node_id in lost:
            await cluster.lose_broker(node_id)
        await asyncio.sleep(seconds)
        for node_id in lost:
            await cluster.restore_broker(node_id)
    except (RequestRefused, OSError) as error:
        _log.warning("A broker that crashed does not come back: %s", error)


_AWAY: set[asyncio.Task[None]] = set()
"""Crashes that are not over; the event loop itself would forget them."""


def _next_broker(cluster: Cluster, partition: int) -> int:
    """The one after the leader of a partition of `__consumer_offsets`; where there is only one, the same again."""
    present = [broker.node_id for broker in cluster.present]
    leader = cluster.leader_of(OFFSETS_TOPIC, partition)
    if not present or leader is None:
        raise FaultRefused("no broker is there")
    return present[(present.index(leader.node_id) + 1) % len(present)]


_ACTIONS: Mapping[type[Action], Callable[[Cluster, Any], Awaitable[str]]] = {
    Expire: _expire,
    Fence: _fence,
    Disconnect: _disconnect,
    ChangeTopic: _change_topic,
    FailCoordinator: _fail_coordinator,
}
