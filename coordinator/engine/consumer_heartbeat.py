"""ConsumerGroupHeartbeat: joining, staying and leaving under the consumer protocol.

    epoch 0     join, or rejoin after having given up everything
    epoch > 0   alive; None in a field means unchanged
    epoch -1    leave
    epoch -2    a static member goes away for a while

Source: KIP-848 "ConsumerGroupHeartbeat"; GroupMetadataManager.consumerGroupHeartbeat.
"""

from __future__ import annotations

from dataclasses import replace

from coordinator.engine import client_assignment
from coordinator.engine.answers import ConsumerGroupHeartbeatAnswer
from coordinator.engine.calls import Call, ConsumerGroupHeartbeat
from coordinator.engine.client_side import SILENCE, check_reads_classic
from coordinator.engine.consumer_checks import (
    check_epoch,
    check_instance_released,
    check_request,
    check_room,
    static_member,
)
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.consumer_leave import leave
from coordinator.engine.consumer_member import AWAY, LEFT, ConsumerMember, normal_topics, same_assigned
from coordinator.engine.consumer_open import find_group, open_group
from coordinator.engine.consumer_update import Update, commit, replace_member, retarget, settle, subscribe
from coordinator.engine.context import Context
from coordinator.engine.records import ConsumerMemberValue, Record
from coordinator.engine.timers import TimerKey, TimerKind
from wire.uuids import format_uuid


def handle(ctx: Context, call: Call, request: ConsumerGroupHeartbeat) -> None:
    """Answer a heartbeat. Raises CoordinatorError when it is refused; then nothing changed."""
    check_request(request, ctx.config)
    answer = leave(ctx, request) if request.epoch in (LEFT, AWAY) else _heartbeat(ctx, call, request)
    ctx.answer(call.ticket, answer)


def _heartbeat(ctx: Context, call: Call, request: ConsumerGroupHeartbeat) -> ConsumerGroupHeartbeatAnswer:
    opened = open_group(ctx, request.group, joins=request.epoch == 0)
    group = opened.group
    check_room(group, request.member, ctx.config)
    member_id = request.member or format_uuid(call.fresh_id)
    before, records = _find(group, request, member_id)
    if request.epoch == 0 and request.client_assignors:
        others = [member for member in group.members.values() if member.id not in (member_id, before.id)]
        check_reads_classic(others, request.client_assignors)
    update = Update(
        ctx=ctx,
        group=group,
        before=before,
        after=replace(before, metadata=_metadata(before.metadata, request, call)),
        records=[*opened.records, *records],
        client_assignors=request.client_assignors,
    )
    subscribe(update)
    target_epoch, target = retarget(update)
    settle(update, target_epoch, target, request.owned)
    opened.enter(ctx)
    commit(update)
    if before.classic is not None:
        # It has nothing to join or to sync any more; Kafka lets these timers run and removes the member.
        for kind in (TimerKind.JOIN, TimerKind.SYNC):
            ctx.timers.cancel(TimerKey(kind, group.id, member_id))
    return _answer(ctx, request, update)


def _find(
    group: ConsumerGroup, request: ConsumerGroupHeartbeat, member_id: str
) -> tuple[ConsumerMember, list[Record]]:
    """The member as it is, and the records that make it one where it replaces another."""
    joins, instance = request.epoch == 0, request.instance
    if instance is None:
        member = group.members.get(member_id) if joins else group.member(member_id)
        member = member or ConsumerMember(id=member_id)
        check_epoch(member, request.epoch, request.owned)
        return member, []
    if not joins:
        member = static_member(group, member_id, instance)
        check_epoch(member, request.epoch, request.owned)
        return member, []
    holder = group.static_member(instance)
    if holder is None:
        return group.members.get(member_id) or ConsumerMember(id=member_id), []
    if holder.classic is None:
        check_instance_released(holder, member_id, instance)
    new = ConsumerMember(
        id=member_id, metadata=holder.metadata, current=replace(holder.current, epoch=0, previous_epoch=0)
    )
    return new, replace_member(group, holder, new)


def _metadata(old: ConsumerMemberValue, request: ConsumerGroupHeartbeat, call: Call) -> ConsumerMemberValue:
    """The member's metadata with what the request says; whoever sends this speaks the consumer protocol."""
    timeout_ms = request.rebalance_timeout_ms
    return ConsumerMemberValue(
        instance=old.instance if request.instance is None else request.instance,
        rack=old.rack if request.rack is None else request.rack,
        client_id=call.client_id,
        host=call.host,
        topics=old.topics if request.topics is None else normal_topics(request.topics),
        regex=old.regex if request.regex is None else request.regex,
        rebalance_timeout_ms=old.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        assignor=old.assignor if request.assignor is None else request.assignor,
    )


def _answer(ctx: Context, request: ConsumerGroupHeartbeat, update: Update) -> ConsumerGroupHeartbeatAnswer:
    group = find_group(ctx, request.group)
    settings = ctx.consumer_settings(request.group)
    session = TimerKey(TimerKind.SESSION, request.group, update.after.id)
    ctx.timers.set(session, ctx.now_ms + settings.session_timeout_ms)
    full = (
        request.rebalance_timeout_ms != -1
        and (request.topics is not None or request.regex is not None)
        and request.owned is not None
    )
    client = group.client
    heard = update.after.epoch == group.assignment_epoch and client.reach_target(update.after.id)
    moved = not same_assigned(update.before.current, update.after.current)
    tell = request.epoch == 0 or full or moved or heard
    word = client.word_for(update.after.id) if tell else SILENCE
    return ConsumerGroupHeartbeatAnswer(
        member=update.after.id,
        epoch=update.after.epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        assignment=update.after.assigned if tell else None,
        should_compute=client_assignment.should_compute(ctx, request.group, update.after),
        metadata=word.metadata,
        assignment_error=word.error,
    )
