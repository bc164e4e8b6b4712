"""Static members (KIP-345): ownership of instance ids, fencing, and replacement of a restarted member. The restarted
member has no member id: it gets a new one, with the partitions of the old id, which is fenced. In a consumer group
the old member must have left temporarily (epoch -2) before."""

import logging
from dataclasses import replace

from coordinator.engine import records as log
from coordinator.engine.calls import Call
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup, ClassicMember
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.context import EngineContext
from coordinator.engine.timers import TimerKind
from coordinator.errors import CannotBeWritten, RequestRefused
from groups.listing import GroupState
from wire.errors import ErrorCode

_log = logging.getLogger(__name__)


def check_not_fenced(holder: str | None, member: str, instance: str) -> None:
    """Check an instance id's holder. Raises RequestRefused: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    if holder is None:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance} is unknown.")
    if holder != member:
        message = f"Static member {member} with instance id {instance} was fenced by member {holder}."
        raise RequestRefused(ErrorCode.FENCED_INSTANCE_ID, message)


def check_classic_member(group: ClassicGroup, member: str, instance: str | None) -> None:
    """Check that the group has the member. Raises RequestRefused: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    if instance is not None:
        check_not_fenced(group.static.get(instance), member, instance)
    if member not in group.members:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID)


def static_member(group: ConsumerGroup, member: str, instance: str) -> ConsumerMember:
    """The member with that instance id. Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if another member has it."""
    holder = group.static_member(instance)
    check_not_fenced(None if holder is None else holder.id, member, instance)
    return group.member(member)


def replace_in_consumer_group(
    group: ConsumerGroup, old: ConsumerMember, new_id: str
) -> tuple[ConsumerMember, list[log.Record]]:
    """Replace a static member with another, which gets its target and its partitions. Returns it and its records."""
    current = replace(old.current, epoch=0, previous_epoch=0)
    new = ConsumerMember(id=new_id, metadata=old.metadata, current=current)
    return new, [
        *group.member_tombstones(old.id),
        log.ConsumerMemberRecord(group=group.id, member=new.id, value=new.metadata),
        log.TargetMemberRecord(
            group=group.id,
            member=new.id,
            value=group.targets.get(old.id, {}),
            payload=group.payloads.get(old.id, log.NO_PAYLOAD),
        ),
        log.CurrentAssignmentRecord(group=group.id, member=new.id, value=new.current),
    ]


def replace_in_classic_group(
    ctx: EngineContext, call: Call, group: ClassicGroup, new: ClassicMember, version: int
) -> None:
    """Give the instance a new member id, fence the old one, and rebalance only if the group's protocol would change
    (updateStaticMemberThenRebalanceOrCompleteJoin). `new` is described by a JoinGroup of that version."""
    old, leader = group.members[group.static[new.instance or ""]], group.leader
    before = replace(old)
    fenced = ErrorCode.FENCED_INSTANCE_ID
    rebalance.answer_join(ctx, group, old.id, JoinGroupAnswer(error=fenced, member=old.id))
    rebalance.answer_sync(ctx, group, old.id, SyncGroupAnswer(error=fenced))
    _put_instance(ctx, group, new, before.session_timeout_ms)
    if group.state is GroupState.STABLE and group.elect_protocol() == group.protocol:
        try:
            answer = _replace_silently(ctx, group, new.id, version, leader)
        except CannotBeWritten as error:  # the instance keeps its previous member id
            _log.warning("Group %.80r keeps member %.80r: %s", group.id, before.id, error)
            _put_instance(ctx, group, before, before.session_timeout_ms)
            answer = replace(rebalance.joined(group, ""), error=ErrorCode.UNKNOWN_SERVER_ERROR)
        ctx.answer(call.ticket, answer)
        return
    rebalance.park_join(ctx, group, new.id, call.ticket)
    if group.state is GroupState.PREPARING_REBALANCE:
        rebalance.complete_if_all_joined(ctx, group)
    else:
        rebalance.prepare(ctx, group)


def _put_instance(ctx: EngineContext, group: ClassicGroup, new: ClassicMember, session_ms: int) -> None:
    """Give a static member the id, the protocols and the timeouts of `new`; the current session lasts `session_ms`."""
    instance = new.instance or ""
    ctx.stop(TimerKind.SESSION, group.id, group.static[instance])
    member = group.replace_static(instance, new.id)
    group.offer(member, new.protocols)
    rebalance.keep_alive(ctx, group, member, session_ms)
    member.session_timeout_ms = new.session_timeout_ms
    member.rebalance_timeout_ms = new.rebalance_timeout_ms


def _replace_silently(
    ctx: EngineContext, group: ClassicGroup, member: str, version: int, old_leader: str | None
) -> JoinGroupAnswer:
    """Write the new id, and answer with the current generation. Since v9 a replaced leader gets the members and skips
    the assignment (KIP-814). Before, its answer names its old id as the leader: it considers itself a follower."""
    assignments = {member.id: member.assignment for member in group.members.values()}
    value = group.value(assignments, group.state_since_ms)
    ctx.emit(log.ClassicGroupRecord(group=group.id, value=value))
    answer = rebalance.joined(group, member)
    if group.leader != member:
        return answer
    if version < 9:
        return replace(answer, leader=old_leader or "", members=())
    return replace(answer, skip_assignment=True)
