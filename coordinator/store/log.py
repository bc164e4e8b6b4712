"""The log of a partition: batches in segments, found by offset and by time. A log keeps only the indexes of its
segments; `Files` has their bytes, in memory or on a disk (`log_files`). Only the last segment, the active one, grows.
A batch that is written belongs to the log once it is indexed: before that, `take_back` removes it.
Source: LocalLog, UnifiedLog.maybeRoll, LogSegment.shouldRoll, UnifiedLog.deleteOldSegments."""

import errno
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol, Self

from wire.log.batch_header import HEADER_BYTES, NO_TIMESTAMP, Batch, batch_at
from wire.log.indexes import INTERVAL_BYTES, index_entries, time_entries
from wire.log.segments import MOST_BYTES, MOST_OFFSETS, Segment

UNLIMITED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentLimits:
    """When a segment is created or deleted: topic configs, `_` for `.`; a broker's defaults for coordinators."""

    segment_bytes: int = 100 << 20
    segment_ms: int = 7 * 86_400_000
    retention_bytes: int = UNLIMITED
    retention_ms: int = UNLIMITED


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
        self.first_timestamp: int | None = None  # the first batch's largest one; None: no batch
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset  # the last offset of the first batch that has `max_timestamp`
        self._offsets, self._positions = array("q"), array("q")
        self._times, self._time_offsets = array("q"), array("q")
        self._last_entry = 0

    @classmethod
    def of(cls, segment: Segment) -> Self:
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
        entry = bisect_right(self._offsets, offset)
        return self._positions[entry - 1] if entry else 0

    def position_of_time(self, timestamp: int) -> int:
        """The position at or before the first batch with a record of `timestamp` or later."""
        # The entry refers to the first batch with its time: for an equal time, to that batch itself.
        entry = bisect_right(self._times, timestamp)
        return self.position_of(self._time_offsets[entry - 1]) if entry else 0


class ReadBatches(NamedTuple):
    """Whole batches, and the offset after the last of them."""

    data: bytes
    end: int


READ_AHEAD = 16 * 1024  # bytes read at once to find headers: a few entries of an index lie within


class Files(Protocol):
    """The bytes of segments, by base offset. After an OSError nothing has changed."""

    def create(self, base_offset: int) -> None:
        """Create a segment, which becomes the active one."""

    def append(self, batch: bytes | bytearray) -> None:
        """Write to the active segment."""

    def cut(self, size: int) -> None:
        """Cut off the active segment after `size` bytes, as far as the system permits."""

    def read(self, base_offset: int, position: int, size: int) -> bytes:
        """Up to `size` bytes of a segment."""

    def delete(self, base_offset: int) -> None:
        """Delete a segment."""


class MemoryFiles:
    def __init__(self) -> None:
        self._segments: dict[int, bytearray] = {}
        self._active = bytearray()

    def create(self, base_offset: int) -> None:
        self._active = self._segments[base_offset] = bytearray()

    def append(self, batch: bytes | bytearray) -> None:
        self._active += batch

    def cut(self, size: int) -> None:
        del self._active[size:]

    def read(self, base_offset: int, position: int, size: int) -> bytes:
        return bytes(memoryview(self._segments[base_offset])[position : position + size])

    def delete(self, base_offset: int) -> None:
        del self._segments[base_offset]


