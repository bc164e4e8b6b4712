"""The index of one segment, by offset and by time.

It has an entry after every 4096 bytes, by the rules of a broker's index files, so that the numbers are the same: see
`wire.log.indexes`. Source: LogSegment.append.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Self

from wire.log.batch_header import NO_TIMESTAMP, Batch
from wire.log.indexes import INTERVAL_BYTES, index_entries, time_entries
from wire.log.segments import Segment


class SegmentIndex:
    """One segment as far as it is written; its first possible offset is `base_offset`."""

    __slots__ = (
        "_last_entry",
        "_offsets",
        "_positions",
        "_time_offsets",
        "_times",
        "base_offset",
        "first_timestamp",
        "max_timestamp",
        "max_timestamp_offset",
        "next_offset",
        "size",
    )

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.size = 0
        self.next_offset = base_offset
        self.first_timestamp: int | None = None
        """The largest timestamp of the first batch; None while the segment is empty."""
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        """The last offset of the first batch that has `max_timestamp`."""
        self._offsets, self._positions = array("q"), array("q")
        self._times, self._time_offsets = array("q"), array("q")
        self._last_entry = 0

    @classmethod
    def of(cls, segment: Segment) -> Self:
        """The index of a segment that was read."""
        index, batches = cls(segment.base_offset), segment.batches
        if not len(batches):
            return index
        entries = index_entries(batches)
        times, places = time_entries(batches, entries)
        last_offsets = batches.last_offsets
        index._offsets = array("q", last_offsets[entries].tobytes())
        index._positions = array("q", batches.positions[entries].tobytes())
        index._times = array("q", times.tobytes())
        index._time_offsets = array("q", last_offsets[places].tobytes())
        index._last_entry = index._positions[-1] if index._positions else 0
        index.first_timestamp = int(batches.headers["max_timestamp"][0])
        if index._times:
            index.max_timestamp, index.max_timestamp_offset = index._times[-1], index._time_offsets[-1]
        index.size, index.next_offset = batches.end, segment.next_offset
        return index

    def add(self, batch: Batch) -> None:
        """Append a batch to the index; its position is the current size."""
        if self.first_timestamp is None:
            self.first_timestamp = batch.max_timestamp
        if batch.max_timestamp > self.max_timestamp:
            self.max_timestamp, self.max_timestamp_offset = batch.max_timestamp, batch.last_offset
        if self.size - self._last_entry > INTERVAL_BYTES:
            self._offsets.append(batch.last_offset)
            self._positions.append(self.size)
            if self.max_timestamp > (self._times[-1] if self._times else NO_TIMESTAMP):
                self._times.append(self.max_timestamp)
                self._time_offsets.append(self.max_timestamp_offset)
            self._last_entry = self.size
        self.size += batch.size
        self.next_offset = batch.next_offset

    def position_of(self, offset: int) -> int:
        """The position at or before the batch that contains `offset`."""
        place = bisect_right(self._offsets, offset)
        return self._positions[place - 1] if place else 0

    def position_of_time(self, timestamp: int) -> int:
        """The position at or before the first batch with a record of `timestamp` or later."""
        # The entry refers to the first batch with its time: for an equal time, to that batch itself.
        place = bisect_right(self._times, timestamp)
        return self.position_of(self._time_offsets[place - 1]) if place else 0
