"""The user data that Java's own assignors put into a subscription.

Source: `StickyAssignor` and `CooperativeStickyAssignor` of kafka-clients.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wire.messages.byte_cursor import ByteCursor, MalformedMetadata
from wire.messages.byte_writer import ByteWriter
from wire.messages.embedded_protocol import read_topic_partitions, write_topic_partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyUserData:
    """What a member of the sticky assignor had. `generation` is None in version 0 of the data."""

    partitions: dict[str, tuple[int, ...]]
    generation: int | None


def read_sticky(data: bytes) -> StickyUserData:
    """Read StickyAssignor's user data: version 1, or 0 where the generation is missing or cut off, as Java does.

    :raises MalformedMetadata: when it is neither (Java then takes the member to have owned nothing)
    """
    cursor = ByteCursor(data)
    partitions = read_topic_partitions(cursor, "the previous assignment")
    try:
        generation: int | None = cursor.int32("the generation")
    except MalformedMetadata:
        generation = None
    return StickyUserData(partitions=partitions, generation=generation)


def write_sticky(partitions: Mapping[str, Sequence[int]], generation: int | None) -> bytes:
    """StickyAssignor's user data, version 1, or 0 when `generation` is None.

    :raises ValueError: a value does not fit its field
    """
    writer = ByteWriter()
    write_topic_partitions(writer, partitions)
    if generation is not None:
        writer.int32(generation)
    return writer.getvalue()


def read_cooperative_sticky(data: bytes) -> int:
    """The generation in CooperativeStickyAssignor's user data.

    :raises MalformedMetadata: fewer than four bytes (Java then takes -1)
    """
    return ByteCursor(data).int32("the generation")


def write_cooperative_sticky(generation: int) -> bytes:
    """CooperativeStickyAssignor's user data. :raises ValueError: the generation is no int32"""
    writer = ByteWriter()
    writer.int32(generation)
    return writer.getvalue()
