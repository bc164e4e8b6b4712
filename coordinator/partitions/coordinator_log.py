"""An internal topic's partition, for readers: a coordinator appends to its files, and they are compacted.

Theory of operation. `catch_up` compares the files with its index: it reads only the new batches of the active
segment, and all batches of a new or compacted segment. Compaction runs in another thread: if it replaces a segment
between `catch_up` and a read, the read fails (ESTALE) rather than return other bytes.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coordinator.partitions.log import Log, SegmentIndex
from coordinator.partitions.producers import Producers
from wire.files import open_regular
from wire.log.batch_header import Batches
from wire.log.batch_scan import scan
from wire.log.segments import list_segments, read_segment

MOST_LISTINGS = 3
"""Compaction may remove a file that was just listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexedFile:
    """A segment's file when it was indexed, and its index."""

    path: Path
    inode: int
    modified_ns: int
    index: SegmentIndex


class ReadFiles:
    """Segments that a coordinator writes (`log.Files`)."""

    def __init__(self) -> None:
        self.seen: dict[int, _IndexedFile] = {}
        """The indexed files, by base offset."""

    def read(self, base_offset: int, position: int, size: int) -> bytes:
        seen = self.seen[base_offset]
        with seen.path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_ino != seen.inode:
                raise OSError(errno.ESTALE, f"{seen.path} was compacted")
            return os.pread(file.fileno(), size, position)

    def create(self, base_offset: int) -> None:
        raise OSError(errno.EROFS, f"only a coordinator creates segment {base_offset}")

    def append(self, batch: bytes | bytearray) -> None:
        raise OSError(errno.EROFS, f"only a coordinator writes this log, not a batch of {len(batch)} bytes")

    def delete(self, base_offset: int) -> None:
        raise OSError(errno.EROFS, f"only a coordinator deletes segment {base_offset}")


class CoordinatorLog(Log):
    """See the module."""

    def __init__(self, directory: Path) -> None:
        """`directory` is the partition's; it need not exist yet."""
        self._read_files = ReadFiles()
        super().__init__(self._read_files)
        self.producers = Producers()
        """The transactions in the log."""
        self._directory = directory
        self._loaded_to = 0

    def catch_up(self) -> None:
        """Index the segments written and compacted since the last call. :raises DamagedLog: :raises OSError:"""
        if not self._directory.exists():
            return
        for _ in range(MOST_LISTINGS - 1):
            with suppress(FileNotFoundError):
                self._catch_up()
                return
        self._catch_up()

    def _catch_up(self) -> None:
        known = {each.path: each for each in self._read_files.seen.values()}
        paths = list_segments(self._directory)
        seen = [self._index_file(path, known.get(path), is_active=path == paths[-1]) for path in paths]
        if seen:
            self._read_files.seen = {each.index.base_offset: each for each in seen}
            self._segments = [each.index for each in seen]
            self.start_offset = self._segments[0].base_offset

    def _index_file(self, path: Path, known: _IndexedFile | None, *, is_active: bool) -> _IndexedFile:
        status = path.stat()
        if known is not None and known.inode == status.st_ino:
            grown = status.st_size - known.index.size
            if not grown and known.modified_ns == status.st_mtime_ns:
                return known
            if is_active and grown >= 0:
                self._add_to(known.index, path)
                return _seen(path, status, known.index)
        segment = read_segment(path, checksums=False)
        self._load(segment.batches)
        return _seen(path, status, SegmentIndex.of(segment))

    def _add_to(self, index: SegmentIndex, path: Path) -> None:
        with open_regular(path) as file:
            file.seek(index.size)
            batches = scan(file.read(), str(path), checksums=False).batches
        for batch in batches:
            index.add(batch)
        self._load(batches)

    def _load(self, batches: Batches) -> None:
        """Index new batches."""
        new = batches[int(np.searchsorted(batches.last_offsets, self._loaded_to)) :]
        if len(new):
            self.producers.load(new)
            self._loaded_to = int(new.last_offsets[-1]) + 1


def _seen(path: Path, status: os.stat_result, index: SegmentIndex) -> _IndexedFile:
    return _IndexedFile(path=path, inode=status.st_ino, modified_ns=status.st_mtime_ns, index=index)
