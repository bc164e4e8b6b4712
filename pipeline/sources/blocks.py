"""The batches of a part of a file, some megabytes at a time, whatever the file's size and content.

Theory of operation. A block is read, the batches in it are found (`batch_scan`), and the next block starts with the
first batch that was not whole in it. Bytes that are not a batch are reported, and the search continues after them at
the next whole batch, as in `wire.log.salvage`. Batches that start before the end of a part belong to it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from wire.log.batch_header import HEADER_BYTES, LOG_OVERHEAD, Batches
from wire.log.batch_scan import BatchSearch, Scan, scan
from wire.log.salvage import MOST_FAULTS
from wire.log.segments import MOST_OFFSETS

BLOCK_BYTES = 8 << 20
MOST_BATCH_BYTES = 128 << 20
"""A longer batch counts as damage: a segment of the topic has 100 MB, a batch a few MB at most."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes from `position` on that are not a batch, and why."""

    position: int
    reason: str


def blocks_of(
    file: ByteRanges, name: str, *, start: int, end: int, size: int, base_offset: int = 0
) -> Iterator[Block | Damage]:
    """The batches of the file that start from `start` to before `end`, and the damage between them.

    A batch must start at `start`. `size` is the file's size, `base_offset` the offset in its name; `name` is for
    messages. :raises OSError: it cannot be read
    """
    return _Blocks(file, name, end, size, base_offset).read(start)


class _Blocks:
    def __init__(self, file: ByteRanges, name: str, end: int, size: int, base_offset: int) -> None:
        self._file, self._name, self._end, self._size = file, name, end, size
        self._due = base_offset
        """The least offset that the next batch can have."""
        self._most = base_offset + MOST_OFFSETS

    def read(self, position: int) -> Iterator[Block | Damage]:
        faults = 0
        while position < self._end:
            found = self._scan(position)
            batches = self._within(found.batches, position)
            if len(batches):
                liar = self._first_impossible(batches)
                if liar is not None:
                    index, reason = liar
                    batches, fault = (
                        batches[:index],
                        Damage(position=position + int(batches.positions[index]), reason=reason),
                    )
                else:
                    fault = None
                if len(batches):
                    self._due = int(batches.last_offsets[-1]) + 1
                    yield Block(batches=batches, base=position)
                if fault is None:
                    position += batches.end
                    continue
            elif found.fault is None:
                return
            else:
                fault = self._named(position, found.fault.reason)
            faults += 1
            following = self._next_batch(fault.position + 1) if faults < MOST_FAULTS else None
            yield (
                fault
                if faults < MOST_FAULTS
                else Damage(
                    position=fault.position,
                    reason=f"{fault.reason}; after this many faults the rest of the {self._end} bytes is not read",
                )
            )
            if following is None:
                return
            position = following

    def _scan(self, position: int) -> Scan:
        """The batches from `position` on, as many as fit in a block, at least one if there is one."""
        size = BLOCK_BYTES
        while True:
            data = self._file.read_at(min(size, self._size - position), position)
            found = scan(data, self._name)
            if len(found.batches) or found.fault is None or position + len(data) >= self._size:
                return found
            announced = _LENGTH.unpack_from(data, 8)[0] + LOG_OVERHEAD if len(data) >= HEADER_BYTES else 0
            if not size < announced <= MOST_BATCH_BYTES:
                return found
            size = announced

    def _within(self, batches: Batches, base: int) -> Batches:
        """The batches that start before the end."""
        return batches[: int(np.searchsorted(batches.positions, self._end - base))]

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

    def _named(self, position: int, reason: str) -> Damage:
        zeros = self._zeros(position)
        return Damage(
            position=position, reason=f"{zeros} bytes of zeros, reserved space" if zeros else reason
        )

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
