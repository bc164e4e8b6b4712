"""The log cleaner: compacts every segment of a partition except the active one.

Theory of operation. Records before `first_dirty` were compacted earlier; the others are dirty, and determine which
keys have a later record now. A partition is compacted once more than half of its bytes are dirty. The segments are
read one after another, and neighbors that fit into one segment are merged. Compaction does not touch the active
segment, and nothing else writes to the others, so that it can run in a separate thread while records are appended.

`compaction` decides which records survive. Memory: the keys of the dirty part, and two segments. Source:
LogCleaner.doClean, groupSegmentsBySize, LogCleanerManager.

A compacted segment replaces its source segments so that a kill at any point loses nothing:

    0000.log.cleaned    being written: not valid yet
    0000.log.swap       complete and on the disk: valid, even if old segments still exist
    0000.log            in place

Once the file is named `.swap`, the old segments within its offsets are obsolete, and `list_segments` skips them. At
the next start `finish_interrupted` completes or reverts a compaction that a kill interrupted. The names are a
broker's, so that each continues an interrupted compaction of the other. The index files belong to their segment;
`write_missing_indexes` creates the index files of the new one. Source: LocalLog.replaceSegments, LogLoader.load.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coordinator.store.compaction import RecordRetention, Survey
from coordinator.store.disk import sync
from wire.log import indexes
from wire.log.batch_header import CONTROL
from wire.log.errors import DamagedLog
from wire.log.segments import MOST_OFFSETS, Segment, base_offset_of, list_segments, read_segment, segment_name

LOG, CLEANED, SWAP, DELETED = ".log", ".cleaned", ".swap", ".deleted"
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSettings:
    """A broker's settings of the log cleaner; `producer_expiration_ms`: how long an idle producer is known."""

    segment_bytes: int = 100 << 20
    min_cleanable_dirty_ratio: float = 0.5
    delete_retention_ms: int = DAY_MS
    min_compaction_lag_ms: int = 0
    producer_expiration_ms: int = DAY_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSpan:
    """A segment, and the offset after it."""

    path: Path
    end: int


@dataclass(slots=True, kw_only=True)
class _SegmentGroup:
    """Segments that are merged into one; `end` is the offset after them."""

    paths: list[Path]
    end: int

    @property
    def base_offset(self) -> int:
        return base_offset_of(self.paths[0])


class Interrupted(Exception):
    """Compaction was stopped; the log is as complete as before."""


def closed_segments(directory: Path, active: int) -> list[SegmentSpan]:
    """The segments before the active one, which has the base offset `active`. Raises DamagedLog. Raises OSError."""
    paths = [path for path in list_segments(directory) if base_offset_of(path) < active]
    ends = [*map(base_offset_of, paths), active][1:]
    return [SegmentSpan(path=path, end=end) for path, end in zip(paths, ends, strict=True)]


def compact(
    directory: Path,
    settings: CompactionSettings,
    *,
    first_dirty: int,
    active: int,
    now_ms: int,
    stopped: Callable[[], bool] = lambda: False,
    put_in_place: Callable[[Path, int], None] | None = None,
) -> int:
    """Compact the segments before the base offset `active`. Returns the offset from which nothing was touched.
    `put_in_place` is called instead of `replace_segments` for a log that is being read. Raises Interrupted: `stopped`
    returned true. Raises DamagedLog. Raises OSError: after these, earlier segments may be compacted."""
    spans = closed_segments(directory, active)
    survey = Survey()
    for span in spans:
        _check(stopped)
        survey.add(_read(span.path), keys=span.end > first_dirty)
    end, open_from = active, survey.open_from
    if open_from is not None:  # the first segment with an open transaction stays
        end = next(base_offset_of(span.path) for span in spans if span.end > open_from)
    retention = RecordRetention(
        survey,
        now_ms=now_ms,
        delete_retention_ms=settings.delete_retention_ms,
        producer_expiration_ms=settings.producer_expiration_ms,
    )
    for run in _group_segments([span for span in spans if span.end <= end], settings.segment_bytes):
        _check(stopped)
        _merge(run, retention, put_in_place or replace_segments)
    _check(stopped)
    write_missing_indexes(directory, before=end)
    return end


