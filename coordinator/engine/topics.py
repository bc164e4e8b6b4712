"""The topics of the cluster, as the coordinator knows them."""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct
from uuid import UUID

from xxhash import xxh3_64_intdigest

from assignors.java.hash_map import utf16
from wire.java_text import length

_LONG = Struct("<Q")

_INT = Struct("<i")


@dataclass(frozen=True, kw_only=True)
class TopicInfo:
    """A topic. `racks`: by partition number, the racks of the partition's replicas; () if none is known."""

    name: str
    id: UUID
    partitions: int
    racks: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def metadata_hash(self) -> int:
        """XXH3 as coordinator.group.Utils.computeTopicHash: 64 bits, unsigned, texts in hash4j's form (UTF-16)."""
        parts = [b"\0", *(_LONG.pack(half) for half in divmod(self.id.int, 1 << 64))]
        parts += _text(self.name), _INT.pack(self.partitions)
        for partition in range(self.partitions):
            parts.append(_INT.pack(partition))
            racks = self.racks[partition] if partition < len(self.racks) else ()
            parts += (_INT.pack(length(rack)) + _text(rack) for rack in sorted(racks, key=utf16))
        return xxh3_64_intdigest(b"".join(parts))


@dataclass(frozen=True, kw_only=True)
class TopicImage:
    """All topics at a moment. `version` increases with every change."""

    topics: Mapping[str, TopicInfo] = field(default_factory=dict)
    version: int = 0

    @classmethod
    def of(cls, topics: Iterable[TopicInfo], version: int = 0) -> "TopicImage":
        return cls(topics={topic.name: topic for topic in topics}, version=version)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        return {name: topic.partitions for name, topic in self.topics.items()}

    @cached_property
    def places(self) -> frozenset[tuple[str, int]]:
        """Every partition, by its topic's name."""
        return frozenset((name, number) for name, count in self.counts.items() for number in range(count))

    @cached_property
    def names(self) -> Mapping[UUID, str]:
        return {topic.id: name for name, topic in self.topics.items()}

    @cached_property
    def by_id(self) -> Mapping[UUID, TopicInfo]:
        return {topic.id: topic for topic in self.topics.values()}


def _text(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass") + _INT.pack(length(text))


def metadata_hash(names: Iterable[str], image: TopicImage) -> int:
    """XXH3 of the hashes of the topics that exist, by name; signed, 0 without any (Utils.computeGroupHash)."""
    topics = [image.topics[name] for name in sorted(names, key=utf16) if name in image.topics]
    if not topics:
        return 0
    unsigned = xxh3_64_intdigest(struct.pack(f"<{len(topics)}Q", *(topic.metadata_hash for topic in topics)))
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned
