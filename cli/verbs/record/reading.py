"""Where the reading of each partition of the log is, and what is missing in it: of the journal, what neither it nor the
log has; of the commits in memory, also what was not read again after a restart, or was compacted before that."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cli.sources.journal.writer import GapRow, Position
from cli.verbs.record.commits import OpenCommits
from wire.client.log_searches import NO_EPOCH
from wire.log.batch_header import Batches

CLOCKS_MS = 5_000  # the most by which the clocks of two machines are expected to differ
BEFORE = "written before recording began"
COMPACTED, DELETED = "compacted before they were read", "deleted before they were read"
_DELAYS = 64


@dataclass(slots=True, kw_only=True)
class LogReading:
    """Where the reading of a partition of the log is."""

    number: int  # of the partition
    position: int  # the next offset to read
    look_back: int | None = None  # where to continue once the cluster confirms the position
    counted: int = 0  # what is below this offset was counted before a restart
    begun: int | None = None  # the end of the log when it was first read: gaps before it are no loss
    time_ms: int | None = None  # of the last record
    epoch: int = NO_EPOCH  # of the leader that wrote the last record that was counted
    end: int | None = None  # of the log, when it was last read
    delays_ms: deque[int] = field(default_factory=lambda: deque(maxlen=_DELAYS))
    """How much later than they were written the last records were read, by two clocks."""
    unclosed: list[GapRow] = field(default_factory=list)  # gaps after which no record was read yet
    whole_ms: int | None = None  # since when no commit is missing in memory; None: the next record
    open: OpenCommits = field(default_factory=OpenCommits)
    _gaps: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 0), dtype=np.int64))
    """Of the last batches: the offsets and times in ms of those before which there is a gap."""

    @classmethod
    def after(cls, number: int, stored: Position, look_back: int) -> LogReading:
        """Continue after a restart."""
        return cls(
            number=number,
            position=stored.next_offset,
            look_back=min(look_back, stored.resume_offset),
            counted=stored.next_offset,
            begun=stored.begun_offset,
            time_ms=stored.time_ms,
            epoch=stored.leader_epoch,
        )

    @property
    def is_caught_up(self) -> bool:
        return self.end is not None and self.position >= self.end

    @property
    def checked_epoch(self) -> int:
        """The epoch of the record before the position; unknown while records are read again."""
        return self.epoch if self.position >= self.counted else NO_EPOCH

    @property
    def stored(self) -> Position:
        """What the journal has of it."""
        return Position(
            max(self.position, self.counted),
            self.open.oldest(self.position),
            self.begun,
            self.time_ms,
            self.epoch,
        )

    def now_ms(self, now_ms: int) -> int:
        """The time of the log: that of the last record, or about the present if there is none after it."""
        return max(self.time_ms or 0, now_ms - CLOCKS_MS if self.is_caught_up else 0)

    def whole_since_ms(self, offset: int) -> int:
        """The time since which no commit is missing before an offset of the last batches."""
        gaps = int(np.searchsorted(self._gaps[0], offset, "right"))
        return int(self._gaps[1, gaps - 1]) if gaps else self.whole_ms or 0

    def miss(self, start: int, end: int, reason: str) -> GapRow:
        """Note that offsets are missing. Returns a row for the journal, which the next record completes."""
        self.unclosed.append(row := (self.number, start, end, self.time_ms, None, reason))
        self.whole_ms, self._gaps = None, self._gaps[:, :0]
        return row

    def note(self, batches: Batches) -> list[GapRow]:
        """Note the batches that are read next: the offsets of a log are contiguous until compaction removes records.
        Returns rows for the journal."""
        bases, lasts = batches.headers["base_offset"].astype(np.int64), batches.last_offsets
        times = batches.headers["max_timestamp"].astype(np.int64)
        due = np.concatenate(([self.position], lasts[:-1] + 1))
        if self._gaps.size:
            self.whole_ms = int(self._gaps[1, -1])
        if self.whole_ms is None:
            self.whole_ms = int(times[0]) if self.position else 0
        is_thin = batches.headers["count"] < lasts - bases + 1
        gaps = np.flatnonzero((bases > due) | is_thin)
        self._gaps = np.stack([bases[gaps], times[gaps]])
        rows: list[GapRow] = [(*row[:4], int(times[0]), row[5]) for row in self.unclosed]
        self.unclosed.clear()
        due = np.maximum(due, self.counted)
        lost = np.flatnonzero((lasts >= due) & ((bases > due) | is_thin))
        is_new = lasts[lost] >= (self.begun or 0)
        if len(old := lost[~is_new]):
            rows.append((self.number, 0, int(lasts[old[-1]]) + 1, None, int(times[old[-1]]), BEFORE))
        if len(new := lost[is_new]):
            start, end, last_ms = int(due[new[0]]), int(lasts[new[-1]]) + 1, int(times[new[-1]])
            rows.append((self.number, start, end, self.time_ms, last_ms, COMPACTED))
        return rows
