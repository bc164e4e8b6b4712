"""The answer to OffsetFetch in versions 8 and 9, read without kio's classes.

A hundred thousand committed offsets are one question of an operator: an object of kio and a dictionary of its fields
for each would be most of the time that the answer takes. `tests/wire/client/test_fetched_offsets.py` compares
with what kio makes of the same bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from groups.model import CommittedOffset, Offsets
from wire.client.answers import Failure, refusal
from wire.messages.plain import NULLABLE_TEXT, TEXT, past_tags, read_answer
from wire.messages.primitives import DecodeError, error_code, read_uvarint

TopicPartition = tuple[str, int]

_THROTTLE_BYTES = 4
_PARTITION = struct.Struct(">iqiB")
"""Index, offset, leader epoch, and the length of short metadata plus one, 0 for none."""
_END = struct.Struct(">hB")
"""Error code, number of tagged fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffsets:
    """All that one group has committed, and the partitions that could not be read."""

    offsets: Offsets
    failed: dict[TopicPartition, Failure]


def read_fetched_offsets(answer: bytes) -> tuple[dict[str, GroupOffsets | Failure], int]:
    """By group, from the tagged fields of the answer's header on; and where the answer ends.

    :raises DecodeError: when the bytes do not hold it
    """
    return read_answer(_groups, answer)


def _groups(answer: bytes, position: int) -> tuple[dict[str, GroupOffsets | Failure], int]:
    position += _THROTTLE_BYTES
    count, position = _count(answer, position)
    groups: dict[str, GroupOffsets | Failure] = {}
    for _ in range(count):
        group, position = TEXT(answer, position)
        offsets: dict[str, dict[int, CommittedOffset]] = {}
        failed: dict[TopicPartition, Failure] = {}
        topics, position = _count(answer, position)
        for _ in range(topics):
            topic, position = TEXT(answer, position)
            found = offsets.setdefault(topic, {})
            position = _partitions(answer, position, topic, found, failed)
        code, tags = _END.unpack_from(answer, position)
        position = position + _END.size if not tags else past_tags(answer, position + 2)
        told = {topic: found for topic, found in offsets.items() if found}
        groups[group] = refusal(error_code(code)) if code else GroupOffsets(offsets=told, failed=failed)
    return groups, past_tags(answer, position)


def _partitions(
    answer: bytes,
    position: int,
    topic: str,
    found: dict[int, CommittedOffset],
    failed: dict[TopicPartition, Failure],
) -> int:
    """The partitions of a topic and its tagged fields; returns where they end."""
    count, position = _count(answer, position)
    for _ in range(count):
        index, offset, epoch, length = _PARTITION.unpack_from(answer, position)
        position += _PARTITION.size
        metadata: str | None = ""
        if length > 1:
            metadata, position = NULLABLE_TEXT(answer, position - 1)
        code, tags = _END.unpack_from(answer, position)
        position = position + _END.size if not tags else past_tags(answer, position + 2)
        if code:
            failed[topic, index] = refusal(error_code(code))
        else:
            found[index] = CommittedOffset(
                offset=offset, leader_epoch=None if epoch < 0 else epoch, metadata=metadata or ""
            )
    return past_tags(answer, position)


def _count(answer: bytes, position: int) -> tuple[int, int]:
    """Of an array that may not be null; an element takes one byte at least."""
    size, position = read_uvarint(answer, position)
    if not 0 <= size - 1 <= len(answer) - position:
        raise DecodeError(f"{size - 1} elements are announced at byte {position}")
    return size - 1, position
