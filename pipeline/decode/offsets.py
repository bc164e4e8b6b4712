"""Committed offsets as columns: they are most of a log, and are not processed record by record. A group commits the
same partitions again and again: equal keys are found first, by hashing in Arrow, and only one of each is parsed.
The positions of a value's numbers follow from two lengths; texts are slices of the values' bytes. Records that are
not in a form that brokers write are read one at a time."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipeline.decode.raw import bounds_of, slices
from wire.java_text import JAVA
from wire.log.offset_columns import (
    NO_TOPIC_ID,
    OffsetValue,
    OffsetValues,
    read_offset_key,
    read_offset_keys,
    read_offset_value,
    read_offset_values,
)
from wire.log.varints import Ints
from wire.messages.reader import DecodeError
from wire.uuids import format_uuid

NEVER = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OffsetColumns:
    """Offsets, one per lane. `malformed`: by lane, why it is not an offset; its fields are undefined. Texts are
    dictionary arrays. `topic_id` is null without one; for a tombstone all fields of the value are null."""

    group: pa.Array
    topic: pa.Array
    partition: pa.Array
    value_version: pa.Array
    committed: pa.Array
    leader_epoch: pa.Array
    metadata: pa.Array
    commit_ms: Ints
    expire_ms: Ints
    topic_id: pa.Array
    has_value: NDArray[np.bool_]
    malformed: dict[int, str]


def offset_columns(keys: pa.Array, values: pa.Array, types: Ints) -> OffsetColumns:
    """Decode offsets; `types` are the keys' record types, 0 or 1. Null values are tombstones."""
    malformed: dict[int, str] = {}
    encoded = keys.dictionary_encode()
    which = encoded.indices.to_numpy(zero_copy_only=False)
    group, topic, partition, bad_keys = _read_keys(encoded.dictionary)
    for index, reason in bad_keys.items():
        malformed |= dict.fromkeys(np.flatnonzero(which == index).tolist(), reason)
    fields = _Values(values, types, malformed)
    absent = ~fields.has_value
    return OffsetColumns(
        group=_of_each(group, encoded.indices),
        topic=_of_each(topic, encoded.indices),
        partition=pa.array(partition[which], pa.int32()),
        value_version=pa.array(fields.version.astype(np.int16), mask=absent),
        committed=pa.array(fields.offset, mask=absent),
        leader_epoch=pa.array(fields.leader_epoch.astype(np.int32), mask=absent | (fields.leader_epoch < 0)),
        metadata=fields.metadata,
        commit_ms=fields.commit_ms,
        expire_ms=fields.expire_ms,
        topic_id=fields.topic_id,
        has_value=fields.has_value,
        malformed=malformed,
    )


def _of_each(texts: pa.Array, indices: pa.Array) -> pa.Array:
    """The text of each lane, as a dictionary array with distinct texts."""
    distinct = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(distinct.indices.take(indices), distinct.dictionary)


def _read_keys(keys: pa.Array) -> tuple[pa.Array, pa.Array, Ints, dict[int, str]]:
    """Groups, topics and partitions of keys, and the malformed keys by index."""
    octets, starts, ends = bounds_of(keys)
    fields = read_offset_keys(octets, starts, ends)
    if fields.quick.all():
        try:
            of_group, of_topic = (
                (fields.group_start, fields.group_end),
                (fields.topic_start, fields.topic_end),
            )
            group, topic = slices(_data_of(keys), of_group, of_topic)
            return group.cast(pa.string()), topic.cast(pa.string()), fields.partition, {}
        except pa.ArrowInvalid:
            pass  # not UTF-8: Java replaces the broken parts
    bad: dict[int, str] = {}
    rows = []
    for index, key in enumerate(keys.to_pylist()):
        try:
            rows.append(read_offset_key(key))
        except DecodeError as error:
            bad[index] = str(error)
            rows.append(("", "", 0))
    groups, topics, partitions = zip(*rows, strict=True) if rows else ((), (), ())
    texts = pa.array(groups, pa.string()), pa.array(topics, pa.string())
    return *texts, np.array(partitions, dtype=np.int64), bad


class _Values:
    def __init__(self, values: pa.Array, types: Ints, malformed: dict[int, str]) -> None:
        octets, starts, ends = bounds_of(values)
        columns = read_offset_values(octets, starts, ends)
        self.has_value: NDArray[np.bool_] = values.is_valid().to_numpy(zero_copy_only=False)
        self.version, self.offset, self.leader_epoch = columns.version, columns.offset, columns.leader_epoch
        self.commit_ms = columns.commit_ms
        self.expire_ms = np.full(len(values), NEVER, dtype=np.int64)
        quick = columns.quick & (types == 1)
        slow = np.flatnonzero(self.has_value & ~quick).tolist()
        read = {lane: self._read(lane, values, types, malformed) for lane in slow}
        self.metadata, self.topic_id = _texts(values, columns, self.has_value & quick, read)

    def _read(
        self, lane: int, values: pa.Array, types: Ints, malformed: dict[int, str]
    ) -> OffsetValue | None:
        value = values[lane].as_py()
        try:
            fields = read_offset_value(value, int(types[lane]))
        except DecodeError as error:
            malformed.setdefault(lane, str(error))
            return None
        self.version[lane], self.offset[lane], self.leader_epoch[lane] = fields[:3]
        self.commit_ms[lane], self.expire_ms[lane] = fields[4:6]
        return fields


def _texts(
    values: pa.Array, fields: OffsetValues, quick: NDArray[np.bool_], read: dict[int, OffsetValue | None]
) -> tuple[pa.Array, pa.Array]:
    """Metadata and topic ids, as dictionary arrays."""
    named = quick & (fields.id_start != NO_TOPIC_ID)
    id_start = np.where(named, fields.id_start, fields.metadata_end)
    metadata, topic_id = slices(
        _data_of(values), (fields.metadata_start, fields.metadata_end), (id_start, id_start + 16 * named)
    )
    metadata = pc.if_else(pa.array(quick), metadata, None)
    topic_id = pc.if_else(pa.array(named), topic_id, None)
    if read:
        known = {lane: fields for lane, fields in read.items() if fields is not None}
        mask = np.zeros(len(values), dtype=bool)
        mask[list(known)] = True
        texts = [fields[3].encode() for fields in known.values()]
        ids = [fields[6] for fields in known.values()]
        metadata = pc.replace_with_mask(metadata, pa.array(mask), pa.array(texts, pa.binary()))
        topic_id = pc.replace_with_mask(topic_id, pa.array(mask), pa.array(ids, pa.binary()))
    return _decoded(metadata, _text), _decoded(topic_id, _topic_id)


def _data_of(array: pa.Array) -> pa.Buffer:
    """The bytes of a binary array, which the results of `bounds_of` refer to."""
    return array.buffers()[2] or pa.py_buffer(b"")


def _decoded(octets: pa.Array, decode: Any) -> pa.Array:
    """A dictionary array of strings; only the distinct ones are decoded."""
    encoded = octets.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices, decode(encoded.dictionary))


def _text(octets: pa.Array) -> pa.Array:
    try:
        return octets.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([value.decode("utf-8", JAVA) for value in octets.to_pylist()], pa.string())


def _topic_id(octets: pa.Array) -> pa.Array:
    return pa.array([_written(value) for value in octets.to_pylist()], pa.string())


@lru_cache(maxsize=10_000)
def _written(topic_id: bytes) -> str:
    return format_uuid(UUID(bytes=topic_id))
