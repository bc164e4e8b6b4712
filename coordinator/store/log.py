"""The log of one partition, open for appending.

    __consumer_offsets-7/
        partition.metadata, leader-epoch-checkpoint
        00000000000000000000.log  .index  .timeindex     full segments
        00000000000000123456.log                         the active one, which is appended to

Theory of operation. A batch is written after the last one, with one call if possible; an incomplete write is cut off
again, so that the file always ends with a complete batch while the process runs. A batch that a kill leaves half
written is cut off when the log is opened. A full segment is synchronized before the next one is created: only the
active segment can have a torn tail, in any other it is damage. Its index files are written when it is full or the log
is closed (`cleaner.write_missing_indexes`), not at every append: a broker creates missing ones itself.

Source: UnifiedLog.append, maybeRoll; LogSegment.shouldRoll, recover.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias
from uuid import UUID

from coordinator.store.cleaner import delete_indexes, finish_interrupted, write_missing_indexes
from coordinator.store.disk import sync
from coordinator.store.partition_files import (
    LeaderEpoch,
    read_leader_epochs,
    read_topic_id,
    write_leader_epochs,
    write_topic_id,
)
from wire.log.batch_header import ProducerIdentity
from wire.log.batches import encode_batch
from wire.log.segments import MOST_BYTES, MOST_OFFSETS, Segment, Torn, list_segments, read_log, segment_name

KeyAndValue: TypeAlias = tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentLimits:
    """When the next segment is created: a broker's `offsets.topic.segment.bytes` and `log.roll.ms`, with its
    defaults."""

    segment_bytes: int = 100 << 20
    roll_ms: int = 7 * 86_400_000


def prepare(directory: Path, topic_id: UUID) -> None:
    """Create missing files of a partition's directory, and complete an interrupted compaction.

    :raises DamagedLog: a small file is not a broker's, or a `.swap` is incomplete :raises OSError:
    """
    directory.mkdir(exist_ok=True)
    if read_topic_id(directory) is None:
        write_topic_id(directory, topic_id)
    if not read_leader_epochs(directory):
        write_leader_epochs(directory, [LeaderEpoch(epoch=0, start_offset=0)])
    finish_interrupted(directory)
    if not list_segments(directory):
        create_segment(directory, 0)


class PartitionLog:
    """See the module. After any OSError, earlier appends are unchanged."""

    def __init__(
        self, directory: Path, limits: SegmentLimits, active: Segment, leader_epoch: int, *, is_indexed: bool
    ) -> None:
        self.directory = directory
        self._limits = limits
        self.leader_epoch = leader_epoch
        """The leader epoch of later batches."""
        self.active = active.base_offset
        """The base offset of the active segment."""
        self.next_offset = active.next_offset
        """The offset that the next record gets."""
        self._size = active.batches.end
        self._size_before = self._size
        self._next_offset_before = self.next_offset
        self._first_ms = active.batches[0].max_timestamp if len(active.batches) else None
        self._is_indexed = is_indexed
        self._descriptor = os.open(active.path, os.O_RDWR)

    @classmethod
    def open(
        cls,
        directory: Path,
        limits: SegmentLimits,
        see: Callable[[Segment], None] = lambda _: None,
        *,
        was_clean: bool = False,
    ) -> tuple[Self, Torn | None]:
        """Open the log in a prepared directory, and cut off a torn tail. Returns the log and the tail.

        `see` is called with every segment, in order. `was_clean`: the index files are complete.

        :raises DamagedLog: a file is not a broker's :raises OSError:
        """
        for active in read_log(directory):
            see(active)
        if active.torn is not None:
            cut_segment(active.path, active.batches.end)
        is_indexed = was_clean and active.torn is None
        if not is_indexed:
            delete_indexes(active.path)
        checkpoint = read_leader_epochs(directory)[-1].epoch
        epoch = max(checkpoint, active.batches[-1].leader_epoch if len(active.batches) else 0)
        return cls(directory, limits, active, epoch, is_indexed=is_indexed), active.torn

    def append(
        self,
        records: Sequence[KeyAndValue],
        now_ms: int,
        producer: ProducerIdentity | None = None,
        *,
        control: bool = False,
    ) -> None:
        """Write the records as one batch, in the transaction of `producer` if any.

        It is in the operating system's cache then, and on the disk after `sync`. :raises OSError:
        """
        of_producer = producer or ProducerIdentity()
        batch = encode_batch(
            records,
            base_offset=self.next_offset,
            timestamp=now_ms,
            leader_epoch=self.leader_epoch,
            producer_id=of_producer.id,
            producer_epoch=of_producer.epoch,
            transactional=producer is not None,
            control=control,
        )
        if self._is_indexed:
            delete_indexes(self.directory / segment_name(self.active))
            self._is_indexed = False
        if self._is_full(len(batch), len(records), now_ms):
            self._roll()
        self._write(batch)
        self._size_before, self._next_offset_before = self._size, self.next_offset
        self._size += len(batch)
        self.next_offset += len(records)
        if self._first_ms is None:
            self._first_ms = now_ms

    def take_back(self) -> None:
        """Cut off the last appended batch, as far as the system permits."""
        self._cut_off(self._size_before)
        self._size, self.next_offset = self._size_before, self._next_offset_before

    def duplicate(self) -> int:
        """A descriptor of the active segment for a thread that synchronizes it, which must close it. :raises
        OSError:"""
        return os.dup(self._descriptor)

    def close(self) -> None:
        """Synchronize, and write missing index files. :raises OSError: :raises DamagedLog:"""
        try:
            os.fsync(self._descriptor)
        finally:
            os.close(self._descriptor)
        write_missing_indexes(self.directory, before=self.next_offset + 1)

    def abandon(self) -> None:
        """Close the files as a kill would."""
        os.close(self._descriptor)

    def _is_full(self, size: int, count: int, now_ms: int) -> bool:
        if self._first_ms is None:
            return False
        return (
            self._size + size > min(self._limits.segment_bytes, MOST_BYTES)
            or now_ms - self._first_ms > self._limits.roll_ms
            or self.next_offset + count - self.active > MOST_OFFSETS
        )

    def _roll(self) -> None:
        os.fsync(self._descriptor)
        path = create_segment(self.directory, self.next_offset)
        descriptor = os.open(path, os.O_RDWR)
        os.close(self._descriptor)
        self._descriptor = descriptor
        self.active, self._size, self._first_ms = self.next_offset, 0, None

    def _write(self, batch: bytes) -> None:
        write_batch(self._descriptor, batch, self._size)

    def _cut_off(self, size: int) -> None:
        # If even that fails, the next start finds a torn tail.
        with suppress(OSError):
            os.ftruncate(self._descriptor, size)


def write_batch(descriptor: int, batch: bytes | bytearray, position: int) -> None:
    """Write a batch at `position`, the end of a segment. :raises OSError: no part of it is written"""
    left, at = memoryview(batch), position
    try:
        while left:
            written = os.pwrite(descriptor, left, at)
            left, at = left[written:], at + written
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, position)
        raise


def create_segment(directory: Path, base_offset: int) -> Path:
    """Create an empty segment and synchronize its directory. :raises OSError:"""
    path = directory / segment_name(base_offset)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    sync(directory)
    return path


def cut_segment(path: Path, size: int) -> None:
    """Cut off everything after `size` bytes. :raises OSError:"""
    with open(path, "r+b") as segment:
        segment.truncate(size)
        os.fsync(segment.fileno())
