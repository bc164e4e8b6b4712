"""Whether a log still tells what was at an earlier moment.

Compaction takes a value away once a later one of the same key stands in the part that it has been through. If it has
been through records later than the moment, a value that counted then may be gone. It leaves gaps in the offsets;
where there are none, nothing was taken.
"""

from __future__ import annotations

import numpy as np

from wire.log.segments import Segment
from wire.log.varints import Ints


class Coverage:
    """What a partition's segments, in their order, say of a moment."""

    def __init__(self, as_of_ms: int) -> None:
        self._as_of_ms = as_of_ms
        self._next_offset = 0
        self._last_gap: int | None = None
        """The offset behind it."""
        self._first_later: int | None = None
        """Base offset of the first batch that has something later."""
        self._active_from = 0
        self._times: list[tuple[int, int]] = []
        """By segment its base offset, and the latest time in it."""

    @property
    def is_passed(self) -> bool:
        """Whether something later than the moment was seen."""
        return self._first_later is not None

    def add(self, segment: Segment) -> None:
        """Look at the next segment."""
        self._active_from = segment.base_offset
        headers = segment.batches.headers
        if not len(headers):
            return
        bases: Ints = headers["base_offset"].astype(np.int64)
        lasts = segment.batches.last_offsets
        before = np.concatenate(([self._next_offset], lasts[:-1] + 1))
        gaps = np.flatnonzero((bases > before) | (headers["count"] < lasts - bases + 1))
        if len(gaps):
            self._last_gap = int(lasts[gaps[-1]]) + 1
        self._next_offset = int(lasts[-1]) + 1
        self._times.append((segment.base_offset, int(headers["max_timestamp"].max())))
        later = np.flatnonzero(headers["max_timestamp"] > self._as_of_ms)
        if len(later) and self._first_later is None:
            self._first_later = int(bases[later[0]])

    def whole_from(self, cleaned_to: int | None) -> int | None:
        """The time from which on nothing is missing, where something may be at the moment; None: nothing is.

        `cleaned_to` is the offset that compaction has come to, None where nobody wrote it down: it never comes to
        the segment that is being written.
        """
        if self._last_gap is None or self._first_later is None:
            return None
        if cleaned_to is None or cleaned_to < self._last_gap:
            cleaned_to = self._active_from
        if cleaned_to <= self._first_later:
            return None
        return max(time_ms for base_offset, time_ms in self._times if base_offset < cleaned_to)
