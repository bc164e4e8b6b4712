"""The records of a whole segment as numpy arrays, in chunks. Records are a chain, so their starts are found by a walk,
of many batches side by side; then each field of all records at once. Positions are checked before use; an inconsistent
batch is read again by `log_records`, which reports the record."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wire.log.batch_header import CODEC_MASK, HEADER_BYTES, LOG_APPEND_TIME, Batch, Batches
from wire.log.compression import MOST_BYTES
from wire.log.errors import DamagedLog
from wire.log.log_records import each_record, payload_of
from wire.log.varints import BadVarint, Ints, Octets, read_int, read_ints, read_long, read_longs, wrap_long

NULL = -1

_CHUNK_BYTES = 4 << 20
_MOST_RECORDS = 1 << 20
_LEAST_ABREAST = 32  # from this many records per batch on, walking them side by side is faster


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Records in the order of the log, an element each. Keys and values are `data[start:end]`; an end of -1 is null.
    Timestamps are ms since 1970. `batch_of` counts in `batches`, all of the file."""

    data: bytes
    offsets: Ints
    timestamps: Ints
    key_start: Ints
    key_end: Ints
    value_start: Ints
    value_end: Ints
    batch_of: Ints
    batches: Batches

    def __len__(self) -> int:
        return len(self.offsets)

    def key(self, index: int) -> bytes | None:
        return _slice(self.data, self.key_start[index], self.key_end[index])

    def value(self, index: int) -> bytes | None:
        return _slice(self.data, self.value_start[index], self.value_end[index])

    def select(self, places: Ints) -> Columns:
        return replace(self, **{name: getattr(self, name)[places] for name in _OF_RECORDS})


