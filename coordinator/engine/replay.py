"""Records to state, and state to records. Hard state is exactly the applied records, so a group that another broker
coordinates is rebuilt from its last records, as that broker would load it. Source: CoordinatorRuntime;
GroupMetadataManager.onUnloaded."""

from collections.abc import Callable, Iterable, Iterator

from coordinator.engine import records as log
from coordinator.engine.classic import rebalance
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import DELETED_ASSIGNMENT, NEW_ASSIGNMENT, NEW_METADATA
from coordinator.engine.context import EngineContext, EngineState
from wire.errors import ErrorCode


def replay_classic_group(state: EngineState, record: log.ClassicGroupRecord) -> None:
    """Apply a record: a value creates or changes the group (of any former type), a tombstone removes it."""
    group = state.groups.get(record.group)
    if record.value is None:
        if isinstance(group, ClassicGroup):
            del state.groups[record.group]
        return
    if not isinstance(group, ClassicGroup):
        group = ClassicGroup(id=record.group, state_since_ms=record.value.state_since_ms)
        state.groups[record.group] = group
    group.store(record.value)


def replay_consumer_group(state: EngineState, record: log.ConsumerRecord) -> None:
    group = state.groups.get(record.group)
    if not isinstance(group, ConsumerGroup):
        if record.value is None:
            return
        group = ConsumerGroup(record.group)
        state.groups[record.group] = group
    if isinstance(record, log.ConsumerGroupRecord) and record.value is None:
        del state.groups[record.group]
        return
    group.apply(record)


def draft(group_id: str, records: Iterable[log.ConsumerRecord]) -> ConsumerGroup:
    """A group that is not part of the state: created from these records alone."""
    group = ConsumerGroup(group_id)
    for record in records:
        group.apply(record)
    return group


def replay_offset(state: EngineState, record: log.OffsetRecord, producer_id: int | None = None) -> None:
    """Store or delete an offset; an offset of a transaction, which has a producer id, stays pending until its end.
    The first offset of an unknown group creates a simple group. A tombstone deletes at once."""
    group, topic, partition, value = record
    key = topic, partition
    if value is None:
        state.pending.drop(group, key)
        offsets = state.offsets.get(group, {})
        offsets.pop(key, None)
        if not offsets:
            state.offsets.pop(group, None)
        return
    if group not in state.groups and group not in state.other_types:
        state.groups[group] = ClassicGroup(id=group, state_since_ms=value.commit_ms)
    if producer_id is not None:
        state.pending.add(producer_id, group, key, value)
        return
    state.pending.supersede(group, key)
    stored = state.offsets.get(group)
    if stored is None:
        stored = state.offsets[group] = {}
    stored[key] = value


def unload(ctx: EngineContext, belongs: Callable[[str], bool]) -> None:
    """See `Engine.unload`: answer waiting requests, stop the timers, and drop soft state."""
    groups = ctx.state.groups
    for group in [group for group in groups.values() if belongs(group.id)]:
        for key in list(group.timer_keys()):
            ctx.timers.cancel(key)
        ctx.refreshing.pop(group.id, None)
        if isinstance(group, ConsumerGroup):
            groups[group.id] = draft(group.id, records_of(group))
        else:
            rebalance.refuse_parked(ctx, group, ErrorCode.NOT_COORDINATOR)
            groups[group.id] = made = ClassicGroup(id=group.id, state_since_ms=group.state_since_ms)
            if group.stored is not None:
                made.store(group.stored)


def records_of(group: ConsumerGroup) -> Iterator[log.ConsumerRecord]:
    """A consumer group in a compacted log: one record per key, in the order in which a broker writes them."""
    members = group.members.values()
    for member in members:
        if member.metadata is not NEW_METADATA:
            yield log.ConsumerMemberRecord(group=group.id, member=member.id, value=member.metadata)
    for regex, resolved in group.regexes.items():
        yield log.RegexRecord(group=group.id, regex=regex, value=resolved)
    value = log.ConsumerGroupValue(epoch=group.epoch, metadata_hash=group.metadata_hash)
    yield log.ConsumerGroupRecord(group=group.id, value=value)
    if group.has_partition_metadata:
        yield log.PartitionMetadataRecord(group=group.id, value=())
    for name, target in group.targets.items():
        payload = group.payloads.get(name, log.NO_PAYLOAD)
        yield log.TargetMemberRecord(group=group.id, member=name, value=target, payload=payload)
    computed = log.TargetEpochValue(epoch=group.assignment_epoch, assigned_ms=group.assigned_ms)
    yield log.TargetEpochRecord(group=group.id, value=computed)
    for member in members:
        if member.current is not NEW_ASSIGNMENT:
            current = None if member.current is DELETED_ASSIGNMENT else member.current
            yield log.CurrentAssignmentRecord(group=group.id, member=member.id, value=current)
