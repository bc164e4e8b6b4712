"""What happens in a consumer group when time has passed.

The assignment interval and the refresh of regexes need no timer of their own: the next heartbeat looks at the time.
"""

from __future__ import annotations

from collections.abc import Callable

from coordinator.engine import client_assignment, regex_refresh
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.consumer_leave import remove
from coordinator.engine.context import Context
from coordinator.engine.records import MemberState
from coordinator.engine.timers import TimerKey, TimerKind


def member_timed_out(ctx: Context, group: ConsumerGroup, key: TimerKey) -> None:
    """A session ended, or a classic member has not joined or synced within its rebalance timeout."""
    member = group.members.get(key.member)
    if member is not None:
        remove(ctx, group, (member,))


def rebalance_timed_out(ctx: Context, group: ConsumerGroup, key: TimerKey) -> None:
    """A member has not given up in time what it was told to."""
    member = group.members.get(key.member)
    if member is not None and member.current.state is MemberState.UNREVOKED_PARTITIONS:
        remove(ctx, group, (member,))


def resolve_regexes(ctx: Context, group: ConsumerGroup, _key: TimerKey) -> None:
    regex_refresh.resolve(ctx, group)


def loaded(ctx: Context, group: ConsumerGroup) -> None:
    """After recovery: every member has a session to be heard of, and those that revoke their rebalance timeout."""
    session_timeout_ms = ctx.consumer_settings(group.id).session_timeout_ms
    for member in group.members.values():
        ctx.timers.set(TimerKey(TimerKind.SESSION, group.id, member.id), ctx.now_ms + session_timeout_ms)
        if member.current.state is MemberState.UNREVOKED_PARTITIONS:
            rebalance = TimerKey(TimerKind.REBALANCE, group.id, member.id)
            ctx.timers.set(rebalance, ctx.now_ms + member.metadata.rebalance_timeout_ms)


HANDLERS: dict[TimerKind, Callable[[Context, ConsumerGroup, TimerKey], None]] = {
    TimerKind.SESSION: member_timed_out,
    TimerKind.REBALANCE: rebalance_timed_out,
    TimerKind.JOIN: member_timed_out,
    TimerKind.SYNC: member_timed_out,
    TimerKind.REGEX: resolve_regexes,
    TimerKind.CLIENT_ASSIGNOR: client_assignment.computing_timed_out,
}
