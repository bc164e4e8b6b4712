"""The user data that Java's StickyAssignor puts into a subscription."""

from collections.abc import Mapping, Sequence

from wire.messages.definition import message
from wire.messages.writer import message_writer

STICKY = message("""
    StickyAssignorUserData newest=1 flexible=never
    fields
        previousAssignment {}[]
            topic string
            partitions int32[]
        generation int32 1+
""")


def write_sticky(partitions: Mapping[str, Sequence[int]], generation: int | None) -> bytes:
    """Version 1, or 0 when `generation` is None."""
    out = bytearray()
    previous = [{"topic": topic, "partitions": indexes} for topic, indexes in partitions.items()]
    fields = {"previous_assignment": previous, "generation": generation}
    message_writer(STICKY, 0 if generation is None else 1)(out, fields)
    return bytes(out)
