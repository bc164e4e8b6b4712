"""The embedded consumer protocol: what classic members tell each other inside JoinGroup and SyncGroup.

Schemas: `ConsumerProtocolSubscription.json` and `ConsumerProtocolAssignment.json` of kafka-clients (versions 0 to 3,
none of them flexible). As in Java's `ConsumerProtocol`, a newer version is read as the newest known one, bytes
behind the last field are ignored, and broken UTF-8 is replaced rather than refused.

The bytes come from any client, so no announced length is believed: memory is bounded by the bytes given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wire.messages.byte_cursor import ByteCursor, MalformedMetadata
from wire.messages.byte_writer import ByteWriter

__all__ = [
    "NEWEST_VERSION",
    "EmbeddedAssignment",
    "MalformedMetadata",
    "Subscription",
    "read_assignment",
    "read_subscription",
    "read_topic_partitions",
    "write_assignment",
    "write_subscription",
    "write_topic_partitions",
]

NEWEST_VERSION = 3
NO_GENERATION = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a member wants and has.

    `version` is the one sent, even where it is newer than `NEWEST_VERSION`. `topics` keep the order sent.
    `owned` is empty below version 1 (and from eager members), `generation` -1 below version 2, `rack` None
    below version 3. `user_data` is the assignor's own, None when there is none.
    """

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: dict[str, tuple[int, ...]] = field(default_factory=dict)
    generation: int = NO_GENERATION
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedAssignment:
    """What a member was given. `partitions` keep the order sent, topics and partitions alike."""

    version: int
    partitions: dict[str, tuple[int, ...]]
    user_data: bytes | None = None


def read_subscription(data: bytes) -> Subscription:
    """Read the metadata a member sent in JoinGroup.

    :raises MalformedMetadata: when the bytes are no subscription; says what was expected and at which byte
    """
    cursor = ByteCursor(data)
    version = _version(cursor)
    topics = cursor.strings("the topics")
    user_data = cursor.nullable_bytes("the user data")
    return Subscription(
        version=version,
        topics=topics,
        user_data=user_data,
        owned=read_topic_partitions(cursor, "the owned partitions") if version >= 1 else {},
        generation=cursor.int32("the generation") if version >= 2 else NO_GENERATION,
        rack=cursor.nullable_string("the rack") if version >= 3 else None,
    )


def read_assignment(data: bytes) -> EmbeddedAssignment:
    """Read the assignment a leader sent in SyncGroup (or the broker made for a classic member).

    :raises MalformedMetadata: when the bytes are no assignment; says what was expected and at which byte
    """
    cursor = ByteCursor(data)
    version = _version(cursor)
    partitions = read_topic_partitions(cursor, "the assigned partitions")
    return EmbeddedAssignment(
        version=version, partitions=partitions, user_data=cursor.nullable_bytes("the user data")
    )


def write_subscription(subscription: Subscription) -> bytes:
    """The bytes of a subscription; a version above the newest is written as the newest, as Java does.

    Fields its version does not have are left out. :raises ValueError: a value does not fit its field
    """
    writer = ByteWriter()
    version = _write_version(writer, subscription.version)
    writer.strings(subscription.topics)
    writer.nullable_bytes(subscription.user_data)
    if version >= 1:
        write_topic_partitions(writer, subscription.owned)
    if version >= 2:
        writer.int32(subscription.generation)
    if version >= 3:
        writer.nullable_string(subscription.rack)
    return writer.getvalue()


def write_assignment(assignment: EmbeddedAssignment) -> bytes:
    """The bytes of an assignment; a version above the newest is written as the newest, as Java does.

    :raises ValueError: a value does not fit its field
    """
    writer = ByteWriter()
    _write_version(writer, assignment.version)
    write_topic_partitions(writer, assignment.partitions)
    writer.nullable_bytes(assignment.user_data)
    return writer.getvalue()


def read_topic_partitions(cursor: ByteCursor, what: str) -> dict[str, tuple[int, ...]]:
    """An array of (topic, array of int32); a topic sent twice gets the partitions of both."""
    found: dict[str, tuple[int, ...]] = {}
    for _ in range(cursor.array_length(what, smallest_element=6)):
        topic = cursor.string(what)
        partitions = cursor.int32s(what)
        found[topic] = found[topic] + partitions if topic in found else partitions
    return found


def write_topic_partitions(writer: ByteWriter, partitions: Mapping[str, Sequence[int]]) -> None:
    """The opposite of `read_topic_partitions`, in the mapping's order."""
    writer.int32(len(partitions))
    for topic, indexes in partitions.items():
        writer.string(topic)
        writer.int32s(indexes)


def _version(cursor: ByteCursor) -> int:
    version = cursor.int16("the version")
    if version < 0:
        raise MalformedMetadata(f"expected a version of 0 or more at byte 0, found {version}")
    return version


def _write_version(writer: ByteWriter, version: int) -> int:
    if version < 0:
        raise ValueError(f"the embedded protocol has no version {version}")
    written = min(version, NEWEST_VERSION)
    writer.int16(written)
    return written
