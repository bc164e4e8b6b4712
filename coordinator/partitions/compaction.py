"""Compaction of a partition that is open: of every key the last record stays (`cleanup.policy=compact`).

    work = compaction.begin(...)        in the thread of the log; None: nothing is to be done
    work.run(...)                       in any other thread, by the cleaner of the store
    compaction.end(work)                in the thread of the log, also after an error

Theory of operation. Only segments that are not written to any more are compacted, and none that reaches beyond the last
stable offset: a record that is not committed must not hide an older one. While they are read, none is deleted. Those
that were written anew take their places in the thread of the log, which reads the old ones until then; nothing of them
counts before (`.cleaned`), as another topic of that name may have the directory by now.

How far a log was compacted is known as long as it is open. Once a start it is dirty from its beginning.

Source: LogCleanerManager.grabFilthiestCompactedLog, cleanableOffsets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from coordinator.partitions.log import Log
from coordinator.partitions.producers import Producers
from coordinator.partitions.segment_index import SegmentIndex
from coordinator.partitions.settings import MAX_LONG, RecordSettings
from coordinator.store.cleaner import CompactionSettings, closed_segments, compact, replace_segments
from coordinator.store.disk import sync
from wire.log.indexes import AbortedTransaction, aborted_transactions
from wire.log.segments import read_segment

InLogsThread: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls something in the thread of the log, and waits for it; raises what it raises."""


@dataclass(slots=True, kw_only=True)
class Compacting:
    """The segments from the beginning of a log up to the offset `end`, dirty from `first_dirty` on."""

    compaction: LogCompaction
    settings: RecordSettings
    first_dirty: int
    end: int
    now_ms: int
    done_to: int | None = None
    """From there on nothing was compacted; None: it failed."""
    aborted: Sequence[AbortedTransaction] = ()

    def run(
        self, in_logs_thread: InLogsThread, producer_expiration_ms: int, stopped: Callable[[], bool]
    ) -> None:
        """Compact. :raises Interrupted: :raises DamagedLog: :raises OSError: each segment is the old or the new one"""

        def put_in_place(cleaned: Path, end: int) -> None:
            sync(cleaned)
            index = SegmentIndex.of(read_segment(cleaned))
            in_logs_thread(lambda: self.compaction.replace(cleaned, index, end))

        directory = self.compaction.directory
        for span in closed_segments(directory, self.end):
            if span.end > self.first_dirty:
                sync(span.path)  # an older record goes only where the later one is on the disk
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
    """See the module. `close_files` lets go of the descriptors of the segments in `directory`."""

    def __init__(
        self, directory: Path, log: Log, producers: Producers, close_files: Callable[[], None]
    ) -> None:
        self.directory = directory
        self._log = log
        self._producers = producers
        self._close_files = close_files
        self._first_dirty = 0
        self._tried_to = 0
        """As far as compaction was tried: what failed once is tried again when there is more to compact."""

    def begin(self, settings: RecordSettings, last_stable_offset: int, now_ms: int) -> Compacting | None:
        """What is to be done, where enough is dirty."""
        lag_ms = settings.min_compaction_lag_ms
        end = self._log.cleanable_end(last_stable_offset, now_ms - lag_ms if lag_ms else MAX_LONG)
        if end <= self._tried_to:
            return None
        if self._log.dirty_ratio(self._first_dirty, end) <= settings.min_cleanable_dirty_ratio:
            return None
        self._tried_to = end
        self._log.hold()
        return Compacting(
            compaction=self, settings=settings, first_dirty=self._first_dirty, end=end, now_ms=now_ms
        )

    def replace(self, cleaned: Path, index: SegmentIndex, end: int) -> None:
        """Let a written segment stand for the segments up to the offset `end`. :raises OSError:"""
        self._close_files()
        replace_segments(cleaned, end)
        self._log.replace(index, end)

    def end(self, work: Compacting) -> None:
        """Take what was done. :raises OSError: a segment that was to be deleted is still there"""
        if work.done_to is not None:
            self._first_dirty = work.done_to
            self._producers.compacted(work.end, work.aborted)
        self._log.release()
