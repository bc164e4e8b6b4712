"""Committed offsets out of a segment's bytes, without the schemas: they are most of a log.

Keys of types 0 and 1 and their values, in the shapes that brokers write; every other shape, broken bytes too, goes
through `record_codec`, so that the answer is always its answer. `buffer` is bytes or a memoryview of bytes.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

from wire.java_text import JAVA
from wire.messages.layout import NO_UUID
from wire.messages.reader import DecodeError
from wire.messages.record_codec import decode_key, decode_value

Buffer: TypeAlias = bytes | memoryview
OffsetKey: TypeAlias = tuple[str, str, int]
"""Group, topic, partition."""
OffsetValue: TypeAlias = tuple[int, int, int, str, int, int, bytes | None]
"""Version, offset, leader epoch, metadata, time of the commit in ms, expiry in ms, id of the topic as 16 bytes.

Leader epoch and expiry are -1, the topic id None, where there is none.
"""

LEGACY_OFFSET_COMMIT = 0
OFFSET_COMMIT = 1

_SHORT = 0x80
"""A varint below it has one byte."""
_TYPE_AND_LENGTH = struct.Struct(">hh").unpack_from
_INT16 = struct.Struct(">h").unpack_from
_INT32 = struct.Struct(">i").unpack_from
_INT64 = struct.Struct(">q").unpack_from
_VERSION_4 = struct.Struct(">hqiB").unpack_from
_VERSION_4_BYTES = 15
"""Version, offset, leader epoch and the length of the metadata; in version 3 the length has a byte more."""
_VERSION_3_BYTES = 16
_TIME_AND_TOPIC_ID = struct.Struct(">q3s16s").unpack_from
_TIME_AND_TOPIC_ID_BYTES = 27
_TOPIC_ID_TAG = b"\x01\x00\x10"
"""One tagged field, number 0, of 16 bytes."""


def key_type(buffer: Buffer, start: int) -> int:
    """The number of a key's record type, known or not; the key must have two bytes.

    :raises IndexError: the buffer ends before them
    """
    first = buffer[start]
    return (first - 0x100 if first >= 0x80 else first) << 8 | buffer[start + 1]


def read_offset_key(buffer: Buffer, start: int, end: int) -> OffsetKey:
    """Group, topic and partition of the key in ``buffer[start:end]``.

    :raises UnknownKeyType: a record type of no schema
    :raises DecodeError: it is no key of type 0 or 1
    """
    group_at = start + 4
    try:
        number, length = _TYPE_AND_LENGTH(buffer, start)
        group_end = group_at + length
        topic_at = group_end + 2
        topic_end = topic_at + _INT16(buffer, group_end)[0]
        if (
            LEGACY_OFFSET_COMMIT <= number <= OFFSET_COMMIT
            and length >= 0
            and topic_at <= topic_end <= end - 4
        ):
            return (
                str(buffer[group_at:group_end], "utf-8", JAVA),
                str(buffer[topic_at:topic_end], "utf-8", JAVA),
                _INT32(buffer, topic_end)[0],
            )
    except struct.error:
        pass
    number, key = decode_key(bytes(buffer[start:end]))
    if number > OFFSET_COMMIT:
        raise DecodeError(f"a key of type {number} is not that of an offset")
    return key["group"], key["topic"], key["partition"]


def read_offset_value(buffer: Buffer, start: int, end: int, key_type: int = OFFSET_COMMIT) -> OffsetValue:
    """What the value in ``buffer[start:end]`` under a key of type `key_type` says.

    :raises DecodeError: it is no such value
    """
    quick = _read_quickly(buffer, start, end) if key_type == OFFSET_COMMIT else None
    return _read_slowly(bytes(buffer[start:end]), key_type) if quick is None else quick


def _read_quickly(buffer: Buffer, start: int, end: int) -> OffsetValue | None:
    """A value of version 3, or of 4 with no tagged field or a topic id; None for anything else."""
    if end - start < _VERSION_3_BYTES:
        return None
    version, offset, leader_epoch, length = _VERSION_4(buffer, start)
    topic_id = None
    if version == 4 and 0 < length < _SHORT:
        metadata_at = start + _VERSION_4_BYTES
        time_at = metadata_at + length - 1
        if time_at + _TIME_AND_TOPIC_ID_BYTES <= end:
            commit_ms, tags, topic_id = _TIME_AND_TOPIC_ID(buffer, time_at)
            if tags != _TOPIC_ID_TAG or topic_id == NO_UUID.bytes:
                return None
        elif time_at + 8 < end and not buffer[time_at + 8]:
            commit_ms = _INT64(buffer, time_at)[0]
        else:
            return None
    elif version == 3 and length < _SHORT:
        metadata_at = start + _VERSION_3_BYTES
        time_at = metadata_at + (length << 8 | buffer[metadata_at - 1])
        if time_at + 8 > end:
            return None
        commit_ms = _INT64(buffer, time_at)[0]
    else:
        return None
    metadata = "" if metadata_at == time_at else str(buffer[metadata_at:time_at], "utf-8", JAVA)
    return version, offset, leader_epoch, metadata, commit_ms, -1, topic_id


def _read_slowly(value: bytes, key_type: int) -> OffsetValue:
    version, fields = decode_value(key_type, value)
    topic_id = fields.get("topicId", NO_UUID)
    return (
        version,
        fields["offset"],
        fields.get("leaderEpoch", -1),
        fields["metadata"],
        fields["commitTimestamp"],
        fields.get("expireTimestamp", -1),
        None if topic_id == NO_UUID else topic_id.bytes,
    )
