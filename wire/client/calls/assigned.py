"""Assigned partitions as the describe answers of the newer group types carry them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedTopic:
    """The partitions of one topic that a member has, in the order sent.

    `topic` is empty when the coordinator does not know the id any more.
    """

    topic: str
    topic_id: UUID | None
    partitions: tuple[int, ...]


def assigned_topics(assignment: Any) -> tuple[AssignedTopic, ...]:
    """Ours from kio's `Assignment`."""
    return tuple(
        AssignedTopic(topic=entry.topic_name, topic_id=entry.topic_id, partitions=entry.partitions)
        for entry in assignment.topic_partitions
    )
