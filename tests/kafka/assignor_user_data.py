"""The user data that Java's own assignors put into a subscription: StickyAssignor and CooperativeStickyAssignor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wire.messages.definition import message
from wire.messages.reader import OBJECTS, DecodeError, message_reader
from wire.messages.writer import message_writer

STICKY = message("""
    StickyAssignorUserData newest=1 flexible=never
    fields
        previousAssignment {}[]
            topic string
            partitions int32[]
        generation int32 1+
""")
COOPERATIVE_STICKY = message("""
    CooperativeStickyAssignorUserData flexible=never
    fields
        generation int32
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyUserData:
    """What a member of the sticky assignor had. `generation` is None in version 0 of the data."""

    partitions: dict[str, tuple[int, ...]]
    generation: int | None


def read_sticky(data: bytes) -> StickyUserData:
    """Version 1, or 0 where the generation is missing or cut off, as Java does. :raises DecodeError: it is neither"""
    try:
        read, _ = message_reader(STICKY, 1, OBJECTS)(data, 0)
        generation: int | None = read.generation
    except DecodeError:
        read, _ = message_reader(STICKY, 0, OBJECTS)(data, 0)
        generation = None
    return StickyUserData(partitions=dict(read.previous_assignment), generation=generation)


def write_sticky(partitions: Mapping[str, Sequence[int]], generation: int | None) -> bytes:
    """Version 1, or 0 when `generation` is None."""
    out = bytearray()
    previous = [{"topic": topic, "partitions": indexes} for topic, indexes in partitions.items()]
    fields = {"previous_assignment": previous, "generation": generation}
    message_writer(STICKY, 0 if generation is None else 1)(out, fields)
    return bytes(out)


def read_cooperative_sticky(data: bytes) -> int:
    """The generation. :raises DecodeError: fewer than four bytes (Java then takes -1)"""
    read, _ = message_reader(COOPERATIVE_STICKY, 0, OBJECTS)(data, 0)
    generation: int = read.generation
    return generation


def write_cooperative_sticky(generation: int) -> bytes:
    """The bytes of a generation."""
    out = bytearray()
    message_writer(COOPERATIVE_STICKY, 0)(out, {"generation": generation})
    return bytes(out)
