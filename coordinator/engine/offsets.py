"""The offsets that a group has committed: keys 0 and 1, what deletes them, and the ends of transactions.

Source: OffsetMetadataManager.replay, replayEndTransactionMarker, deleteAllOffsets, onTopicsDeleted.
"""

from __future__ import annotations

from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.context import Context, State
from coordinator.engine.pending_offsets import Partition
from coordinator.engine.records import OffsetRecord
from coordinator.engine.topics import TopicImage


def replay(state: State, record: OffsetRecord, producer_id: int | None = None) -> None:
    """Keep or delete an offset; that of a transaction, which has a producer id, stays pending until its end.

    The first one of an unknown group makes it a simple group, be it pending. A tombstone deletes at once.
    """
    key = (record.topic, record.partition)
    if record.value is None:
        _remove(state, record.group, key)
        return
    if record.group not in state.groups and record.group not in state.foreign:
        state.groups[record.group] = ClassicGroup(id=record.group, state_since_ms=record.value.commit_ms)
    if producer_id is not None:
        state.pending.add(producer_id, record.group, key, record.value)
        return
    state.pending.supersede(record.group, key)
    state.offsets.setdefault(record.group, {})[key] = record.value


def _remove(state: State, group: str, key: Partition) -> None:
    state.pending.drop(group, key)
    offsets = state.offsets.get(group, {})
    offsets.pop(key, None)
    if not offsets:
        state.offsets.pop(group, None)


def end_transaction(state: State, producer_id: int, *, committed: bool) -> None:
    """Make what the producer's transaction committed visible, or forget it; without any, nothing happens."""
    for group, key, value in state.pending.end(producer_id, committed=committed):
        state.offsets.setdefault(group, {})[key] = value


def exists(state: State, group: str, key: Partition) -> bool:
    """Whether an offset is committed or pending."""
    return key in state.offsets.get(group, ()) or key in state.pending.partitions(group)


def delete_all(ctx: Context, group: str) -> None:
    """Delete every offset of a group, those that are pending too."""
    for topic, partition in [*ctx.state.offsets.get(group, ()), *ctx.state.pending.partitions(group)]:
        if exists(ctx.state, group, (topic, partition)):
            ctx.emit(OffsetRecord(group=group, topic=topic, partition=partition, value=None))


def topics_changed(ctx: Context, old: TopicImage, new: TopicImage) -> None:
    """Delete the offsets of topics that are gone. One that was made again under its name is another topic."""
    gone = {name: topic.id for name, topic in old.topics.items() if topic.id not in new.by_id}
    if not gone:
        return
    for group in dict.fromkeys((*ctx.state.offsets, *ctx.state.pending.groups())):
        committed = ctx.state.offsets.get(group, {}).items()
        for (topic, partition), value in [*committed, *ctx.state.pending.of_group(group)]:
            doomed = topic in gone and value.topic_id in (None, gone[topic])
            if doomed and exists(ctx.state, group, (topic, partition)):
                ctx.emit(OffsetRecord(group=group, topic=topic, partition=partition, value=None))
