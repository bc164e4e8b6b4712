"""The offsets that a group has committed: keys 0 and 1, and what deletes them.

Source: OffsetMetadataManager.replay, deleteAllOffsets, onTopicsDeleted.
"""

from __future__ import annotations

from coordinator.broker.classic_group import ClassicGroup
from coordinator.broker.context import Context, State
from coordinator.broker.records import OffsetRecord
from coordinator.broker.topics import TopicImage


def replay(state: State, record: OffsetRecord) -> None:
    """Keep or delete an offset. The first one of an unknown group makes it a simple group."""
    key = (record.topic, record.partition)
    if record.value is None:
        offsets = state.offsets.get(record.group, {})
        offsets.pop(key, None)
        if not offsets:
            state.offsets.pop(record.group, None)
        return
    if record.group not in state.groups:
        state.groups[record.group] = ClassicGroup(id=record.group, state_since_ms=record.value.commit_ms)
    state.offsets.setdefault(record.group, {})[key] = record.value


def delete_all(ctx: Context, group: str) -> None:
    """Delete every offset of a group."""
    for topic, partition in list(ctx.state.offsets.get(group, ())):
        ctx.emit(OffsetRecord(group=group, topic=topic, partition=partition, value=None))


def topics_changed(ctx: Context, old: TopicImage, new: TopicImage) -> None:
    """Delete the offsets of topics that are gone. One that was made again under its name is another topic."""
    gone = {name: topic.id for name, topic in old.topics.items() if topic.id not in new.by_id}
    if not gone:
        return
    for group, offsets in list(ctx.state.offsets.items()):
        for (topic, partition), value in list(offsets.items()):
            if topic in gone and value.topic_id in (None, gone[topic]):
                ctx.emit(OffsetRecord(group=group, topic=topic, partition=partition, value=None))
