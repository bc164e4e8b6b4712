"""The records that restore an engine's hard state: one per key, in the order in which a broker writes them."""

from collections.abc import Iterator

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.context import EngineState
from coordinator.engine.records import ClassicGroupRecord, OffsetRecord, Record
from coordinator.engine.replay import records_of


def state_records(state: EngineState) -> Iterator[tuple[str, list[Record]]]:
    """The records of each group. A group that only ever had offsets, and has none now, has no records."""
    for name in sorted(state.groups.keys() | state.offsets.keys()):
        group = state.groups.get(name)
        records: list[Record] = []
        if isinstance(group, ConsumerGroup):
            records += records_of(group)
        elif isinstance(group, ClassicGroup) and group.stored is not None:
            records.append(ClassicGroupRecord(group=name, value=group.stored))
        records += [
            OffsetRecord(group=name, topic=topic, partition=partition, value=value)
            for (topic, partition), value in state.offsets.get(name, {}).items()
        ]
        yield name, records
