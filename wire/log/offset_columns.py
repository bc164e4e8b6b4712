"""Keys and values of committed offsets, most of a log, read many at a time. Only the forms that brokers write are
read here; `quick` marks their lanes, every other lane is read by its schema. `octets` is a buffer, in which lane i
is ``octets[starts[i]:ends[i]]``; every result has one element per lane, and texts are returned as their bounds."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wire.log.varints import Ints, Octets
from wire.messages.layout import NO_UUID
from wire.messages.reader import DecodeError
from wire.messages.record_codec import decode_key, decode_value

LEGACY_OFFSET_COMMIT = 0
OFFSET_COMMIT = 1

OffsetKey: TypeAlias = tuple[str, str, int]  # group, topic, partition
OffsetValue: TypeAlias = tuple[int, int, int, str, int, int, bytes | None]
"""Version, offset, leader epoch, metadata, time of the commit in ms, expiry in ms, id of the topic as 16
bytes. Without a value, leader epoch and expiry are -1 and the topic id is None."""

NO_TYPE = -(1 << 15) - 1  # the type of a key that is null or too short for a type
NO_TOPIC_ID = -1

_TYPE_BYTES = 2
_SHORT = 0x80
_LEAST_KEY_BYTES = 2 + 2 + 2 + 4
_LEAST_VALUE_BYTES = 16 + 8  # a value of version 3 or 4 without metadata
_METADATA_AT = 15  # the position of the metadata in a value of version 4, if its length has one byte
_TAG_AND_ID_BYTES = 3 + 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OffsetKeys:
    """Group, topic and partition. Undefined in lanes that are not `quick`, but bounds ascend in every lane."""

    quick: NDArray[np.bool_]
    group_start: Ints
    group_end: Ints
    topic_start: Ints
    topic_end: Ints
    partition: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OffsetValues:
    """Values under keys of type 1; `id_start` -1: no topic id. Undefined except in `quick` lanes, as keys are."""

    quick: NDArray[np.bool_]
    version: Ints
    offset: Ints
    leader_epoch: Ints
    metadata_start: Ints
    metadata_end: Ints
    commit_ms: Ints
    id_start: Ints


def read_offset_key(key: bytes) -> OffsetKey:
    """Group, topic and partition of a key. Raises UnknownKeyType. Raises DecodeError: it is not of type 0 or 1."""
    number, fields = decode_key(key)
    if number > OFFSET_COMMIT:
        raise DecodeError(f"a key of type {number} is not that of an offset")
    return fields["group"], fields["topic"], fields["partition"]


def read_offset_value(value: bytes, key_type: int = OFFSET_COMMIT) -> OffsetValue:
    """The fields of a value under a key of type `key_type`. Raises DecodeError: it is not such a value."""
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


def key_types(octets: Octets, starts: Ints, ends: Ints) -> Ints:
    """The number of each key's record type, known or not; `NO_TYPE` if the key has fewer than two bytes."""
    types = np.full(len(starts), NO_TYPE, dtype=np.int64)
    lanes = np.flatnonzero(ends - starts >= _TYPE_BYTES)
    types[lanes] = _numbers(octets, starts[lanes], ">i2")
    return types


def read_offset_keys(octets: Octets, starts: Ints, ends: Ints) -> OffsetKeys:
    quick = ends - starts >= _LEAST_KEY_BYTES
    group_length = numbers_at(octets, starts + 2, ">i2", quick)
    group_end = starts + 4 + group_length
    quick &= (group_length >= 0) & (group_end + 2 <= ends - 4)
    topic_length = numbers_at(octets, group_end, ">i2", quick)
    topic_end = group_end + 2 + topic_length
    quick &= (topic_length >= 0) & (topic_end <= ends - 4)
    types = numbers_at(octets, starts, ">i2", quick)
    quick &= (types == LEGACY_OFFSET_COMMIT) | (types == OFFSET_COMMIT)
    partition = numbers_at(octets, topic_end, ">i4", quick)
    return OffsetKeys(
        quick=quick,
        group_start=starts + 4 * quick,
        group_end=np.where(quick, group_end, starts),
        topic_start=np.where(quick, group_end + 2, starts),
        topic_end=np.where(quick, topic_end, starts),
        partition=partition,
    )


def read_offset_values(octets: Octets, starts: Ints, ends: Ints) -> OffsetValues:
    quick = ends - starts >= _LEAST_VALUE_BYTES
    version = numbers_at(octets, starts, ">i2", quick)
    fourth = version == 4
    quick &= fourth | (version == 3)
    length = numbers_at(octets, starts + 14, "u1", quick)
    low = numbers_at(octets, starts + 15, "u1", quick)
    # Version 3 has an int16 there, version 4 a varint of one more than the length; of one byte, or of two.
    long = fourth & (length >= _SHORT)
    plus_one = np.where(long, length & 0x7F | low << 7, length)
    quick &= np.where(fourth, (plus_one > 0) & ~(long & (low >= _SHORT)), length < _SHORT)
    metadata_start = starts + np.where(fourth & ~long, _METADATA_AT, _METADATA_AT + 1)
    metadata_end = metadata_start + np.where(fourth, plus_one - 1, length << 8 | low)
    quick &= metadata_end + 8 + fourth <= ends
    commit_ms = numbers_at(octets, metadata_end, ">i8", quick)
    tags_at = metadata_end + 8
    tags = numbers_at(octets, tags_at, "u1", quick & fourth)
    tagged = quick & fourth & (tags != 0)
    named = tagged & (tags_at + _TAG_AND_ID_BYTES <= ends)
    named &= numbers_at(octets, tags_at, ">u2", named) == 0x0100
    named &= numbers_at(octets, tags_at + 2, "u1", named) == 16
    named &= (numbers_at(octets, tags_at + 3, ">i8", named) != 0) | (
        numbers_at(octets, tags_at + 11, ">i8", named) != 0
    )
    quick &= ~tagged | named
    return OffsetValues(
        quick=quick,
        version=version,
        offset=numbers_at(octets, starts + 2, ">i8", quick),
        leader_epoch=numbers_at(octets, starts + 10, ">i4", quick),
        metadata_start=np.where(quick, metadata_start, starts),
        metadata_end=np.where(quick, metadata_end, starts),
        commit_ms=commit_ms,
        id_start=np.where(quick & named, tags_at + 3, NO_TOPIC_ID),
    )


def numbers_at(octets: Octets, positions: Ints, kind: str, where: NDArray[np.bool_]) -> Ints:
    """Big-endian numbers at positions; 0 except at `where`."""
    if where.all():
        return _numbers(octets, positions, kind)
    numbers = np.zeros(len(positions), dtype=np.int64)
    lanes = np.flatnonzero(where)
    numbers[lanes] = _numbers(octets, positions[lanes], kind)
    return numbers


def _numbers(octets: Octets, positions: Ints, kind: str) -> Ints:
    if not len(positions):
        return np.zeros(0, dtype=np.int64)
    of = np.dtype(kind)
    # One number starting at every byte, in place.
    every = np.ndarray(len(octets) - of.itemsize + 1, dtype=of, buffer=octets, strides=(1,))
    return every[positions].astype(np.int64)
