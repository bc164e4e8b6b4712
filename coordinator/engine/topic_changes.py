"""Topic changes: created, changed and deleted topics bump the group epoch of subscribed consumer groups.

A change only marks the groups. The next heartbeat of a member recomputes the hash of the subscribed topics, and if it
differs from the hash in the group's record, the group epoch is bumped (`next_epoch`).

A topic that is recreated under its name is a different topic, with another id.

Source: GroupMetadataManager.onMetadataUpdate.
"""

from __future__ import annotations

from collections.abc import Collection

from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.context import EngineContext
from coordinator.engine.offsets.removal import exists
from coordinator.engine.records import ConsumerGroupRecord, ConsumerGroupValue, OffsetRecord
from coordinator.engine.topics import TopicImage, metadata_hash


def topics_changed(ctx: EngineContext, image: TopicImage) -> None:
    """Replace the image of the topics, and delete the offsets of deleted topics."""
    old = ctx.topics
    ctx.topics = image
    if image.by_id.keys() - old.by_id.keys():
        ctx.new_topics_version = image.version
    elif ctx.new_topics_version == -1:
        ctx.new_topics_version = old.version
    changed = {
        name
        for name in old.topics.keys() | image.topics.keys()
        if old.topics.get(name) != image.topics.get(name)
    }
    for group in ctx.state.groups.values():
        if isinstance(group, ConsumerGroup) and not changed.isdisjoint(group.subscribed_topics()):
            group.refresh_metadata = True
    _delete_offsets_of_deleted_topics(ctx, old, image)


def _delete_offsets_of_deleted_topics(ctx: EngineContext, old: TopicImage, new: TopicImage) -> None:
    """Delete the offsets of deleted topics. A recreated topic is a different one."""
    gone = {name: topic.id for name, topic in old.topics.items() if topic.id not in new.by_id}
    if not gone:
        return
    for group in dict.fromkeys((*ctx.state.offsets, *ctx.state.pending.groups())):
        committed = ctx.state.offsets.get(group, {}).items()
        for (topic, partition), value in [*committed, *ctx.state.pending.of_group(group)]:
            doomed = topic in gone and value.topic_id in (None, gone[topic])
            if doomed and exists(ctx.state, group, (topic, partition)):
                ctx.emit(OffsetRecord(group=group, topic=topic, partition=partition, value=None))


def next_epoch(
    ctx: EngineContext, group: ConsumerGroup, names: Collection[str], *, moves: bool
) -> ConsumerGroupRecord | None:
    """The record that bumps the group epoch, with the hash of the subscribed topics.

    None if the request does not bump it (`moves`) and no topic of these names was created, changed or deleted.
    """
    fingerprint = metadata_hash(names, ctx.topics)
    if not moves and fingerprint == group.metadata_hash:
        return None
    value = ConsumerGroupValue(epoch=group.epoch + 1, metadata_hash=fingerprint)
    return ConsumerGroupRecord(group=group.id, value=value)
