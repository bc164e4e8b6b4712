"""The embedded consumer protocol: the metadata and assignments of classic members inside JoinGroup and SyncGroup.
As in Java's `ConsumerProtocol`, a newer version is read as the newest known one, bytes after the last field are
ignored, and broken UTF-8 is replaced. User data are the assignors' own (`assignors.conversation`)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from wire.messages.layout import Decoded, Encoded, Message
from wire.messages.reader import OBJECTS, DecodeError, message_reader
from wire.messages.schemas.classic_groups import ASSIGNMENT, SUBSCRIPTION
from wire.messages.writer import message_writer
from wire.values import dataclass

if TYPE_CHECKING:
    from wire.messages.schemas.classic_groups import (
        ConsumerProtocolAssignmentAssignedPartitionFields as _TopicPartitionsFields,
    )
    from wire.messages.schemas.classic_groups import (
        ConsumerProtocolAssignmentFields,
        ConsumerProtocolSubscriptionFields,
    )

NEWEST_VERSION = SUBSCRIPTION.newest
NO_GENERATION = -1
_VERSION = struct.Struct(">h")
_REMEMBERED, _REMEMBERED_BYTES = 1024, 16_384
"""How much of what was read is remembered, and the longest bytes of which it is."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSubscription:
    """A member's subscription; `owned` from version 1 on, `generation` (-1) from 2, `rack` from 3."""

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    generation: int = NO_GENERATION
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedAssignment:
    """A member's assignment. `partitions` keep the order sent, topics and partitions alike."""

    version: int
    partitions: Mapping[str, tuple[int, ...]]
    user_data: bytes | None = None


def _remembered(read: Callable[[bytes], T]) -> Callable[[bytes], T]:
    """Remember what was read last: a group's leader, coordinator and observers all read the same bytes."""
    remembered = lru_cache(maxsize=_REMEMBERED)(read)
    return lambda data: remembered(data) if len(data) <= _REMEMBERED_BYTES else read(data)


@_remembered
def read_subscription(data: bytes) -> EmbeddedSubscription:
    """Read the metadata that a member sent in JoinGroup. Raises DecodeError: with the field and the byte."""
    version, read = read_versioned(SUBSCRIPTION, data)
    return EmbeddedSubscription(
        version=version,
        topics=read.topics,
        user_data=read.user_data,
        owned=_by_topic(read.owned_partitions),
        generation=read.generation_id,
        rack=read.rack_id,
    )


@_remembered
def read_assignment(data: bytes) -> EmbeddedAssignment:
    """Read the assignment that a leader sent, or that the broker computed. Raises DecodeError: as above."""
    version, read = read_versioned(ASSIGNMENT, data)
    return EmbeddedAssignment(
        version=version, partitions=_by_topic(read.assigned_partitions), user_data=read.user_data
    )


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """The topics that members subscribe to; None if one's metadata cannot be read: they make Kafka before 4.4 fail."""
    topics: set[str] = set()
    for data in metadata:
        try:
            topics.update(_topics(data))
        except DecodeError:
            return None
    return frozenset(topics)


@_remembered
def _topics(data: bytes) -> tuple[str, ...]:
    topics: tuple[str, ...] = message_reader(SUBSCRIPTION, 0, OBJECTS)(data, _VERSION.size)[0].topics
    return topics


def write_subscription(subscription: EmbeddedSubscription) -> bytes:
    """The bytes of a subscription; a version above the newest is written as it, as in Java. Raises ValueError."""
    fields: ConsumerProtocolSubscriptionFields = {
        "topics": subscription.topics,
        "user_data": subscription.user_data,
        "owned_partitions": _topic_partitions(subscription.owned),
        "generation_id": subscription.generation,
        "rack_id": subscription.rack,
    }
    return write_versioned(SUBSCRIPTION, subscription.version, fields)


def write_assignment(assignment: EmbeddedAssignment) -> bytes:
    """The bytes of an assignment; a version above the newest is written as it, as in Java. Raises ValueError."""
    fields: ConsumerProtocolAssignmentFields = {
        "assigned_partitions": _topic_partitions(assignment.partitions),
        "user_data": assignment.user_data,
    }
    return write_versioned(ASSIGNMENT, assignment.version, fields)


def read_versioned(of: Message[Decoded], data: bytes) -> tuple[int, Decoded]:
    """A message after its version, two bytes: a newer one is read as the newest known. Raises DecodeError."""
    if len(data) < _VERSION.size:
        raise DecodeError(f"{of.name} has {len(data)} bytes, too few for a version")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise DecodeError(f"{of.name} has no version {version}")
    return version, message_reader(of, min(version, of.newest), OBJECTS)(data, _VERSION.size)[0]


def write_versioned(of: Message[object, Encoded], version: int, fields: Encoded) -> bytes:
    """The version, and the message; a version above the newest is written as it. Raises ValueError."""
    if version < 0:
        raise ValueError(f"the embedded protocol has no version {version}")
    written = min(version, of.newest)
    out = bytearray(_VERSION.pack(written))
    message_writer(of, written)(out, fields)
    return bytes(out)


def _by_topic(entries: Iterable[Any]) -> dict[str, tuple[int, ...]]:
    """The partitions by topic; a topic that was sent twice gets the partitions of both entries."""
    by_topic: dict[str, tuple[int, ...]] = {}
    for topic, partitions in entries:
        by_topic[topic] = by_topic[topic] + partitions if topic in by_topic else partitions
    return by_topic


def _topic_partitions(partitions: Mapping[str, Sequence[int]]) -> list[_TopicPartitionsFields]:
    return [{"topic": topic, "partitions": indexes} for topic, indexes in partitions.items()]
