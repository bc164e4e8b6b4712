"""Timeouts of groups: sessions that expire, members that have not joined, synced or revoked in time."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.engine import topic_changes
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer import client_assignment
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.update import remove
from coordinator.engine.context import EngineContext
from coordinator.engine.records import MemberState
from coordinator.engine.timers import TimerKey, TimerKind
from groups.listing import GroupState


def initial_delay_ended(ctx: EngineContext, group: ClassicGroup, key: TimerKey) -> None:
    """Extend the delay if members joined during it and the rebalance timeout permits it; otherwise continue."""
    if group.state is not GroupState.PREPARING_REBALANCE:
        return
    remaining = group.initial_remaining_ms
    if not group.new_member_added or remaining == 0:
        rebalance.complete(ctx, group)
        return
    group.new_member_added = False
    group.initial_remaining_ms = max(0, remaining - group.initial_delay_ms)
    group.initial_delay_ms = min(ctx.config.group_initial_rebalance_delay_ms, remaining)
    ctx.timers.set(key, ctx.now_ms + group.initial_delay_ms)


def join_timed_out(ctx: EngineContext, group: ClassicGroup, _key: TimerKey) -> None:
    if group.state is GroupState.PREPARING_REBALANCE:
        rebalance.complete(ctx, group)


def sync_timed_out(ctx: EngineContext, group: ClassicGroup, _key: TimerKey) -> None:
    """Remove members that have not synced, whether or not the group has become Stable without them."""
    settled = group.state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE)
    if not settled or not group.pending_sync:
        return
    for member in sorted(group.pending_sync):
        rebalance.drop_member(ctx, group, member)
    rebalance.prepare(ctx, group)


def session_timed_out(ctx: EngineContext, group: ClassicGroup, key: TimerKey) -> None:
    """Remove the member, unless it waits for an answer and is not new."""
    member = group.members.get(key.member)
    if member is None:
        return
    waits = member.id in group.joining or member.id in group.syncing
    if waits and not member.is_new:
        return
    rebalance.drop_member(ctx, group, member.id)
    if group.state is GroupState.PREPARING_REBALANCE:
        if group.all_joined():
            rebalance.complete(ctx, group)
    else:
        rebalance.prepare_or_complete(ctx, group)


def pending_member_timed_out(ctx: EngineContext, group: ClassicGroup, key: TimerKey) -> None:
    """Remove a member id that no member joined with."""
    group.pending.discard(key.member)
    if group.state is GroupState.PREPARING_REBALANCE and group.all_joined():
        rebalance.complete(ctx, group)


def classic_group_loaded(ctx: EngineContext, group: ClassicGroup) -> None:
    """Start every member's session after recovery; a group that is too large rebalances."""
    group.learn_subscriptions()
    for member in group.members.values():
        rebalance.keep_alive(ctx, group, member)
    if len(group.members) > ctx.config.group_max_size:
        rebalance.prepare(ctx, group)


CLASSIC_TIMERS: dict[TimerKind, Callable[[EngineContext, ClassicGroup, TimerKey], None]] = {
    TimerKind.INITIAL_DELAY: initial_delay_ended,
    TimerKind.JOIN: join_timed_out,
    TimerKind.SYNC: sync_timed_out,
    TimerKind.SESSION: session_timed_out,
    TimerKind.PENDING_MEMBER: pending_member_timed_out,
}


def member_timed_out(ctx: EngineContext, group: ConsumerGroup, key: TimerKey) -> None:
    """Remove a member whose session expired, or a classic member that has not joined or synced in time."""
    member = group.members.get(key.member)
    if member is not None:
        remove(ctx, group, (member,))


def rebalance_timed_out(ctx: EngineContext, group: ConsumerGroup, key: TimerKey) -> None:
    """Remove a member that has not revoked in time."""
    member = group.members.get(key.member)
    if member is not None and member.current.state is MemberState.UNREVOKED_PARTITIONS:
        remove(ctx, group, (member,))


def resolve_regexes(ctx: EngineContext, group: ConsumerGroup, _key: TimerKey) -> None:
    topic_changes.resolve_regexes(ctx, group)


def consumer_group_loaded(ctx: EngineContext, group: ConsumerGroup) -> None:
    """Start every member's session after recovery, and the rebalance timeout of members that are revoking."""
    session_timeout_ms = ctx.consumer_settings(group.id).session_timeout_ms
    for member in group.members.values():
        ctx.timers.set(TimerKey(TimerKind.SESSION, group.id, member.id), ctx.now_ms + session_timeout_ms)
        if member.current.state is MemberState.UNREVOKED_PARTITIONS:
            revocation = TimerKey(TimerKind.REBALANCE, group.id, member.id)
            ctx.timers.set(revocation, ctx.now_ms + member.metadata.rebalance_timeout_ms)


CONSUMER_TIMERS: dict[TimerKind, Callable[[EngineContext, ConsumerGroup, TimerKey], None]] = {
    TimerKind.SESSION: member_timed_out,
    TimerKind.REBALANCE: rebalance_timed_out,
    TimerKind.JOIN: member_timed_out,
    TimerKind.SYNC: member_timed_out,
    TimerKind.REGEX: resolve_regexes,
    TimerKind.CLIENT_ASSIGNOR: client_assignment.computing_timed_out,
}