def _group_segments(spans: Sequence[SegmentSpan], segment_bytes: int) -> list[_SegmentGroup]:
    """Groups of neighbors, each merged into one segment, so that there are few segments."""
    runs: list[_SegmentGroup] = []
    size = 0
    for span in spans:
        segment_size = span.path.stat().st_size
        if runs and size + segment_size <= segment_bytes and span.end - runs[-1].base_offset <= MOST_OFFSETS:
            runs[-1].paths.append(span.path)
            runs[-1].end = span.end
            size += segment_size
        else:
            runs.append(_SegmentGroup(paths=[span.path], end=span.end))
            size = segment_size
    return runs


def _merge(run: _SegmentGroup, retention: RecordRetention, put_in_place: Callable[[Path, int], None]) -> None:
    cleaned = run.paths[0].parent / f"{segment_name(run.base_offset)}{CLEANED}"
    is_same = len(run.paths) == 1
    try:
        with open(cleaned, "wb") as out:
            for path in run.paths:
                retained = retention.retained(_read(path), keep_end=path == run.paths[-1])
                is_same &= retained.is_same
                out.writelines(retained.pieces)
    except BaseException:
        cleaned.unlink(missing_ok=True)
        raise
    if is_same:
        cleaned.unlink()
    else:
        put_in_place(cleaned, run.end)


def _read(path: Path) -> Segment:
    segment = read_segment(path)
    if segment.torn is not None:
        raise DamagedLog(path, segment.torn.position, segment.torn.reason)
    return segment


def _check(stopped: Callable[[], bool]) -> None:
    if stopped():
        raise Interrupted


def replace_segments(cleaned: Path, next_offset: int) -> None:
    """Replace the segments before `next_offset` by a written one. Raises OSError: `finish_interrupted` continues."""
    sync(cleaned)
    swap = cleaned.rename(cleaned.with_suffix(SWAP))
    sync(swap.parent)
    _replace(swap, next_offset)


def finish_interrupted(directory: Path) -> None:
    """Complete or revert an interrupted compaction in this directory, including a broker's. Raises DamagedLog: a
    `.swap` file is incomplete. Raises OSError."""
    given_up = [path for path in directory.iterdir() if path.suffix in (CLEANED, DELETED)]
    # A broker that splits a segment has already swapped the later parts when an earlier one is not yet written.
    first_unwritten = min((base_offset_of(path) for path in given_up if path.suffix == CLEANED), default=None)
    for path in given_up:
        path.unlink()
    swaps = sorted(directory.glob(f"*{SWAP}"))
    for path in swaps:
        is_invalid = first_unwritten is not None and base_offset_of(path) >= first_unwritten
        if is_invalid or not path.name.endswith(LOG + SWAP):
            path.unlink()
        else:
            _replace(path, _read(path).next_offset)
    if given_up or swaps:
        sync(directory)


def write_missing_indexes(directory: Path, *, before: int) -> None:
    """Write missing index files of the segments before offset `before`. Raises DamagedLog. Raises OSError."""
    paths = [path for path in list_segments(directory) if base_offset_of(path) < before]
    for number, path in enumerate(paths):
        if path.with_suffix(indexes.OFFSET_INDEX).exists():
            continue
        segment = read_segment(path)
        aborted: Sequence[indexes.AbortedTransaction] = ()
        if (segment.batches.headers["attributes"] & CONTROL).any():
            # A transaction that was aborted may have started in any earlier segment.
            log = (read_segment(segment_path).batches for segment_path in paths[: number + 1])
            *_, aborted = indexes.aborted_transactions(log)
        indexes.write_indexes(segment, aborted)


def delete_indexes(log: Path) -> None:
    """Delete the index files of a segment that will change. Raises OSError."""
    for suffix in indexes.INDEX_SUFFIXES:
        log.with_suffix(suffix).unlink(missing_ok=True)


def _replace(swap: Path, next_offset: int) -> None:
    """All steps after `.swap`; can be repeated after any part of it."""
    log = swap.with_suffix("")
    for path in swap.parent.iterdir():
        is_old = path != log and path.suffix in (LOG, *indexes.INDEX_SUFFIXES)
        if is_old and base_offset_of(log) <= base_offset_of(path) < next_offset:
            path.unlink()
    sync(log.parent)
    swap.replace(log)
    sync(log.parent)
