"""Static members (KIP-345): ownership of instance ids, fencing, and replacement of a restarted member.

A restarted static member has no member id. Its JoinGroup or ConsumerGroupHeartbeat gets a new id, with the partitions
of the old id, which is fenced. In a consumer group the old member must have left temporarily (epoch -2) before. A
classic group does not rebalance for this unless its protocol would change.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from coordinator.engine.calls import Call
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup, ClassicMember
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import STATIC_LEAVE_EPOCH, ConsumerMember
from coordinator.engine.context import EngineContext
from coordinator.engine.records import (
    NO_PAYLOAD,
    ClassicGroupRecord,
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    Record,
    TargetMemberRecord,
)
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.errors import CannotBeWritten, RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode

_log = logging.getLogger(__name__)


def check_not_fenced(holder: str | None, member: str, instance: str) -> None:
    """Check that the member holds the instance id, whose current holder is `holder`.

    :raises RequestRefused: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if another member holds it
    """
    if holder is None:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance} is unknown.")
    if holder != member:
        raise RequestRefused(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member} with instance id {instance} was fenced by member {holder}.",
        )


def check_classic_member(group: ClassicGroup, member: str, instance: str | None) -> None:
    """Check that the group has the member. :raises RequestRefused: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID"""
    if instance is not None:
        check_not_fenced(group.static.get(instance), member, instance)
    if member not in group.members:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)


def static_member(group: ConsumerGroup, member: str, instance: str) -> ConsumerMember:
    """The member with that instance id. Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if another member has it."""
    holder = group.static_member(instance)
    check_not_fenced(None if holder is None else holder.id, member, instance)
    return group.member(member)


def check_instance_released(holder: ConsumerMember, member: str, instance: str) -> None:
    """Check that a static member may be replaced. Raises UNRELEASED_INSTANCE_ID unless it has left temporarily."""
    if holder.epoch != STATIC_LEAVE_EPOCH:
        raise RequestRefused(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member} with instance id {instance} cannot join the group because the instance id "
            f"is owned by {holder.id} member.",
        )


def replace_in_consumer_group(
    group: ConsumerGroup, old: ConsumerMember, new_id: str
) -> tuple[ConsumerMember, list[Record]]:
    """Replace a static member with another, which gets its target and its partitions. Returns it and its records."""
    current = replace(old.current, epoch=0, previous_epoch=0)
    new = ConsumerMember(id=new_id, metadata=old.metadata, current=current)
    return new, [
        *group.member_tombstones(old.id),
        ConsumerMemberRecord(group=group.id, member=new.id, value=new.metadata),
        TargetMemberRecord(
            group=group.id,
            member=new.id,
            value=group.targets.get(old.id, {}),
            payload=group.payloads.get(old.id, NO_PAYLOAD),
        ),
        CurrentAssignmentRecord(group=group.id, member=new.id, value=new.current),
    ]


def replace_in_classic_group(
    ctx: EngineContext, call: Call, group: ClassicGroup, new: ClassicMember, version: int
) -> None:
    """Give the instance a new member id, fence the old one, and rebalance only if the group's protocol would change.

    `new` is the member as described in its JoinGroup, which has that version. Source:
    GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin.
    """
    instance = new.instance or ""
    old, leader = group.static[instance], group.leader
    before = replace(group.members[old])
    _fence(ctx, group, old)
    member = group.replace_static(instance, new.id)
    rebalance.keep_alive(ctx, group, member)
    group.offer(member, new.protocols)
    member.session_timeout_ms = new.session_timeout_ms
    member.rebalance_timeout_ms = new.rebalance_timeout_ms
    if group.state is GroupState.STABLE and group.elect_protocol() == group.protocol:
        try:
            answer = _replace_silently(ctx, group, member, version, old if leader == old else None)
        except CannotBeWritten as error:
            _log.warning("Group %.80r keeps member %.80r: %s", group.id, old, error)
            answer = _restore_instance(ctx, group, before, leader)
        ctx.answer(call.ticket, answer)
        return
    rebalance.park_join(ctx, group, new.id, call.ticket)
    if group.state is GroupState.PREPARING_REBALANCE:
        rebalance.complete_if_all_joined(ctx, group)
    else:
        rebalance.prepare(ctx, group)


def _restore_instance(
    ctx: EngineContext, group: ClassicGroup, before: ClassicMember, leader: str | None
) -> JoinGroupAnswer:
    """Let the instance keep its previous member id, as the new one cannot be written."""
    instance = before.instance or ""
    ctx.timers.cancel(TimerKey(TimerKind.SESSION, group.id, group.static[instance]))
    member = group.replace_static(instance, before.id)
    group.offer(member, before.protocols)
    member.session_timeout_ms = before.session_timeout_ms
    member.rebalance_timeout_ms = before.rebalance_timeout_ms
    rebalance.keep_alive(ctx, group, member)
    return JoinGroupAnswer(
        error=ErrorCode.UNKNOWN_SERVER_ERROR,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=leader or "",
    )


def _fence(ctx: EngineContext, group: ClassicGroup, old: str) -> None:
    fenced = ErrorCode.FENCED_INSTANCE_ID
    rebalance.answer_join(ctx, group, old, JoinGroupAnswer(error=fenced, member=old))
    rebalance.answer_sync(ctx, group, old, SyncGroupAnswer(error=fenced))
    ctx.timers.cancel(TimerKey(TimerKind.SESSION, group.id, old))


def _replace_silently(
    ctx: EngineContext, group: ClassicGroup, member: ClassicMember, version: int, old_leader: str | None
) -> JoinGroupAnswer:
    """Write the new id, and answer with the current generation.

    Since v9 a replaced leader gets the members and skips the assignment (KIP-814). Before, its answer names its old
    id as the leader, so that it considers itself a follower.
    """
    assignments = {member.id: member.assignment for member in group.members.values()}
    value = group.value(assignments, group.state_since_ms)
    ctx.emit(ClassicGroupRecord(group=group.id, value=value))
    leads = group.leader == member.id and version >= 9
    return JoinGroupAnswer(
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=(group.leader or "") if version >= 9 or old_leader is None else old_leader,
        skip_assignment=leads,
        member=member.id,
        members=group.member_values(group.protocol, {}) if leads else (),
    )
