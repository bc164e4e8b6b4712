"""The topics that exist, as the coordinator is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct
from uuid import UUID

from xxhash import xxh3_64_intdigest

from assignors.java.java_order import utf16
from coordinator.engine.java_string import length

_LONG = Struct("<Q")
_INT = Struct("<i")


@dataclass(frozen=True, kw_only=True)
class TopicInfo:
    """A topic; racks are those of each partition's replicas, by partition number, () where none is known."""

    name: str
    id: UUID
    partitions: int
    racks: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def metadata_hash(self) -> int:
        """Id, name, number of partitions and racks as a broker takes them together: 64 bits, unsigned.

        Source: coordinator.group.Utils.computeTopicHash: XXH3 of little-endian numbers, and of texts as hash4j puts
        them: their UTF-16 units, then the number of these.
        """
        parts = [b"\0", *(_LONG.pack(half) for half in divmod(self.id.int, 1 << 64))]
        parts += _text(self.name), _INT.pack(self.partitions)
        for partition in range(self.partitions):
            parts.append(_INT.pack(partition))
            racks = self.racks[partition] if partition < len(self.racks) else ()
            parts += (_INT.pack(length(rack)) + _text(rack) for rack in sorted(racks, key=utf16))
        return xxh3_64_intdigest(b"".join(parts))


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


def _text(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass") + _INT.pack(length(text))
