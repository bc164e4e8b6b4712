"""Members that leave a consumer group, go away for a while, or are removed.

A removal moves the group epoch on and starts no computation: the next heartbeat of a member does.

Source: GroupMetadataManager.consumerGroupLeave, consumerGroupFenceMembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coordinator.engine import downgrade
from coordinator.engine.answers import ConsumerGroupHeartbeatAnswer
from coordinator.engine.calls import ConsumerGroupHeartbeat
from coordinator.engine.consumer_checks import static_member
from coordinator.engine.consumer_group import ConsumerGroup, member_timer_keys
from coordinator.engine.consumer_member import AWAY, ConsumerMember, normal_assignment
from coordinator.engine.consumer_open import find_group
from coordinator.engine.consumer_update import removal
from coordinator.engine.context import Context
from coordinator.engine.records import (
    ConsumerGroupRecord,
    ConsumerGroupValue,
    CurrentAssignmentRecord,
    RegexRecord,
)
from coordinator.engine.subscription import metadata_hash
from coordinator.engine.timers import TimerKey, TimerKind


def leave(ctx: Context, request: ConsumerGroupHeartbeat) -> ConsumerGroupHeartbeatAnswer:
    """A heartbeat with epoch -1 or -2. Raises CoordinatorError."""
    group = find_group(ctx, request.group)
    if request.instance is None:
        member = group.member(request.member)
    else:
        member = static_member(group, request.member, request.instance)
    if request.epoch == AWAY:
        _go_away(ctx, group, member)
    else:
        remove(ctx, group, (member,))
    return ConsumerGroupHeartbeatAnswer(member=request.member, epoch=request.epoch)


def remove(ctx: Context, group: ConsumerGroup, members: Sequence[ConsumerMember]) -> None:
    """Take members out of the group, with their timers, and regexes that nobody uses any more.

    Where only members of the classic protocol are left the group becomes a classic one, if the policy lets it.
    """
    if not members:
        return
    if downgrade.may_leave(ctx, group, members):
        downgrade.convert(ctx, group, leaving=members, rebalance=True)
        return
    for member in members:
        for record in removal(group, member):
            ctx.emit(record)
        for key in member_timer_keys(group.id, member.id):
            ctx.timers.cancel(key)
    for regex in sorted({member.metadata.regex for member in members} - group.regex_users.keys() - {""}):
        ctx.emit(RegexRecord(group=group.id, regex=regex, value=None))
    fingerprint = metadata_hash(group.subscribed_topics(), ctx.topics)
    value = ConsumerGroupValue(epoch=group.epoch + 1, metadata_hash=fingerprint)
    ctx.emit(ConsumerGroupRecord(group=group.id, value=value))


def _go_away(ctx: Context, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Keep the member's place, target and partitions until its session ends; it may come back under another id."""
    current = replace(
        member.current,
        epoch=AWAY,
        revoking={},
        assigned_epochs=dict.fromkeys(member.current.assigned_epochs, 0),
    )
    ctx.emit(CurrentAssignmentRecord(group=group.id, member=member.id, value=normal_assignment(current)))
    ctx.timers.cancel(TimerKey(TimerKind.REBALANCE, group.id, member.id))
