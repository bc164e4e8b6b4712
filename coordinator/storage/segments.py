"""The segments of a partition's log: which files are the log, and how much of each can be read.

A segment's file is named for the first offset that it may hold, `%020d.log`. Behind its last whole batch there may
be the beginning of one more (the process or the machine stopped while it was written), or zeros (space that
`log.preallocate` had reserved): a torn tail, which says nothing about what stands before it. Where whole batches
follow bytes that are none, the file is damaged instead.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coordinator.storage.batch_header import HEADER_BYTES, MAGIC, Batches
from coordinator.storage.batch_scan import Fault, scan, whole_batch_at
from coordinator.storage.damage import DamagedLog

_LOG_FILE = re.compile(r"(\d{20})\.log")


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


def list_segments(directory: Path) -> list[Path]:
    """The `.log` files of a partition's directory, by base offset. :raises OSError: if it cannot be read"""
    return sorted(path for path in directory.iterdir() if _LOG_FILE.fullmatch(path.name))


def read_segment(path: Path) -> Segment:
    """Read one segment.

    :raises DamagedLog: if it holds anything but whole batches, ascending, and a torn tail
    :raises OSError: if the file cannot be read
    """
    data = path.read_bytes()
    found = scan(data, str(path))
    fault = found.fault
    torn = None
    if fault is not None:
        torn = _torn(data, str(path), fault)
        if torn is None:
            raise DamagedLog(path, fault.position, fault.reason)
    return Segment(
        path=path, base_offset=_base_offset(path, found.batches), data=data, batches=found.batches, torn=torn
    )


def _base_offset(path: Path, batches: Batches) -> int:
    name = _LOG_FILE.match(path.name)
    if name is not None:
        return int(name.group(1))
    return int(batches.headers["base_offset"][0]) if len(batches) else 0


def _torn(data: bytes, file: str, fault: Fault) -> Torn | None:
    if not fault.unfinished or _batch_follows(data, fault.position):
        return None
    size = len(data) - fault.position
    zeros = data.count(0, fault.position) == size
    reason = f"{size} bytes of zeros" if zeros else fault.reason
    return Torn(file=file, position=fault.position, size=size, reason=reason, zeros=zeros)


def _batch_follows(data: bytes, position: int) -> bool:
    """Whether a whole batch stands anywhere behind `position`."""
    octets = np.frombuffer(data, dtype=np.uint8)[position + 1 :]
    if len(octets) < HEADER_BYTES:
        return False
    magic = octets[16 : len(octets) - HEADER_BYTES + 17] == MAGIC
    return any(whole_batch_at(data, position + 1 + int(at)) for at in np.flatnonzero(magic))
