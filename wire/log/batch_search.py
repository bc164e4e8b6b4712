"""Looking for a whole batch among bytes that are something else."""

import struct

import numpy as np

from wire.log.batch_header import ATTRIBUTES_AT, DELETE_HORIZON, HEADER_BYTES, LOG_OVERHEAD, MAGIC
from wire.log.batch_scan import whole_batch_at

_LENGTH = struct.Struct(">i")
_LENGTH_AT = 8
_MAGIC_AT = 16
_NEGATIVE = 0x80
"""The first byte of a negative number, or more."""

_STEP_BYTES = 1 << 20
_READINGS = 4
"""How many times the bytes of the file may be summed up."""
_LEAST_COST = 1 << 10
"""Bytes that are summed up in the time that any candidate takes."""


class BatchSearch:
    """Finds batches by what a header cannot be without, then by the checksum.

    What it does is bounded, so that bytes made to look like many batches cost no more than a few readings of the file.
    `given_up` says that the bound was reached: then "none found" means nothing.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._octets = np.frombuffer(data, dtype=np.uint8)
        self._budget = _READINGS * len(data) + _STEP_BYTES

    @property
    def given_up(self) -> bool:
        """Whether the search ended before the bytes did."""
        return self._budget <= 0

    def next_batch(self, position: int) -> int | None:
        """Where the first whole batch from `position` on begins; None if none was found."""
        last = len(self._data) - HEADER_BYTES
        while position <= last and not self.given_up:
            stop = min(position + _STEP_BYTES, last + 1)
            for candidate in self._candidates(position, stop):
                if self._is_batch(candidate):
                    return candidate
                if self.given_up:
                    break
            position = stop
        return None

    def _candidates(self, start: int, stop: int) -> list[int]:
        """Positions with the right magic, no negative offset or length, and attributes with only known bits."""
        octets = self._octets
        able = octets[start + _MAGIC_AT : stop + _MAGIC_AT] == MAGIC
        able &= octets[start:stop] < _NEGATIVE
        able &= octets[start + _LENGTH_AT : stop + _LENGTH_AT] < _NEGATIVE
        able &= octets[start + ATTRIBUTES_AT : stop + ATTRIBUTES_AT] == 0
        able &= octets[start + ATTRIBUTES_AT + 1 : stop + ATTRIBUTES_AT + 1] < 2 * DELETE_HORIZON
        found: list[int] = (np.flatnonzero(able) + start).tolist()
        return found

    def _is_batch(self, position: int) -> bool:
        (length,) = _LENGTH.unpack_from(self._data, position + _LENGTH_AT)
        fits = HEADER_BYTES <= length + LOG_OVERHEAD <= len(self._data) - position
        self._budget -= max(length, _LEAST_COST) if fits else _LEAST_COST
        return fits and not self.given_up and whole_batch_at(self._data, position)
