"""Large segments, split at batches for several tasks: by the index, whose entries the batches confirm, or else by a
walk over the headers. Bytes in the middle of a file do not count as a batch only because they look like one: a
client's data may do so; there is no split after bytes that are not a header."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wire.log.batch_header import HEADER, HEADER_BYTES, LOG_OVERHEAD, MAGIC, Batch
from wire.log.batch_scan import whole_batch_at
from wire.log.blocks import MOST_BATCH_BYTES, Block, ByteRanges, blocks_of
from wire.log.indexes import OFFSET_ENTRY
from wire.log.varints import Ints

_LENGTH_AND_MAGIC = struct.Struct(">i4xb")
_LENGTH_AT = 8
_WALK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The batches of segment number `segment` of a listing that start at the bytes from `start` up to `end`."""

    segment: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def cuts(file: ByteRanges, size: int, index: bytes, base_offset: int, split_bytes: int) -> list[int]:
    """The positions at which to split a segment of `size` bytes: starts of batches, ascending, without the first.
    `index`: the content of its offset index, empty without one."""
    targets = range(split_bytes, size - split_bytes // 2, split_bytes)
    places = _index_places(index, size)
    positions: list[int] = []
    known = 0
    for target in targets:
        if known >= target:
            continue
        position = _by_index(file, places, target, base_offset)
        position = _walk(file, size, known, target) if position is None else position
        if position is None:
            break
        positions.append(position)
        known = position
    return positions


def last_place(file: ByteRanges, size: int, index: bytes, base_offset: int) -> int:
    """The position of the last batch in the index; 0 if the index is empty or wrong."""
    places = _index_places(index, size)
    if not len(places):
        return 0
    return _by_index(file, places, int(places[-1, 1]), base_offset) or 0


def packed(splits: Iterable[Split], most_bytes: int) -> list[tuple[Split, ...]]:
    """The splits grouped into tasks of about `most_bytes` or of one split, in the given order."""
    tasks: list[list[Split]] = []
    room = 0
    for split in splits:
        if not tasks or split.size > room:
            tasks.append([])
            room = most_bytes
        tasks[-1].append(split)
        room -= split.size
    return [tuple(task) for task in tasks]


def _index_places(index: bytes, size: int) -> Ints:
    """Relative offsets and positions of the entries, as far as they ascend: the reserved space after them is zero."""
    entries = np.frombuffer(index, dtype=OFFSET_ENTRY, count=len(index) // OFFSET_ENTRY.itemsize)
    places = np.stack([entries["offset"], entries["position"]], axis=1).astype(np.int64)
    if not len(places):
        return places
    descends = np.flatnonzero((np.diff(places, axis=0) <= 0).any(axis=1))
    places = places[: int(descends[0]) + 1] if len(descends) else places
    return places[(places[:, 1] > 0) & (places[:, 1] < size)]


def _by_index(file: ByteRanges, places: Ints, target: int, base_offset: int) -> int | None:
    """The position of the first batch in the index from `target` on; None: not found, or the index is wrong."""
    number = int(np.searchsorted(places[:, 1], target)) if len(places) else 0
    if number >= len(places):
        return None
    offset, position = places[number].tolist()
    header = file.read_at(HEADER_BYTES, position)
    if len(header) < HEADER_BYTES:
        return None
    fields = np.frombuffer(header, dtype=HEADER)[0]
    size = int(fields["length"]) + LOG_OVERHEAD
    # An old broker's entry may have a later offset: the last one of all batches that were appended together.
    last = int(fields["base_offset"]) + int(fields["last_offset_delta"])
    if not HEADER_BYTES <= size <= MOST_BATCH_BYTES or not base_offset <= last <= base_offset + offset:
        return None
    return position if whole_batch_at(file.read_at(size, position), 0) else None


def _walk(file: ByteRanges, size: int, position: int, target: int) -> int | None:
    """The position of the first batch from `target` on, by walking; None if the walk ends before it."""
    data, base = b"", position
    unpack, least = _LENGTH_AND_MAGIC.unpack_from, HEADER_BYTES - LOG_OVERHEAD
    while position < target:
        at = position - base
        if at + HEADER_BYTES > len(data):
            if position + HEADER_BYTES > size:
                return None
            data, base, at = file.read_at(min(_WALK_BYTES, size - position), position), position, 0
            if len(data) < HEADER_BYTES:
                return None
        length, magic = unpack(data, at + _LENGTH_AT)
        if magic != MAGIC or length < least:
            return None
        position += length + LOG_OVERHEAD
    if position + HEADER_BYTES > size:
        return None
    length, magic = unpack(file.read_at(HEADER_BYTES, position), _LENGTH_AT)
    return position if magic == MAGIC and length >= least else None


def last_batch(file: ByteRanges, name: str, *, size: int, index: bytes, base_offset: int) -> Batch | None:
    """The last whole batch of a segment, or None. `index`: the content of its offset index; empty without one."""
    start = last_place(file, size, index, base_offset)
    last: Batch | None = None
    for block in blocks_of(file, name, start=start, end=size, size=size, base_offset=base_offset):
        if isinstance(block, Block):
            last = block.batches[-1]
    return last
