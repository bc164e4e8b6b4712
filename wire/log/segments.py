"""The segments of a partition's log. A last whole batch may be followed by the start of another, or by zeros (reserved
space): a torn tail; anything else is damage. Of compaction's files, `.cleaned` does not count; `.swap` replaces every
segment that starts within its offsets. Source: LogLoader, LocalLog.replaceSegments, FileLogInputStream."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wire.files import open_regular
from wire.log.batch_header import Batches
from wire.log.batch_scan import BatchFault, BatchSearch, scan
from wire.log.errors import DamagedLog

MOST_BYTES = (1 << 31) - 1  # a segment's size limit; positions in it are int32
MOST_OFFSETS = 1 << 31  # the largest offset relative to the base offset: indexes store it as int32

_NAME = re.compile(r"(\d{20})\.(?:log|index|timeindex|txnindex)(\.swap|\.cleaned|\.deleted|)")
_SEGMENT = re.compile(r"(\d{20})\.log(?:\..+|)")
_BASE_OFFSET = re.compile(r"\d{20}(?=\.)")
_LISTINGS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn:
    """The end of a segment that is not a whole batch. `zeros`: reserved space, to which nothing was written."""

    file: str
    position: int
    size: int
    reason: str
    zeros: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The whole batches of a segment. `data` is the file, the torn tail included."""

    path: Path
    base_offset: int
    data: bytes
    batches: Batches
    torn: Torn | None

    @property
    def next_offset(self) -> int:
        return int(self.batches.last_offsets[-1]) + 1 if len(self.batches) else self.base_offset


def segment_name(base_offset: int) -> str:
    """The name of the segment whose first offset is `base_offset`."""
    return f"{base_offset:020d}.log"


def base_offset_of(path: Path) -> int:
    """The base offset in the name of any file of a segment; -1 if the name starts with none."""
    match = _BASE_OFFSET.match(path.name)
    return int(match[0]) if match else -1


def list_segments(directory: Path) -> list[Path]:
    """The files of the log in a partition's directory, by base offset. Raises DamagedLog. Raises OSError."""
    names = [path.name for path in directory.iterdir()]
    files = log_files(names, lambda name: read_segment(directory / name).next_offset)
    return [directory / name for name in files]


def log_files(names: Iterable[str], next_offset: Callable[[str], int]) -> list[str]:
    """The files of a log by base offset; `next_offset` returns the first offset after a `.swap` file."""
    by_ending: dict[str, dict[int, str]] = {"": {}, ".swap": {}, ".cleaned": {}, ".deleted": {}}
    for name in names:
        match = _NAME.fullmatch(name)
        # An index of a `.cleaned` segment proves, as the segment does, that compaction did not finish.
        if match is not None and (match[2] == ".cleaned" or _SEGMENT.fullmatch(name)):
            by_ending[match[2]][int(match[1])] = name
    unfinished = min(by_ending[".cleaned"], default=None)
    swapped = by_ending[".swap"].items()
    swaps = {offset: name for offset, name in swapped if unfinished is None or offset < unfinished}
    segments = by_ending[""]
    if swaps:
        replaced = range(min(swaps), max(map(next_offset, swaps.values())))
        segments = {offset: name for offset, name in segments.items() if offset not in replaced} | swaps
    return [segments[offset] for offset in sorted(segments)]


def read_segment(path: Path, *, checksums: bool = True) -> Segment:
    """Read one segment, after a clean close without `checksums`. Raises DamagedLog. Raises OSError."""
    with open_regular(path) as stream:
        return _read(path, stream, checksums=checksums)


def parse_segment(path: Path, data: bytes, *, checksums: bool = True) -> Segment:
    """The segment at `path` whose bytes are `data`. Raises DamagedLog: as `read_segment`."""
    result = scan(data, str(path), checksums=checksums)
    torn = None if result.fault is None else _torn(data, path, result.fault)
    name = _SEGMENT.fullmatch(path.name)
    if name is not None:
        base_offset = int(name[1])
        _check_offsets(result.batches, base_offset)
    else:
        base_offset = result.batches[0].base_offset if len(result.batches) else 0
    return Segment(path=path, base_offset=base_offset, data=data, batches=result.batches, torn=torn)


def read_log(directory: Path) -> Iterator[Segment]:
    """The segments of a log; only the last may have a torn tail, as when they were requested. Raises DamagedLog or
    OSError."""
    with ExitStack() as opened:
        files = open_segments(directory, opened)
        previous: Segment | None = None
        for path, stream in files:
            segment = _read(path, stream)
            stream.close()
            if previous is not None:
                _check_order(previous, segment)
            yield segment
            previous = segment


def open_segments(directory: Path, opened: ExitStack) -> list[tuple[Path, BinaryIO]]:
    """Open all segments at once: after a compaction a listing may name a file that no longer exists. Raises DamagedLog.
    Raises OSError."""
    for _ in range(_LISTINGS):
        with suppress(FileNotFoundError), ExitStack() as streams:
            files = [(path, streams.enter_context(open_regular(path))) for path in list_segments(directory)]
            opened.enter_context(streams.pop_all())
            return files
    return [(path, opened.enter_context(open_regular(path))) for path in list_segments(directory)]


def _read(path: Path, stream: BinaryIO, *, checksums: bool = True) -> Segment:
    size = os.fstat(stream.fileno()).st_size
    if size > MOST_BYTES:
        raise DamagedLog(path, MOST_BYTES, "a segment has at most 2^31 - 1 bytes, this file has more")
    return parse_segment(path, stream.read(size), checksums=checksums)


def _torn(data: bytes, path: Path, fault: BatchFault) -> Torn:
    """The torn tail that starts with `fault`. Raises DamagedLog: it is damage instead."""
    if not fault.unfinished:
        raise DamagedLog(path, fault.position, fault.reason)
    size = len(data) - fault.position
    zeros = data.count(0, fault.position) == size
    search = BatchSearch(data)
    following = None if zeros else search.next_batch(fault.position + 1)
    if following is not None:
        reason = f"{fault.reason}; whole batches follow from byte {following} on"
        raise DamagedLog(path, fault.position, reason)
    if search.given_up:
        reason = f"{fault.reason}; what follows looks like batches in too many places"
        raise DamagedLog(path, fault.position, reason)
    reason = f"{size} bytes of zeros" if zeros else fault.reason
    return Torn(file=str(path), position=fault.position, size=size, reason=reason, zeros=zeros)


def _check_offsets(batches: Batches, base_offset: int) -> None:
    """Offsets ascend within a file, so the first and the last one decide."""
    if not len(batches):
        return
    first, last = batches[0], batches[-1]
    if first.base_offset < base_offset:
        reason = f"the offset {first.base_offset} is below the one in the file's name"
        raise DamagedLog(first.file, first.position, reason)
    if last.last_offset - base_offset >= MOST_OFFSETS:
        reason = f"the offset {last.last_offset} is too far above the one in the file's name"
        raise DamagedLog(last.file, last.position, reason)


def _check_order(previous: Segment, segment: Segment) -> None:
    if previous.torn is not None:
        torn = previous.torn
        raise DamagedLog(torn.file, torn.position, f"{torn.reason}; the log continues in {segment.path.name}")
    if previous.next_offset > segment.base_offset:
        last = previous.batches[-1]
        reason = f"the offset {last.last_offset} belongs into {segment.path.name} already"
        raise DamagedLog(last.file, last.position, reason)
