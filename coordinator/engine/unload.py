"""Unloading of groups that another broker will coordinate: waiting requests are refused, and soft state is dropped.

The content of the log remains, as the other broker would load it: hard state is exactly the applied records. So
groups are not read again, but rebuilt from their last records.

Source: CoordinatorRuntime (a shard is unloaded, and loaded elsewhere); GroupMetadataManager.onUnloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import DELETED_ASSIGNMENT, NEW_ASSIGNMENT, NEW_METADATA
from coordinator.engine.context import EngineContext, Group
from coordinator.engine.records import (
    NO_PAYLOAD,
    ConsumerGroupRecord,
    ConsumerGroupValue,
    ConsumerMemberRecord,
    ConsumerRecord,
    CurrentAssignmentRecord,
    PartitionMetadataRecord,
    RegexRecord,
    TargetEpochRecord,
    TargetEpochValue,
    TargetMemberRecord,
)
from coordinator.engine.replay import draft
from wire.errors import ErrorCode


def unload(ctx: EngineContext, belongs: Callable[[str], bool]) -> None:
    """For the groups whose ids `belongs` accepts: answer waiting requests, stop the timers, and drop soft state."""
    groups = ctx.state.groups
    for group in [each for each in groups.values() if belongs(each.id)]:
        for key in list(group.timer_keys()):
            ctx.timers.cancel(key)
        ctx.refreshing.pop(group.id, None)
        if isinstance(group, ClassicGroup):
            _refuse_waiting(ctx, group)
        groups[group.id] = _as_recorded(group)


def _refuse_waiting(ctx: EngineContext, group: ClassicGroup) -> None:
    for member in list(group.joining):
        answer = JoinGroupAnswer(error=ErrorCode.NOT_COORDINATOR, member=member)
        rebalance.answer_join(ctx, group, member, answer)
    for member in list(group.syncing):
        rebalance.answer_sync(ctx, group, member, SyncGroupAnswer(error=ErrorCode.NOT_COORDINATOR))


def _as_recorded(group: Group) -> Group:
    """The group as its records would create it."""
    if isinstance(group, ConsumerGroup):
        return draft(group.id, records_of(group))
    made = ClassicGroup(id=group.id, state_since_ms=group.state_since_ms)
    if group.stored is not None:
        made.store(group.stored)
    return made


def records_of(group: ConsumerGroup) -> Iterator[ConsumerRecord]:
    """A consumer group in a compacted log: one record per key, in the order in which a broker writes them."""
    members = group.members.values()
    for member in members:
        if member.metadata is not NEW_METADATA:
            yield ConsumerMemberRecord(group=group.id, member=member.id, value=member.metadata)
    for regex, resolved in group.regexes.items():
        yield RegexRecord(group=group.id, regex=regex, value=resolved)
    value = ConsumerGroupValue(epoch=group.epoch, metadata_hash=group.metadata_hash)
    yield ConsumerGroupRecord(group=group.id, value=value)
    if group.has_partition_metadata:
        yield PartitionMetadataRecord(group=group.id, value=())
    for name, target in group.targets.items():
        payload = group.payloads.get(name, NO_PAYLOAD)
        yield TargetMemberRecord(group=group.id, member=name, value=target, payload=payload)
    computed = TargetEpochValue(epoch=group.assignment_epoch, assigned_ms=group.assigned_ms)
    yield TargetEpochRecord(group=group.id, value=computed)
    for member in members:
        if member.current is not NEW_ASSIGNMENT:
            current = None if member.current is DELETED_ASSIGNMENT else member.current
            yield CurrentAssignmentRecord(group=group.id, member=member.id, value=current)
