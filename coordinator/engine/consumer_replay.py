"""The records of consumer groups, made true.

A record of a group that is unknown creates it, a tombstone does not. Records of one group may come in any order
that a compacted log leaves.

Source: GroupMetadataManager.replay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, get_args

from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.context import State
from coordinator.engine.records import (
    ConsumerGroupRecord,
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    PartitionMetadataRecord,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetMemberRecord,
)

ConsumerRecord: TypeAlias = (
    ConsumerGroupRecord
    | PartitionMetadataRecord
    | ConsumerMemberRecord
    | TargetEpochRecord
    | TargetMemberRecord
    | CurrentAssignmentRecord
    | RegexRecord
)
CONSUMER_RECORDS: tuple[type[ConsumerRecord], ...] = get_args(ConsumerRecord)


def replay(state: State, record: ConsumerRecord) -> None:
    """Make a record true."""
    group = state.groups.get(record.group)
    if not isinstance(group, ConsumerGroup):
        if _is_tombstone(record):
            return
        group = ConsumerGroup(record.group)
        state.groups[record.group] = group
    if isinstance(record, ConsumerGroupRecord) and record.value is None:
        del state.groups[record.group]
        return
    apply(group, record)


def draft(group_id: str, records: Iterable[Record]) -> ConsumerGroup:
    """A group that is not part of the state: what these records would make of nothing."""
    group = ConsumerGroup(group_id)
    for record in records:
        if isinstance(record, CONSUMER_RECORDS):
            apply(group, record)
    return group


def apply(group: ConsumerGroup, record: ConsumerRecord) -> None:
    """Make a record of the group true, unless it deletes the whole group."""
    match record:
        case ConsumerGroupRecord(value=value):
            if value is not None:
                group.set_epoch(value)
        case PartitionMetadataRecord(value=topics):
            group.has_partition_metadata = topics is not None
        case ConsumerMemberRecord(member=member, value=value):
            if value is None:
                group.remove_member(member)
            else:
                group.set_metadata(member, value)
        case TargetEpochRecord(epoch=epoch, assigned_ms=assigned_ms):
            group.set_target_epoch(epoch, assigned_ms)
        case TargetMemberRecord(member=member, value=target):
            group.set_target(member, target)
        case CurrentAssignmentRecord(member=member, value=current):
            group.set_current(member, current)
        case RegexRecord(regex=regex, value=resolved):
            group.set_regex(regex, resolved)


def _is_tombstone(record: ConsumerRecord) -> bool:
    if isinstance(record, TargetEpochRecord):
        return record.epoch is None
    return record.value is None