_OF_RECORDS = ("offsets", "timestamps", "key_start", "key_end", "value_start", "value_end", "batch_of")


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Batches from number `first` on, with their records in `data` between `starts` and `ends`."""

    first: int
    data: bytes
    starts: Ints
    ends: Ints


class _InvalidBatch(Exception):
    """The fast reader failed at this batch, counted in the file."""

    def __init__(self, batch: int) -> None:
        super().__init__(batch)
        self.batch = batch


def columns_of(batches: Batches, most: int = MOST_BYTES) -> Iterator[Columns]:
    """The records of `batches`, in chunks of about 4 MB. Raises DamagedLog: at the chunk with the first wrong batch.
    Raises ExpandsTooFar: a batch decompresses to more than `most` bytes."""
    for chunk in _chunks(batches, most):
        try:
            yield from _columns(batches, chunk)
        except _InvalidBatch as error:
            # The fast reader finds faults in its own order; the error must report the first.
            for batch in batches[chunk.first : error.batch + 1]:
                deque(each_record(batch, batches.data, most), maxlen=0)
            raise DamagedLog(batches.file, batch.position, "the batch's records do not add up") from None


def times_from(offsets: Sequence[int], batch: Batch, data: bytes) -> Iterator[tuple[int, int]]:
    """Offset and timestamp (ms since 1970) of the first record of a batch at or after each of the ascending `offsets`,
    while there is one. Keys, values and headers are not read. Raises DamagedLog."""
    payload, starts, base = payload_of(batch, data), array("q"), batch.base_offset
    try:
        _walk_batch(payload, 0, min(batch.count, max(offsets[-1] - base, 0) + 1), starts)
        for offset in offsets:
            # Each record is at least one after the one before; without gaps nothing is left to search.
            most = min(max(offset - base, 0), len(starts))
            least = min(max(batch.count - 1 - (batch.last_offset - offset), 0), most)
            index = bisect_left(starts, offset - base, least, most, key=lambda at: _deltas(payload, at)[0])
            if index == len(starts):
                return
            delta, timestamp_delta = _deltas(payload, starts[index])
            if not offset <= base + delta <= batch.last_offset:
                raise BadVarint
            timestamp = wrap_long(batch.base_timestamp + timestamp_delta)
            yield base + delta, batch.max_timestamp if batch.log_append_time else timestamp
    except (IndexError, BadVarint):
        deque(each_record(batch, data), maxlen=0)
        raise DamagedLog(batch.file, batch.position, "the batch's records do not add up") from None


def _deltas(payload: bytes, start: int) -> tuple[int, int]:
    """The offset and the timestamp of a record, less those of its batch."""
    timestamp, position = read_long(payload, read_int(payload, start)[1] + 1)
    return read_int(payload, position)[0], timestamp


def _chunks(batches: Batches, most: int) -> Iterator[_Chunk]:
    ends = batches.ends
    compressed = np.flatnonzero(batches.headers["attributes"] & CODEC_MASK)
    start = 0
    while start < len(batches):
        stop = int(np.searchsorted(ends, batches.positions[start] + _CHUNK_BYTES, side="left")) + 1
        stop = min(stop, len(batches))
        index = np.searchsorted(compressed, start)
        if index < len(compressed) and compressed[index] < stop:
            chunk = _decompressed(batches, start, stop, most)
        else:
            starts = batches.positions[start:stop] + HEADER_BYTES
            chunk = _Chunk(start, batches.data, starts, ends[start:stop])
        yield chunk
        start += len(chunk.starts)


def _decompressed(batches: Batches, start: int, stop: int, most: int) -> _Chunk:
    """About 4 MB of batches from `start` on, at least one."""
    payloads: list[bytes] = []
    ends: list[int] = []
    total = 0
    for batch in batches[start:stop]:
        payloads.append(payload_of(batch, batches.data, most))
        total += len(payloads[-1])
        ends.append(total)
        if total >= _CHUNK_BYTES:
            break
    starts = np.array([0, *ends[:-1]], dtype=np.int64)
    data = payloads[0] if len(payloads) == 1 else b"".join(payloads)
    return _Chunk(start, data, starts, np.array(ends, dtype=np.int64))


def _columns(batches: Batches, chunk: _Chunk) -> Iterator[Columns]:
    starts, ends, batch_of = _records(batches, chunk)
    last_offset = -1
    for first in range(0, len(starts), _MOST_RECORDS):
        part = slice(first, first + _MOST_RECORDS)
        try:
            columns = _fields(batches, chunk.data, starts[part], ends[part], batch_of[part])
            _check(columns.offsets > np.append(last_offset, columns.offsets[:-1]))
        except BadVarint as error:
            raise _InvalidBatch(int(batch_of[first + error.lane])) from None
        yield columns
        last_offset = int(columns.offsets[-1])


def _records(batches: Batches, chunk: _Chunk) -> tuple[Ints, Ints, Ints]:
    """The first byte of each record, the byte after it, and its batch."""
    stop = chunk.first + len(chunk.starts)
    counts: Ints = batches.headers["count"][chunk.first : stop].astype(np.int64)
    starts = _walk_side_by_side(chunk, counts)
    if starts is None:
        starts = np.frombuffer(_walk(chunk, counts.tolist()), dtype=np.int64)
    batch_of = np.repeat(np.arange(chunk.first, stop), counts)
    filled = counts > 0
    ends = np.empty_like(starts)
    ends[:-1] = starts[1:]
    ends[np.cumsum(counts)[filled] - 1] = chunk.ends[filled]
    return starts, ends, batch_of


def _walk_side_by_side(chunk: _Chunk, counts: Ints) -> Ints | None:
    """As `_walk`, one record of every batch at each step; None: too few batches, or a record is invalid."""
    total, most = int(counts.sum()), int(counts.max(initial=0))
    if total < _LEAST_ABREAST * most:
        return None
    octets = np.frombuffer(chunk.data, dtype=np.uint8)
    # Batches with most records are first, so that the unfinished ones are at the front.
    order = np.argsort(-counts, kind="stable")
    position, slot = chunk.starts[order], (np.cumsum(counts) - counts)[order]
    walking = np.searchsorted(-counts[order], -np.arange(most), side="left").tolist()
    starts = np.empty(total, dtype=np.int64)
    for step, batches in enumerate(walking):
        at = position[:batches]
        starts[slot[:batches] + step] = at
        if int(at.max()) + 1 >= len(octets):
            return None
        first, second = octets[at].astype(np.int64), octets[at + 1].astype(np.int64)
        long = first >> 7
        if (long & (second >> 7)).any():
            return None
        # Zigzag encoding: the length is half of the number; an odd number is a negative length.
        size = first & 0x7F | (second << 7) * long
        if (size & 1).any():
            return None
        position[:batches] += (size >> 1) + 1 + long
    filled = counts[order] > 0
    return starts if np.array_equal(position[filled], chunk.ends[order][filled]) else None


def _walk(chunk: _Chunk, counts: list[int]) -> array[int]:
    """The first byte of each record. The records of every batch must fill it exactly."""
    starts = array("q")
    bounds = zip(chunk.starts.tolist(), chunk.ends.tolist(), counts, strict=True)
    for index, (start, end, count) in enumerate(bounds):
        try:
            filled = _walk_batch(chunk.data, start, count, starts)
        except (IndexError, BadVarint):
            filled = None
        if count and filled != end:
            raise _InvalidBatch(chunk.first + index)
    return starts


def _walk_batch(data: bytes, position: int, count: int, starts: array[int]) -> int:
    for _ in range(count):
        starts.append(position)
        size = data[position]
        if size < 0x80:
            position += (size >> 1) + 1
        elif (more := data[position + 1]) < 0x80:
            position += ((size & 0x7F | more << 7) >> 1) + 2
        else:
            length, position = read_int(data, position)
            position += max(length, 0)
    return position


def _fields(batches: Batches, data: bytes, starts: Ints, ends: Ints, batch_of: Ints) -> Columns:
    """Read every field; if the last one ends with the record, all of them are within it."""
    octets = np.frombuffer(data, dtype=np.uint8)
    lengths, position = read_ints(octets, starts)
    _check(position + lengths == ends)
    timestamp_deltas, position = read_longs(octets, position + 1)
    offset_deltas, position = read_ints(octets, position)
    key_start, key_end, position = _read_bytes(octets, position)
    value_start, value_end, position = _read_bytes(octets, position)
    header_counts, position = read_ints(octets, position)
    for lane in np.flatnonzero(header_counts).tolist():
        count, start, end = int(header_counts[lane]), int(position[lane]), int(ends[lane])
        position[lane] = _after_headers(data, lane, count, start, end)
    _check(position == ends)
    headers = batches.headers
    base: Ints = headers["base_timestamp"].astype(np.int64)
    timestamps = base[batch_of] + timestamp_deltas
    by_broker = (headers["attributes"] & LOG_APPEND_TIME).astype(bool)
    if by_broker.any():
        broker: Ints = headers["max_timestamp"].astype(np.int64)
        timestamps = np.where(by_broker[batch_of], broker[batch_of], timestamps)
    return Columns(
        data=data,
        offsets=_offsets(batches, offset_deltas, batch_of),
        timestamps=timestamps,
        key_start=key_start,
        key_end=key_end,
        value_start=value_start,
        value_end=value_end,
        batch_of=batch_of,
        batches=batches,
    )


def _read_bytes(octets: Octets, position: Ints) -> tuple[Ints, Ints, Ints]:
    """Start, end (or NULL) and the next position of a field that its length precedes."""
    lengths, start = read_ints(octets, position)
    after = start + np.maximum(lengths, 0)
    return start, np.where(lengths < 0, NULL, after), after


def _after_headers(data: bytes, lane: int, count: int, position: int, end: int) -> int:
    if not 0 <= 2 * count <= end - position:
        raise BadVarint(lane)
    try:
        for _ in range(count):
            key, position = read_int(data, position)
            if key < 0:
                raise BadVarint(lane)
            value, position = read_int(data, position + key)
            position += max(value, 0)
    except BadVarint:
        raise BadVarint(lane) from None
    return position


def _offsets(batches: Batches, deltas: Ints, batch_of: Ints) -> Ints:
    base: Ints = batches.headers["base_offset"].astype(np.int64)[batch_of]
    offsets = base + deltas
    _check((deltas >= 0) & (offsets <= batches.last_offsets[batch_of]))
    return offsets


def _check(right: NDArray[np.bool_]) -> None:
    if not right.all():
        raise BadVarint(int(np.argmin(right)))


def _slice(data: bytes, start: np.int64, end: np.int64) -> bytes | None:
    return None if end < 0 else data[start:end]