class Log:
    """See the module. Failures of `files` raise OSError."""

    def __init__(self, files: Files, segments: Sequence[SegmentIndex] = (), start_offset: int = 0) -> None:
        """`segments`: the segments in `files`, ascending; if there are none, the first batch creates one."""
        self._files = files
        self._is_begun = bool(segments)
        self._segments = list(segments) or [SegmentIndex(start_offset)]
        self.start_offset = start_offset  # the offset of the first record that can be read
        self._is_held = False

    @property
    def end_offset(self) -> int:
        return self._segments[-1].next_offset

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self._segments)

    @property
    def active(self) -> int:
        return self._segments[-1].base_offset

    def append(self, batch: bytes | bytearray, limits: SegmentLimits) -> Batch:
        """Write a batch, whose base offset is the log's end."""
        header = self.write(batch, limits)
        self.add(header)
        return header

    def write(self, batch: bytes | bytearray, limits: SegmentLimits) -> Batch:
        """Write a batch to the files; `add` or `take_back` must follow."""
        header = batch_at(batch)
        if not self._is_begun:
            self._files.create(self.end_offset)
            self._is_begun = True
        elif self._is_full(header, limits):
            self._roll()
        self._files.append(batch)
        return header

    def add(self, header: Batch) -> None:
        self._segments[-1].add(header)

    def take_back(self) -> None:
        """Remove the batch that was written and not indexed, as far as the system permits."""
        self._files.cut(self._segments[-1].size)

    def read(self, offset: int, max_bytes: int, end: int, *, at_least_one: bool) -> ReadBatches:
        """Whole batches of one segment, from the batch that contains `offset` up to the offset `end`. Only
        the first batch may exceed `max_bytes`, if `at_least_one` (KIP-74)."""
        later = bisect_right(self._segments, offset, key=lambda segment: segment.base_offset)
        for segment in self._segments[max(later - 1, 0) :]:
            if segment.base_offset >= end:
                break
            batches = self._read(segment, offset, max_bytes, end, at_least_one)
            if batches is not None:
                return batches
        return ReadBatches(b"", offset)

    def batches_since(self, timestamp: int) -> Iterator[bytes]:
        """The batches with a record of `timestamp` or later, including deleted ones."""
        for segment in self._segments:
            if segment.max_timestamp >= timestamp:
                for batch in self._headers(segment, segment.position_of_time(timestamp)):
                    if batch.max_timestamp >= timestamp:
                        yield self._files.read(segment.base_offset, batch.position, batch.size)

    @property
    def max_timestamp(self) -> int:
        """The latest timestamp of all records; -1 if there are none."""
        return max(segment.max_timestamp for segment in self._segments)

    def start_at(self, offset: int) -> None:
        """Move the log start offset to at least `offset`; earlier segments are deleted."""
        self.start_offset = max(self.start_offset, offset)
        if not self._is_held:
            while len(self._segments) > 1 and self._segments[1].base_offset <= self.start_offset:
                self._files.delete(self._segments[0].base_offset)
                del self._segments[0]

    def expire(self, limits: SegmentLimits, now_ms: int) -> None:
        """Delete the segments that are no longer retained, by size, time or log start offset."""
        surplus = self.size - limits.retention_bytes
        offset = self.start_offset
        for segment in self._segments:
            surplus -= segment.size
            too_large = limits.retention_bytes != UNLIMITED and surplus >= 0
            is_timed = limits.retention_ms != UNLIMITED and segment.max_timestamp != NO_TIMESTAMP
            too_old = is_timed and now_ms - segment.max_timestamp > limits.retention_ms
            if not segment.size or not (too_large or too_old):
                break
            offset = segment.next_offset
        if offset >= self.end_offset and self._segments[-1].size:
            self._roll()
        self.start_at(offset)

    def hold(self) -> None:
        """Delete no segment until `release`, as segments are being compacted."""
        self._is_held = True

    def release(self) -> None:
        """Delete the segments that are due since `hold`. Raises OSError."""
        self._is_held = False
        self.start_at(self.start_offset)

    def cleanable_end(self, stable_end: int, newest_ms: int) -> int:
        """The base offset of the first segment that must not be compacted. This segment is active, or extends
        beyond `stable_end`, or has a record later than `newest_ms`."""
        for segment, following in pairwise(self._segments):
            if following.base_offset > stable_end or segment.max_timestamp > newest_ms:
                return segment.base_offset
        return self._segments[-1].base_offset

    def dirty_ratio(self, first_dirty: int, end: int) -> float:
        """The share, 0 to 1, of the bytes before offset `end` that are at or after the offset `first_dirty`."""
        clean = dirty = 0
        for segment in self._segments:
            if segment.base_offset < first_dirty:
                clean += segment.size
            elif segment.base_offset < end:
                dirty += segment.size
        return dirty / (clean + dirty) if dirty else 0.0

    def replace(self, compacted: SegmentIndex, end: int) -> None:
        """Replace the segments from the base offset of a compacted one up to the offset `end` by it."""
        bases = [segment.base_offset for segment in self._segments]
        self._segments[bisect_left(bases, compacted.base_offset) : bisect_left(bases, end)] = [compacted]

    def _roll(self) -> None:
        self._files.create(self.end_offset)
        self._segments.append(SegmentIndex(self.end_offset))

    def _is_full(self, batch: Batch, limits: SegmentLimits) -> bool:
        active = self._segments[-1]
        if active.first_timestamp is None:
            return False
        return (
            active.size + batch.size > min(limits.segment_bytes, MOST_BYTES)
            or batch.max_timestamp - active.first_timestamp > limits.segment_ms
            or batch.last_offset - active.base_offset >= MOST_OFFSETS
        )

    def _read(
        self, segment: SegmentIndex, offset: int, max_bytes: int, end: int, at_least_one: bool
    ) -> ReadBatches | None:
        """As `read`; None if the segment has nothing from `offset`."""
        start: int | None = None
        stop, read_to = 0, offset
        for batch in self._headers(segment, segment.position_of(offset)):
            if batch.last_offset < offset:
                continue
            if start is None:
                start = stop = batch.position
            after = batch.position + batch.size
            is_allowed = after - start <= max_bytes or (at_least_one and stop == start)
            if batch.base_offset >= end or not is_allowed:
                break
            stop, read_to = after, batch.next_offset
        if start is None:
            return None
        return ReadBatches(self._files.read(segment.base_offset, start, stop - start), read_to)

    def _headers(self, segment: SegmentIndex, position: int) -> Iterator[Batch]:
        """The batches of a segment from `position`, with their positions in the segment."""
        chunk, begin = b"", position
        while position < segment.size:
            at = position - begin
            if at + HEADER_BYTES > len(chunk):
                chunk, begin, at = self._files.read(segment.base_offset, position, READ_AHEAD), position, 0
                if len(chunk) < HEADER_BYTES:
                    raise OSError(errno.EIO, f"segment {segment.base_offset} is shorter than it was")
            batch = batch_at(chunk, at, position)
            yield batch
            position += batch.size
