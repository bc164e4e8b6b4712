"""Compaction of an open partition: it keeps the last record of every key (`cleanup.policy=compact`).

    work = compaction.begin(...)        in the log's thread; None: nothing to do
    work.run(...)                       in any other thread, with the store's cleaner
    compaction.end(work)                in the log's thread, also after an error

Theory of operation. Only segments before the active one are compacted, and none beyond the last stable offset: an
uncommitted record must not hide an older one. No segment is deleted while they are read. Compacted segments replace
the old ones in the log's thread, which reads the old ones until then. Before that they are files without effect
(`.cleaned`), as a new topic of the same name may use the directory by now.

The progress of compaction is known while a log is open. After a start the whole log is dirty.

Source: LogCleanerManager.grabFilthiestCompactedLog, cleanableOffsets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from coordinator.partitions.log import Log, SegmentIndex
from coordinator.partitions.producers import Producers
from coordinator.partitions.settings import MAX_LONG, RecordSettings
from coordinator.store.cleaner import CompactionSettings, closed_segments, compact, replace_segments
from coordinator.store.disk import sync
from wire.log.indexes import AbortedTransaction, aborted_transactions
from wire.log.segments import read_segment

InLogsThread: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls a function in the log's thread, waits for it, and raises its exception."""


@dataclass(slots=True, kw_only=True)
class CompactionRun:
    """The segments from the start of a log up to the offset `end`, dirty from `first_dirty`."""

    compaction: LogCompaction
    settings: RecordSettings
    first_dirty: int
    end: int
    now_ms: int
    done_to: int | None = None
    """The offset up to which the log was compacted; None: compaction failed."""
    aborted: Sequence[AbortedTransaction] = ()

    def run(
        self, in_logs_thread: InLogsThread, producer_expiration_ms: int, stopped: Callable[[], bool]
    ) -> None:
        """Compact. After an error each segment is the old or the new one.

        :raises Interrupted: :raises DamagedLog: :raises OSError:
        """

        def put_in_place(cleaned: Path, end: int) -> None:
            sync(cleaned)
            index = SegmentIndex.of(read_segment(cleaned))
            in_logs_thread(lambda: self.compaction.replace(cleaned, index, end))

        directory = self.compaction.directory
        for span in closed_segments(directory, self.end):
            if span.end > self.first_dirty:
                sync(span.path)  # an older record is removed only once the later one is on the disk
        done_to = compact(
            directory,
            CompactionSettings(
                segment_bytes=self.settings.segment_bytes,
                delete_retention_ms=self.settings.delete_retention_ms,
                producer_expiration_ms=producer_expiration_ms,
            ),
            first_dirty=self.first_dirty,
            active=self.end,
            now_ms=self.now_ms,
            stopped=stopped,
            put_in_place=put_in_place,
        )
        spans = closed_segments(directory, self.end)
        found = aborted_transactions(read_segment(span.path).batches for span in spans)
        self.aborted = [each for of_segment in found for each in of_segment]
        self.done_to = done_to


class LogCompaction:
    """See the module. `close_files` closes the descriptors of the segments in `directory`."""

    def __init__(
        self, directory: Path, log: Log, producers: Producers, close_files: Callable[[], None]
    ) -> None:
        self.directory = directory
        self._log = log
        self._producers = producers
        self._close_files = close_files
        self._first_dirty = 0
        self._tried_to = 0
        """The offset up to which compaction was tried: after a failure it is retried when more is to compact."""

    def begin(self, settings: RecordSettings, last_stable_offset: int, now_ms: int) -> CompactionRun | None:
        """The work, if enough of the log is dirty."""
        lag_ms = settings.min_compaction_lag_ms
        end = self._log.cleanable_end(last_stable_offset, now_ms - lag_ms if lag_ms else MAX_LONG)
        if end <= self._tried_to:
            return None
        if self._log.dirty_ratio(self._first_dirty, end) <= settings.min_cleanable_dirty_ratio:
            return None
        self._tried_to = end
        self._log.hold()
        return CompactionRun(
            compaction=self, settings=settings, first_dirty=self._first_dirty, end=end, now_ms=now_ms
        )

    def replace(self, cleaned: Path, index: SegmentIndex, end: int) -> None:
        """Replace the segments up to the offset `end` by a compacted one. :raises OSError:"""
        self._close_files()
        replace_segments(cleaned, end)
        self._log.replace(index, end)

    def end(self, work: CompactionRun) -> None:
        """Record the finished work. :raises OSError: a segment that should be deleted still exists"""
        if work.done_to is not None:
            self._first_dirty = work.done_to
            self._producers.compacted(work.end, work.aborted)
        self._log.release()
