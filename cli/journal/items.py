"""What a change replaces, from the facts of its plan."""

from collections.abc import Iterator
from uuid import UUID

from cli.journal.entry import ChangedItem, ItemKind
from groups.model import CommittedOffset, Group, TopicPartition
from groups.offsets.model import PlannedChange


def offset_item(
    group: Group,
    partition: TopicPartition,
    committed: CommittedOffset | None,
    after: int | None,
    topic_id: UUID | None,
) -> ChangedItem:
    topic, number = partition
    return ChangedItem(
        kind=ItemKind.OFFSET,
        group=group.id,
        type=group.type,
        topic=topic,
        topic_id=topic_id,
        partition=number,
        before=None if committed is None else committed.position,
        after=after,
        leader_epoch=None if committed is None else committed.leader_epoch,
        metadata=None if committed is None else committed.metadata,
    )


def topic_items(plan: PlannedChange) -> Iterator[tuple[str, ChangedItem]]:
    """The internal topics that are deleted with the change of a group, by name."""
    for topic, kind in plan.internal_topics.items():
        topic_id = plan.topic_ids.get(topic)
        yield (
            topic,
            ChangedItem(kind=ItemKind.TOPIC, group=plan.group, topic=topic, topic_id=topic_id, before=kind),
        )
