"""What happens in a classic group when time has passed."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.engine import classic_rebalance
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.classic_member import ClassicState
from coordinator.engine.context import Context
from coordinator.engine.timers import TimerKey, TimerKind


def initial_delay_ended(ctx: Context, group: ClassicGroup, key: TimerKey) -> None:
    """Prolong the delay when somebody came during it and the rebalance timeout leaves room; else go on."""
    if group.state is not ClassicState.PREPARING_REBALANCE:
        return
    remaining = group.initial_remaining_ms
    if not group.new_member_added or remaining == 0:
        classic_rebalance.complete(ctx, group)
        return
    group.new_member_added = False
    group.initial_remaining_ms = max(0, remaining - group.initial_delay_ms)
    group.initial_delay_ms = min(ctx.config.group_initial_rebalance_delay_ms, remaining)
    ctx.timers.set(key, ctx.now_ms + group.initial_delay_ms)


def join_timed_out(ctx: Context, group: ClassicGroup, _key: TimerKey) -> None:
    if group.state is ClassicState.PREPARING_REBALANCE:
        classic_rebalance.complete(ctx, group)


def sync_timed_out(ctx: Context, group: ClassicGroup, _key: TimerKey) -> None:
    """Members that have not synced are out, whether or not the group has become Stable without them."""
    settled = group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE)
    if not settled or not group.pending_sync:
        return
    for member in sorted(group.pending_sync):
        classic_rebalance.dismiss(ctx, group, member)
    classic_rebalance.prepare(ctx, group)


def session_timed_out(ctx: Context, group: ClassicGroup, key: TimerKey) -> None:
    """A member is out, unless it waits for an answer (and is not new)."""
    member = group.members.get(key.member)
    if member is None:
        return
    waits = member.id in group.joining or member.id in group.syncing
    if waits and not member.is_new:
        return
    classic_rebalance.dismiss(ctx, group, member.id)
    if group.state is ClassicState.PREPARING_REBALANCE:
        if group.all_joined():
            classic_rebalance.complete(ctx, group)
    else:
        classic_rebalance.prepare_or_complete(ctx, group)


def pending_member_timed_out(ctx: Context, group: ClassicGroup, key: TimerKey) -> None:
    """A member id expires with which nobody joined."""
    group.pending.discard(key.member)
    if group.state is ClassicState.PREPARING_REBALANCE and group.all_joined():
        classic_rebalance.complete(ctx, group)


def loaded(ctx: Context, group: ClassicGroup) -> None:
    """After recovery: every member has its session timeout to be heard of; too large a group rebalances."""
    group.learn_subscriptions()
    for member in group.members.values():
        classic_rebalance.keep_alive(ctx, group, member)
    if len(group.members) > ctx.config.group_max_size:
        classic_rebalance.prepare(ctx, group)


HANDLERS: dict[TimerKind, Callable[[Context, ClassicGroup, TimerKey], None]] = {
    TimerKind.INITIAL_DELAY: initial_delay_ended,
    TimerKind.JOIN: join_timed_out,
    TimerKind.SYNC: sync_timed_out,
    TimerKind.SESSION: session_timed_out,
    TimerKind.PENDING_MEMBER: pending_member_timed_out,
}
