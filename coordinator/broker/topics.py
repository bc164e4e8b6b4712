"""The topics that exist, as the coordinator is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicInfo:
    """A topic; racks are those of each partition's replicas, by partition number."""

    name: str
    id: UUID
    partitions: int
    racks: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class TopicImage:
    """All topics at a moment. `version` grows with every change."""

    topics: Mapping[str, TopicInfo] = field(default_factory=dict)
    version: int = 0

    @classmethod
    def of(cls, topics: Iterable[TopicInfo], version: int = 0) -> TopicImage:
        return cls(topics={topic.name: topic for topic in topics}, version=version)

    @cached_property
    def by_id(self) -> Mapping[UUID, TopicInfo]:
        return {topic.id: topic for topic in self.topics.values()}
