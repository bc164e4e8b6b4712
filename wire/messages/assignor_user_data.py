"""The user data that Java's sticky assignors put into a subscription.

sticky writes the member's last assignment and its generation; cooperative-sticky only the generation.
Source: StickyAssignor, CooperativeStickyAssignor.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from wire.messages.reader import OBJECTS, DecodeError, message_reader
from wire.messages.schemas.classic_groups import STICKY_USER_DATA
from wire.messages.writer import message_writer

_GENERATION = struct.Struct(">i")
NO_GENERATION = -1


def write_sticky(partitions: Mapping[str, Sequence[int]], generation: int | None) -> bytes:
    """Version 1, or 0 when `generation` is None. :raises ValueError: a value does not fit its field"""
    out = bytearray()
    previous = [{"topic": topic, "partitions": indexes} for topic, indexes in partitions.items()]
    fields = {"previous_assignment": previous, "generation": generation}
    message_writer(STICKY_USER_DATA, 0 if generation is None else 1)(out, fields)
    return bytes(out)


def read_sticky(data: bytes) -> tuple[dict[str, tuple[int, ...]], int]:
    """Partitions by topic, and the generation, -1 in version 0, which has none. :raises DecodeError: neither version

    The bytes contain no version: bytes that are not version 1 are read as version 0, as in Java.
    """
    try:
        read, _ = message_reader(STICKY_USER_DATA, 1, OBJECTS)(data, 0)
        generation = read.generation
    except DecodeError:
        read, _ = message_reader(STICKY_USER_DATA, 0, OBJECTS)(data, 0)
        generation = NO_GENERATION
    return {topic: tuple(partitions) for topic, partitions in read.previous_assignment}, generation


def write_generation(generation: int) -> bytes:
    """The user data of cooperative-sticky."""
    return _GENERATION.pack(generation)


def read_generation(data: bytes | None) -> int:
    """The generation, or -1, as in Java."""
    return (
        NO_GENERATION
        if data is None or len(data) < _GENERATION.size
        else int(_GENERATION.unpack_from(data)[0])
    )
