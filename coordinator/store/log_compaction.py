"""Compaction of an open partition (`cleanup.policy=compact`): `begin` and `end` belong to the log's thread, the
`CompactionRun` to any other. Only segments before the active one are compacted, and none beyond the last stable
offset: an uncommitted record must not hide an older one. Compacted segments replace the old ones in the log's thread;
before that they are files without effect (`.cleaned`), as a new topic of the same name may use the directory by now.
Source: LogCleanerManager.grabFilthiestCompactedLog, cleanableOffsets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from coordinator.store.cleaner import CompactionSettings, closed_segments, compact, replace_segments
from coordinator.store.disk import sync
from coordinator.store.log import Log, SegmentIndex
from coordinator.store.producers import Producers
from wire.log.indexes import AbortedTransaction, aborted_transactions
from wire.log.segments import read_segment

InLogsThread: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls a function in the log's thread, waits for it, and raises its exception."""


@dataclass(slots=True, kw_only=True)
class CompactionRun:
    """The segments from the start of a log up to the offset `end`, dirty from `first_dirty`."""

    compaction: "LogCompaction"
    settings: CompactionSettings
    first_dirty: int
    end: int
    now_ms: int
    done_to: int | None = None  # the offset up to which the log was compacted; None: compaction failed
    aborted: Sequence[AbortedTransaction] = ()

    def run(self, in_logs_thread: InLogsThread, stopped: Callable[[], bool]) -> None:
        """Compact; an error leaves old or new segments. Raises Interrupted. Raises DamagedLog. Raises OSError."""

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
            self.settings,
            first_dirty=self.first_dirty,
            active=self.end,
            now_ms=self.now_ms,
            stopped=stopped,
            put_in_place=put_in_place,
        )
        spans = closed_segments(directory, self.end)
        by_segment = aborted_transactions(read_segment(span.path).batches for span in spans)
        self.aborted = [transaction for of_segment in by_segment for transaction in of_segment]
        self.done_to = done_to


class LogCompaction:
    """See the module. `close_files` closes the descriptors of the segments in `directory`."""

    def __init__(
        self, directory: Path, log: Log, producers: Producers, close_files: Callable[[], None]
    ) -> None:
        self.directory = directory
        self.first_dirty = 0  # the offset up to which the log was compacted
        self._log = log
        self._producers = producers
        self._close_files = close_files
        self._tried_to = 0  # after a failure it is retried when more is to compact

    def continue_from(self, first_dirty: int) -> None:
        """The log was compacted up to an offset earlier; an impossible one is ignored."""
        if first_dirty <= self._log.active:
            self.first_dirty = max(self.first_dirty, first_dirty)

    def dirty_ratio(self, settings: CompactionSettings, now_ms: int) -> float:
        """The share, 0 to 1, of dirty bytes in what can be compacted; 0 if that was tried."""
        end = self._end(settings, now_ms)
        return self._log.dirty_ratio(self.first_dirty, end) if end > self._tried_to else 0.0

    def begin(self, settings: CompactionSettings, now_ms: int) -> CompactionRun | None:
        """The work, if enough of the log is dirty."""
        if self.dirty_ratio(settings, now_ms) <= settings.min_cleanable_dirty_ratio:
            return None
        self._tried_to = end = self._end(settings, now_ms)
        self._log.hold()
        return CompactionRun(
            compaction=self, settings=settings, first_dirty=self.first_dirty, end=end, now_ms=now_ms
        )

    def _end(self, settings: CompactionSettings, now_ms: int) -> int:
        """The base offset of the first segment that cannot be compacted."""
        lag_ms = settings.min_compaction_lag_ms
        stable_end = self._producers.last_stable_offset(self._log.end_offset)
        return self._log.cleanable_end(stable_end, now_ms - lag_ms if lag_ms else 1 << 63)

    def replace(self, cleaned: Path, index: SegmentIndex, end: int) -> None:
        """Replace the segments up to the offset `end` by a compacted one. Raises OSError."""
        self._close_files()
        replace_segments(cleaned, end)
        self._log.replace(index, end)

    def end(self, work: CompactionRun) -> None:
        """Record the finished work. Raises OSError: a segment that should be deleted still exists."""
        if work.done_to is not None:
            self.first_dirty = work.done_to
            self._producers.compacted(work.end, work.aborted)
        self._log.release()
