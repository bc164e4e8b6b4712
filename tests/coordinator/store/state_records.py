"""The records that would bring an engine's hard state back: one per key, in the order in which a broker writes them."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.context import State
from coordinator.engine.records import (
    NO_PAYLOAD,
    ClassicGroupRecord,
    ConsumerGroupRecord,
    ConsumerGroupValue,
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    OffsetRecord,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetEpochValue,
    TargetMemberRecord,
)


def state_records(state: State) -> Iterator[tuple[str, list[Record]]]:
    """The records of each group. Of one that only ever had offsets, and has none now, there are none."""
    for name in sorted(state.groups.keys() | state.offsets.keys()):
        group = state.groups.get(name)
        records: list[Record] = []
        if isinstance(group, ConsumerGroup):
            records += _consumer_group(group)
        elif isinstance(group, ClassicGroup) and group.stored is not None:
            records.append(ClassicGroupRecord(group=name, value=group.stored))
        records += [
            OffsetRecord(group=name, topic=topic, partition=partition, value=value)
            for (topic, partition), value in state.offsets.get(name, {}).items()
        ]
        yield name, records


def _consumer_group(group: ConsumerGroup) -> Iterator[Record]:
    for member in group.members.values():
        yield ConsumerMemberRecord(group=group.id, member=member.id, value=member.metadata)
    for regex, resolved in group.regexes.items():
        yield RegexRecord(group=group.id, regex=regex, value=resolved)
    value = ConsumerGroupValue(epoch=group.epoch, metadata_hash=group.metadata_hash)
    yield ConsumerGroupRecord(group=group.id, value=value)
    for member_id, target in group.targets.items():
        yield TargetMemberRecord(
            group=group.id, member=member_id, value=target, payload=group.payloads.get(member_id, NO_PAYLOAD)
        )
    computed = TargetEpochValue(epoch=group.assignment_epoch, assigned_ms=group.assigned_ms)
    yield TargetEpochRecord(group=group.id, value=computed)
    for member in group.members.values():
        yield CurrentAssignmentRecord(group=group.id, member=member.id, value=member.current)
