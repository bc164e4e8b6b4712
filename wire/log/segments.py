"""The segments of a partition's log: which files are the log, and how much of each can be read.

A segment's file is named for the first offset that it may hold, `%020d.log`. Behind its last whole batch there may
be the beginning of one more (the process or the machine stopped while it was written), or zeros (space that
`log.preallocate` had reserved): a torn tail, which says nothing about what stands before it. Where whole batches
follow, or where the bytes cannot come from a batch that was to stand there, the file is damaged instead.

Compaction leaves files with other endings. `.cleaned` is being written and does not count; `.swap` is finished and
counts in place of every segment that begins within its offsets, whatever of them is still there; `.deleted` is gone.
Source: LogLoader, LocalLog.replaceSegments, FileLogInputStream.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wire.log.batch_header import Batches
from wire.log.batch_scan import BatchSearch, Fault, scan
from wire.log.errors import DamagedLog

MOST_BYTES = (1 << 31) - 1
"""A segment's length; positions in it are int32."""
MOST_OFFSETS = 1 << 31
"""How far a segment's offsets reach: its indexes count them from the first one, in int32."""

_NAME = re.compile(r"(\d{20})\.(?:log|index|timeindex|txnindex)(\.swap|\.cleaned|\.deleted|)")
_SEGMENT = re.compile(r"(\d{20})\.log(?:\..+|)")
_BASE_OFFSET = re.compile(r"\d{20}(?=\.)")
_LISTINGS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn:
    """The end of a segment that is no whole batch. `zeros`: reserved space, in which nothing was ever written."""

    file: str
    position: int
    size: int
    reason: str
    zeros: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A segment as far as it is whole. `data` is the file, the torn tail included."""

    path: Path
    base_offset: int
    data: bytes
    batches: Batches
    torn: Torn | None

    @property
    def next_offset(self) -> int:
        """The first offset behind it."""
        return int(self.batches.last_offsets[-1]) + 1 if len(self.batches) else self.base_offset


def segment_name(base_offset: int) -> str:
    """The name of the segment whose first offset is `base_offset`."""
    return f"{base_offset:020d}.log"


def base_offset_of(path: Path) -> int:
    """The first offset of a segment, by the name of any of its files; -1 where the name begins with none."""
    found = _BASE_OFFSET.match(path.name)
    return int(found[0]) if found else -1


def list_segments(directory: Path) -> list[Path]:
    """The files that are the log in a partition's directory, by base offset.

    :raises DamagedLog: if what compaction has left behind cannot be read
    :raises OSError: if the directory cannot be read
    """
    names = [path.name for path in directory.iterdir()]
    return [
        directory / name for name in log_files(names, lambda name: read_segment(directory / name).next_offset)
    ]


def log_files(names: Iterable[str], next_offset: Callable[[str], int]) -> list[str]:
    """Which of the files in a partition's directory are the log, by base offset.

    `next_offset` tells the first offset behind what compaction has written and not yet put in place.
    """
    by_ending: dict[str, dict[int, str]] = {"": {}, ".swap": {}, ".cleaned": {}, ".deleted": {}}
    for name in names:
        found = _NAME.fullmatch(name)
        # The index of a segment that is being written says as much as the segment itself.
        if found is not None and (found[2] == ".cleaned" or _SEGMENT.fullmatch(name)):
            by_ending[found[2]][int(found[1])] = name
    unfinished = min(by_ending[".cleaned"], default=None)
    swaps = {
        offset: name
        for offset, name in by_ending[".swap"].items()
        if unfinished is None or offset < unfinished
    }
    segments = by_ending[""]
    if swaps:
        replaced = range(min(swaps), max(map(next_offset, swaps.values())))
        segments = {offset: name for offset, name in segments.items() if offset not in replaced} | swaps
    return [segments[offset] for offset in sorted(segments)]


def read_segment(path: Path, *, checksums: bool = True) -> Segment:
    """Read one segment. Without `checksums` it was closed in good order, and its headers are believed.

    :raises DamagedLog: if it holds anything but whole batches, ascending, and a torn tail
    :raises OSError: if the file cannot be read
    """
    with path.open("rb") as stream:
        return _read(path, stream, checksums=checksums)


def parse_segment(path: Path, data: bytes, *, checksums: bool = True) -> Segment:
    """The segment at `path` whose bytes are `data`. :raises DamagedLog: like `read_segment`"""
    found = scan(data, str(path), checksums=checksums)
    torn = None if found.fault is None else _torn(data, path, found.fault)
    name = _SEGMENT.fullmatch(path.name)
    if name is not None:
        base_offset = int(name[1])
        _check_offsets(found.batches, base_offset)
    else:
        base_offset = found.batches[0].base_offset if len(found.batches) else 0
    return Segment(path=path, base_offset=base_offset, data=data, batches=found.batches, torn=torn)


def read_log(directory: Path) -> Iterator[Segment]:
    """The segments of a partition's log, one after the other. Only the last one may have a torn tail.

    The directory may be that of a running broker: what compaction renames or deletes meanwhile is still read, as it
    was when the first segment was asked for.

    :raises DamagedLog: like `read_segment`, and if a segment goes on where the one before it has been already
    :raises OSError: if a file cannot be read
    """
    with ExitStack() as opened:
        files = _open(directory, opened)
        previous: Segment | None = None
        for path, stream in files:
            segment = _read(path, stream)
            stream.close()
            if previous is not None:
                _check_order(previous, segment)
            yield segment
            previous = segment


def _open(directory: Path, opened: ExitStack) -> list[tuple[Path, BinaryIO]]:
    """Open all segments at once: a listing that compaction has overtaken names a file that is not there any more."""
    for _ in range(_LISTINGS):
        with suppress(FileNotFoundError), ExitStack() as streams:
            files = _open_listed(directory, streams)
            opened.enter_context(streams.pop_all())
            return files
    return _open_listed(directory, opened)


def _open_listed(directory: Path, opened: ExitStack) -> list[tuple[Path, BinaryIO]]:
    return [(path, opened.enter_context(path.open("rb"))) for path in list_segments(directory)]


def _read(path: Path, stream: BinaryIO, *, checksums: bool = True) -> Segment:
    size = os.fstat(stream.fileno()).st_size
    if size > MOST_BYTES:
        raise DamagedLog(path, MOST_BYTES, "a segment has at most 2^31 - 1 bytes, this file has more")
    return parse_segment(path, stream.read(size), checksums=checksums)


def _torn(data: bytes, path: Path, fault: Fault) -> Torn:
    """The torn tail that begins with `fault`. :raises DamagedLog: if it is none"""
    if not fault.unfinished:
        raise DamagedLog(path, fault.position, fault.reason)
    size = len(data) - fault.position
    if data.count(0, fault.position) == size:
        return Torn(
            file=str(path), position=fault.position, size=size, reason=f"{size} bytes of zeros", zeros=True
        )
    search = BatchSearch(data)
    following = search.next_batch(fault.position + 1)
    if following is not None:
        raise DamagedLog(
            path, fault.position, f"{fault.reason}; whole batches follow from byte {following} on"
        )
    if search.given_up:
        raise DamagedLog(
            path, fault.position, f"{fault.reason}; what follows looks like batches in too many places"
        )
    return Torn(file=str(path), position=fault.position, size=size, reason=fault.reason, zeros=False)


def _check_offsets(batches: Batches, base_offset: int) -> None:
    """Offsets ascend within a file, so the first and the last one decide."""
    if not len(batches):
        return
    first, last = batches[0], batches[-1]
    if first.base_offset < base_offset:
        raise DamagedLog(
            first.file, first.position, f"the offset {first.base_offset} is below the one in the file's name"
        )
    if last.last_offset - base_offset >= MOST_OFFSETS:
        raise DamagedLog(
            last.file,
            last.position,
            f"the offset {last.last_offset} is too far above the one in the file's name",
        )


def _check_order(previous: Segment, segment: Segment) -> None:
    if previous.torn is not None:
        torn = previous.torn
        raise DamagedLog(torn.file, torn.position, f"{torn.reason}; the log goes on in {segment.path.name}")
    if previous.next_offset > segment.base_offset:
        last = previous.batches[-1]
        raise DamagedLog(
            last.file,
            last.position,
            f"the offset {last.last_offset} belongs into {segment.path.name} already",
        )
