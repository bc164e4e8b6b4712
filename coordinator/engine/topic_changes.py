"""Topics were created, changed or deleted: consumer groups look at them anew with their next heartbeat.

A topic that is deleted and created again under its name is another one, with another id.

Source: GroupMetadataManager.onMetadataUpdate.
"""

from __future__ import annotations

from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.context import Context
from coordinator.engine.topics import TopicImage


def topics_changed(ctx: Context, image: TopicImage) -> None:
    """Let the coordinator work with another image of the topics from now on."""
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
