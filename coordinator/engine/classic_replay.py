"""Key 2, GroupMetadata: a classic group as a record has it."""

from __future__ import annotations

from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.context import State
from coordinator.engine.records import ClassicGroupRecord


def replay(state: State, record: ClassicGroupRecord) -> None:
    """A value makes or changes the group (of whatever type it was), a tombstone removes it."""
    group = state.groups.get(record.group)
    if record.value is None:
        if isinstance(group, ClassicGroup):
            del state.groups[record.group]
        return
    if not isinstance(group, ClassicGroup):
        group = ClassicGroup(id=record.group, state_since_ms=record.value.state_since_ms)
        state.groups[record.group] = group
    group.store(record.value)
