"""The batches of a part of a file, some megabytes at a time, whatever the file's size and content. A block is read,
the batches in it are found (`batch_scan`), and the next block starts with the first batch that was not whole in it.
Bytes that are not a batch are reported, and the search continues at the next whole batch, as in `wire.log.salvage`.
A large segment is split for several tasks at batches: by its index, whose entries the batches confirm, or else by a
walk over the headers. Bytes in the middle of a file do not count as a batch only because they look like one: a
client's data may do so; there is no split after bytes that are not a header."""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from wire.log.batch_header import HEADER, HEADER_BYTES, LOG_OVERHEAD, MAGIC, Batch, Batches
from wire.log.batch_scan import BatchSearch, Scan, scan, whole_batch_at
from wire.log.indexes import OFFSET_ENTRY
from wire.log.salvage import MOST_FAULTS
from wire.log.segments import MOST_OFFSETS
from wire.log.varints import Ints

BLOCK_BYTES = 8 << 20
MOST_BATCH_BYTES = 128 << 20  # more is damage: a segment of the topic has 100 MB, a batch a few MB
_SEARCH_BYTES = 32 << 20
"""The bytes that one search reads. It covers their first half: a batch of up to 16 MB that starts there is whole."""
_LENGTH = struct.Struct(">i")


class ByteRanges(Protocol):
    """A file that allows reading any bytes."""

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """At most `nbytes` from `offset` on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Consecutive whole batches. Positions in `batches` count from the byte `base` of the file."""

    batches: Batches
    base: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes from `position` on that are not a batch, and why."""

    position: int
    reason: str


def blocks_of(
    file: ByteRanges, name: str, *, start: int, end: int, size: int, base_offset: int = 0
) -> Iterator[Block | Damage]:
    """The batches of the file that start from `start`, where one must start, to before `end`, and the damage between
    them. `size` is the file's, `base_offset` the offset in its name; `name` is for messages. Raises OSError."""
    return _Blocks(file, name, end, size, base_offset).read(start)


class _Blocks:
    def __init__(self, file: ByteRanges, name: str, end: int, size: int, base_offset: int) -> None:
        self._file, self._name, self._end, self._size = file, name, end, size
        self._due = base_offset  # the least offset that the next batch can have
        self._most = base_offset + MOST_OFFSETS

    def read(self, position: int) -> Iterator[Block | Damage]:
        faults = 0
        while position < self._end:
            scanned = self._scan(position)
            batches = scanned.batches
            batches = batches[: int(np.searchsorted(batches.positions, self._end - position))]
            if len(batches):
                fault = None
                if (liar := self._first_impossible(batches)) is not None:
                    index, reason = liar
                    fault = Damage(position + int(batches.positions[index]), reason)
                    batches = batches[:index]
                if len(batches):
                    self._due = int(batches.last_offsets[-1]) + 1
                    yield Block(batches=batches, base=position)
                if fault is None:
                    position += batches.end
                    continue
            elif scanned.fault is None:
                return
            else:
                zeros = self._zeros(position)
                reason = f"{zeros} bytes of zeros, reserved space" if zeros else scanned.fault.reason
                fault = Damage(position, reason)
            faults += 1
            if faults >= MOST_FAULTS:
                rest = f"after this many faults the rest of the {self._end} bytes is not read"
                yield Damage(fault.position, f"{fault.reason}; {rest}")
                return
            following = self._next_batch(fault.position + 1)
            yield fault
            if following is None:
                return
            position = following

    def _scan(self, position: int) -> Scan:
        """The batches from `position` on, as many as fit in a block, at least one if there is one."""
        size = BLOCK_BYTES
        while True:
            data = self._file.read_at(min(size, self._size - position), position)
            scanned = scan(data, self._name)
            if len(scanned.batches) or scanned.fault is None or position + len(data) >= self._size:
                return scanned
            announced = _LENGTH.unpack_from(data, 8)[0] + LOG_OVERHEAD if len(data) >= HEADER_BYTES else 0
            if not size < announced <= MOST_BATCH_BYTES:
                return scanned
            size = announced

    def _first_impossible(self, batches: Batches) -> tuple[int, str] | None:
        """The first batch whose offsets are impossible here. Within a block they ascend."""
        first = int(batches.headers["base_offset"][0])
        if first < self._due:
            return 0, f"the base offset {first} is below the next expected one, {self._due}"
        last_offsets = batches.last_offsets
        if int(last_offsets[-1]) >= self._most:
            index = int(np.searchsorted(last_offsets, self._most))
            return index, f"the offset {int(last_offsets[index])} is too far above the one in the file's name"
        return None

    def _zeros(self, position: int) -> int:
        """The number of bytes left, if all of them are zero; otherwise 0."""
        at = position
        while at < self._size:
            data = self._file.read_at(min(BLOCK_BYTES, self._size - at), at)
            if data.count(0) != len(data):
                return 0
            at += len(data)
        return self._size - position

    def _next_batch(self, position: int) -> int | None:
        """The first byte of the next whole batch of this part."""
        while position < self._end:
            data = self._file.read_at(min(_SEARCH_BYTES, self._size - position), position)
            following = BatchSearch(data).next_batch(0)
            if following is not None:
                return position + following if position + following < self._end else None
            if position + len(data) >= self._size:
                return None
            position += len(data) // 2
        return None


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
