"""Putting a compacted segment in the place of those it was made of, so that a kill at any point loses nothing.

    0000.log.cleaned    being written: not valid yet
    0000.log.swap       whole and on the disk: it counts, whatever of the old segments is still there
    0000.log            in its place

From the moment at which the file is called `.swap`, the old segments within its offsets are only in the way, and
`list_segments` passes them by. What a kill interrupted is done again, or taken back, by `finish` at the next start.
The names are a broker's, so that each goes on from an interrupted compaction of the other. The index files go with
the segment that they belong to; `write_missing_indexes` makes those of the new one.

Source: LocalLog.replaceSegments, LogLoader.load.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coordinator.store.fsync import sync
from wire.log.batch_header import CONTROL
from wire.log.damage import DamagedLog
from wire.log.indexes import (
    INDEX_SUFFIXES,
    OFFSET_INDEX,
    AbortedTransaction,
    aborted_transactions,
    write_indexes,
)
from wire.log.segments import base_offset_of, list_segments, read_segment

LOG = ".log"
CLEANED = ".cleaned"
SWAP = ".swap"
DELETED = ".deleted"


def cleaned_path(directory: Path, base_offset: int) -> Path:
    """Where a compacted segment is to be written."""
    return directory / f"{base_offset:020d}{LOG}{CLEANED}"


def put_in_place(cleaned: Path, next_offset: int) -> None:
    """Let a written segment replace those below `next_offset`. :raises OSError: `finish` goes on from there"""
    sync(cleaned)
    swap = cleaned.rename(cleaned.with_suffix(SWAP))
    sync(swap.parent)
    _replace(swap, next_offset)


def finish(directory: Path) -> None:
    """Finish or take back what was interrupted here, also by a broker.

    :raises DamagedLog: a `.swap` file is not whole
    :raises OSError:
    """
    given_up = [path for path in directory.iterdir() if path.suffix in (CLEANED, DELETED)]
    # A broker that splits a segment has the later parts already swapped when an earlier one is not yet written.
    first_unwritten = min((base_offset_of(path) for path in given_up if path.suffix == CLEANED), default=None)
    for path in given_up:
        path.unlink()
    swaps = sorted(directory.glob(f"*{SWAP}"))
    for path in swaps:
        is_invalid = first_unwritten is not None and base_offset_of(path) >= first_unwritten
        if is_invalid or not path.name.endswith(LOG + SWAP):
            path.unlink()
        else:
            _replace(path, _next_offset(path))
    if given_up or swaps:
        sync(directory)


def write_missing_indexes(directory: Path, *, before: int) -> None:
    """Write the index files of the segments below offset `before` that have none.

    :raises DamagedLog: :raises OSError:
    """
    paths = [path for path in list_segments(directory) if base_offset_of(path) < before]
    for number, path in enumerate(paths):
        if path.with_suffix(OFFSET_INDEX).exists():
            continue
        segment = read_segment(path)
        aborted: Sequence[AbortedTransaction] = ()
        if (segment.batches.headers["attributes"] & CONTROL).any():
            # A transaction that was rolled back may have begun in any segment before.
            log = (read_segment(each).batches for each in paths[: number + 1])
            *_, aborted = aborted_transactions(log)
        write_indexes(segment, aborted)


def delete_indexes(log: Path) -> None:
    """Delete the index files of a segment that is about to change. :raises OSError:"""
    for suffix in INDEX_SUFFIXES:
        log.with_suffix(suffix).unlink(missing_ok=True)


def _replace(swap: Path, next_offset: int) -> None:
    """Everything from `.swap` on; may be done again after any part of it."""
    log = swap.with_suffix("")
    for path in swap.parent.iterdir():
        is_old = path != log and path.suffix in (LOG, *INDEX_SUFFIXES)
        if is_old and base_offset_of(log) <= base_offset_of(path) < next_offset:
            path.unlink()
    sync(log.parent)
    swap.replace(log)
    sync(log.parent)


def _next_offset(swap: Path) -> int:
    segment = read_segment(swap)
    if segment.torn is not None:
        raise DamagedLog(swap, segment.torn.position, segment.torn.reason)
    return segment.next_offset
