"""All whole batches of a segment, whatever stands between them: for looking at a log, never for going on from it.

Behind bytes that are no batch the next whole one is looked for. The search is bounded, so that a file made to look
like many batches costs no more than a few readings of it.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from coordinator.storage.batch_header import (
    ATTRIBUTES_AT,
    DELETE_HORIZON,
    HEADER_BYTES,
    LOG_OVERHEAD,
    MAGIC,
    Batches,
)
from coordinator.storage.batch_scan import Fault, scan, whole_batch_at
from coordinator.storage.columns import Columns, columns_of
from coordinator.storage.damage import DamagedLog

MOST_FAULTS = 100
"""Per file; behind the last of them nothing more is read."""

_LENGTH_AT = 8
_MAGIC_AT = 16
_NEGATIVE = 0x80
"""The first byte of a negative number, or more."""
_INT32 = struct.Struct(">i")

_STEP_BYTES = 1 << 20
_READINGS = 4
"""How many times the bytes of the file may be summed up in search of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Whole batches, one behind the other, and what stands behind them. `fault` None: the file ends there.

    `torn`: what stands there is the end of the file, and looks like a write that was cut off or like reserved space.
    """

    batches: Batches
    fault: Fault | None
    torn: bool = False


def parts_of(data: bytes, file: str) -> Iterator[Part]:
    """The parts of a segment, from its begin; positions count from there. `file` is for messages."""
    start = 0
    search = _Search(data)
    for number in range(MOST_FAULTS):
        found = scan(data[start:] if start else data, file)
        batches = Batches(data, file, found.batches.positions + start, found.batches.headers)
        if found.fault is None:
            yield Part(batches=batches, fault=None)
            return
        fault = replace(found.fault, position=found.fault.position + start)
        following = search.next_batch(fault.position + 1) if number + 1 < MOST_FAULTS else None
        yield Part(batches=batches, fault=fault, torn=following is None and fault.unfinished)
        if following is None:
            return
        start = following


def readable_columns(batches: Batches) -> Iterator[Columns | DamagedLog]:
    """The records of a part; in place of a batch whose records are not as announced, what is wrong with it.

    Each `Columns.batches` is a slice of `batches`. Behind `MOST_FAULTS` such batches nothing more is read.
    """
    for _ in range(MOST_FAULTS):
        given = 0
        try:
            for columns in columns_of(batches):
                yield columns
                given = int(columns.batch_of[-1]) + 1 if len(columns) else given
            return
        except DamagedLog as error:
            bad = int(np.searchsorted(batches.positions, error.position))
            yield from columns_of(batches[given:bad])
            yield error
        batches = batches[bad + 1 :]


class _Search:
    """Looks for batches by what their headers cannot be without, then by their checksums."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._octets = np.frombuffer(data, dtype=np.uint8)
        self._budget = _READINGS * len(data)

    def next_batch(self, position: int) -> int | None:
        """Where the first whole batch from `position` on begins."""
        last = len(self._data) - HEADER_BYTES
        while position <= last and self._budget > 0:
            stop = min(position + _STEP_BYTES, last + 1)
            for candidate in self._candidates(position, stop):
                if self._is_batch(candidate):
                    return candidate
            position = stop
        return None

    def _candidates(self, start: int, stop: int) -> list[int]:
        """Positions with the right magic, a length that is not negative, and attributes with only known bits."""
        octets = self._octets
        able = octets[start + _MAGIC_AT : stop + _MAGIC_AT] == MAGIC
        able &= octets[start + _LENGTH_AT : stop + _LENGTH_AT] < _NEGATIVE
        able &= octets[start + ATTRIBUTES_AT : stop + ATTRIBUTES_AT] == 0
        able &= octets[start + ATTRIBUTES_AT + 1 : stop + ATTRIBUTES_AT + 1] < 2 * DELETE_HORIZON
        found: list[int] = (np.flatnonzero(able) + start).tolist()
        return found

    def _is_batch(self, position: int) -> bool:
        (length,) = _INT32.unpack_from(self._data, position + _LENGTH_AT)
        fits = length <= len(self._data) - position - LOG_OVERHEAD
        self._budget -= length if fits else HEADER_BYTES
        return fits and self._budget > 0 and whole_batch_at(self._data, position)
