"""The batches of a part of a file, some megabytes at a time, whatever the file's size and content. A block is read,
the batches in it are found (`batch_scan`), and the next block starts with the first batch that was not whole in it.
Bytes that are not a batch are reported, and the search continues at the next whole batch, as in `wire.log.salvage`."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from wire.log.batch_header import HEADER_BYTES, LOG_OVERHEAD, Batches
from wire.log.batch_scan import BatchSearch, Scan, scan
from wire.log.columns import Columns
from wire.log.errors import DamagedLog
from wire.log.salvage import MOST_FAULTS, readable_columns
from wire.log.segments import MOST_OFFSETS

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
    """Bytes from `position` on that are not a batch, and why. `torn`: a cut-off write at the end, or zeros."""

    position: int
    reason: str
    torn: bool = False


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
                fault, unfinished = None, False
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
                fault, unfinished = Damage(position, reason), scanned.fault.unfinished
            faults += 1
            if faults >= MOST_FAULTS:
                rest = f"after this many faults the rest of the {self._end} bytes is not read"
                yield Damage(fault.position, f"{fault.reason}; {rest}")
                return
            following = self._next_batch(fault.position + 1)
            yield replace(fault, torn=unfinished and following is None)
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


def columns_of_block(block: Block) -> Iterator[Columns | Damage]:
    """The records of a block; damage replaces each batch that cannot be read."""
    batches = block.batches
    while len(batches):
        bad: list[int] = []
        for chunk in readable_columns(batches):
            if isinstance(chunk, DamagedLog):
                bad.append(chunk.position)
                yield Damage(block.base + chunk.position, chunk.reason)
            elif len(chunk):
                yield chunk
        if len(bad) < MOST_FAULTS:
            return
        # `readable_columns` stopped; the batches after the last bad one are another block.
        batches = batches[int(np.searchsorted(batches.positions, bad[-1])) + 1 :]
