"""Logs on a disk: the files of their segments.

    orders-7/
        partition.metadata, leader-epoch-checkpoint
        00000000000000000000.log  .index  .timeindex     full segments
        00000000000000123456.log                         the active one, which is appended to

Theory of operation. A batch is written after the last one, with one call if possible; an incomplete write is cut off
again, so that the file always ends with a complete batch while the process runs. It is in the operating system's cache
then, and on the disk once a function from `unsynced` has run. A batch that a kill leaves half written is cut off when
the log is opened. A limited number of files is open at a time.

If the segments are `ordered`, a full one is synchronized before the next one is created: only the active segment can
have a torn tail, in any other it is damage. Otherwise nothing waits for the disk.

The index files of a segment are written when the log is closed or compacted (`cleaner.write_missing_indexes`), not at
every append: a broker creates missing ones itself.

Source: UnifiedLog.append, LogSegment.recover, LogLoader.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from coordinator.store.cleaner import DELETED, delete_indexes
from coordinator.store.disk import side_by_side, sync
from coordinator.store.log import Log, SegmentIndex
from coordinator.store.log_compaction import LogCompaction
from coordinator.store.partition_files import LeaderEpochs, read_leader_epochs
from coordinator.store.producers import Producers
from wire.log.errors import StorageFailed
from wire.log.indexes import INDEX_SUFFIXES
from wire.log.segments import Segment, Torn, segment_name

MOST_OPEN = 128


class StoredLog(NamedTuple):
    """The log of a partition, and what was derived from its batches. `torn`: the tail that was cut off."""

    log: Log
    epochs: LeaderEpochs
    producers: Producers
    compaction: LogCompaction
    torn: Torn | None


class LogFiles:
    """The files of many logs, which belong to one thread."""

    def __init__(self, *, ordered: bool = False) -> None:
        self.ordered = ordered
        self.opened = OpenFiles()
        self.unsynced_paths: set[Path] = set()
        self.removed: list[Path] = []

    def open(self, directory: Path, segments: Iterable[Segment], *, was_clean: bool) -> StoredLog:
        """Open the log of the segments in a directory, and cut off the torn tail of the last one. `was_clean`: its
        index files are complete. Raises DamagedLog. Raises OSError."""
        producers = Producers()
        indexes: list[SegmentIndex] = []
        active: Segment | None = None
        for active in segments:
            producers.load(active.batches)
            indexes.append(SegmentIndex.of(active))
        if active is not None:
            if active.torn is not None:
                cut_segment(active.path, active.batches.end)
            if active.torn is not None or not was_clean:
                delete_indexes(active.path)
        log = Log(SegmentFiles(directory, self, active), indexes, indexes[0].base_offset if indexes else 0)
        compaction = LogCompaction(directory, log, producers, partial(self.opened.close, directory))
        epochs = LeaderEpochs(read_leader_epochs(directory))
        return StoredLog(log, epochs, producers, compaction, None if active is None else active.torn)

    def forget(self, directory: Path) -> None:
        self.opened.close(directory)
        self.unsynced_paths.difference_update(
            [path for path in self.unsynced_paths if directory in (path, path.parent)]
        )

    def file_remover(self) -> Callable[[], None]:
        """A function, for any thread, that removes files of deleted segments; the next start removes the rest."""
        removed = list(self.removed)
        self.removed.clear()
        return partial(_remove, removed)

    def unsynced(self) -> Callable[[], object] | None:
        """A function, for any thread, that synchronizes all writes since the last call; None if there were
        none. If it raises StorageFailed, it is unknown which of them are on the disk."""
        if not self.unsynced_paths:
            return None
        paths = sorted(self.unsynced_paths)
        self.unsynced_paths.clear()
        return partial(side_by_side, _sync, paths)


class OpenFiles:
    """Descriptors of the most recently used segments."""

    def __init__(self, most: int = MOST_OPEN) -> None:
        self._most = most
        self._by_path: OrderedDict[Path, int] = OrderedDict()

    def get(self, path: Path) -> int:
        """A descriptor, valid until the next call. Raises OSError."""
        opened = self._by_path.get(path)
        if opened is not None:
            self._by_path.move_to_end(path)
            return opened
        while len(self._by_path) >= self._most:
            os.close(self._by_path.popitem(last=False)[1])
        descriptor = self._by_path[path] = os.open(path, os.O_RDWR)
        return descriptor

    def close(self, path: Path | None = None) -> None:
        """Close the file `path`, the files in the directory `path`, or all files."""
        for opened_path in [one for one in self._by_path if path in (None, one, one.parent)]:
            os.close(self._by_path.pop(opened_path))


class SegmentFiles:
    def __init__(self, directory: Path, files: LogFiles, active: Segment | None) -> None:
        """`active` is the last segment, if any: its index files are complete, or do not exist."""
        self._directory = directory
        self._files = files
        self._active = directory if active is None else active.path
        self._size = 0 if active is None else active.batches.end
        self._is_indexed = active is not None

    def create(self, base_offset: int) -> None:
        if self._files.ordered:
            sync(self._active)
            self._files.unsynced_paths.discard(self._active)
        path = create_segment(self._directory, base_offset)
        if self._files.ordered:
            sync(self._directory)
        else:
            self._files.unsynced_paths.add(self._directory)
        self._active, self._size, self._is_indexed = path, 0, False

    def append(self, batch: bytes | bytearray) -> None:
        if self._is_indexed:
            delete_indexes(self._active)
            self._is_indexed = False
        write_batch(self._files.opened.get(self._active), batch, self._size)
        self._size += len(batch)
        self._files.unsynced_paths.add(self._active)

    def cut(self, size: int) -> None:
        with suppress(OSError):  # if even that fails, the next start finds a torn tail
            os.ftruncate(self._files.opened.get(self._active), size)
        self._size = size

    def read(self, base_offset: int, position: int, size: int) -> bytes:
        return os.pread(self._files.opened.get(self._directory / segment_name(base_offset)), size, position)

    def delete(self, base_offset: int) -> None:
        path = self._directory / segment_name(base_offset)
        self._files.opened.close(path)
        self._files.unsynced_paths.discard(path)
        for file in (path, *(path.with_suffix(suffix) for suffix in INDEX_SUFFIXES)):
            with suppress(FileNotFoundError):
                self._files.removed.append(file.rename(file.with_name(file.name + DELETED)))


def write_batch(descriptor: int, batch: bytes | bytearray, position: int) -> None:
    """Write a batch at `position`, the end of a segment. Raises OSError: no part of it is written."""
    left, at = memoryview(batch), position
    try:
        while left:
            written = os.pwrite(descriptor, left, at)
            left, at = left[written:], at + written
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, position)
        raise


def create_segment(directory: Path, base_offset: int) -> Path:
    """Create an empty segment. Raises OSError."""
    path = directory / segment_name(base_offset)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    return path


def cut_segment(path: Path, size: int) -> None:
    """Cut off everything after `size` bytes. Raises OSError."""
    with open(path, "r+b") as segment:
        segment.truncate(size)
        os.fsync(segment.fileno())


def _sync(path: Path) -> None:
    try:
        sync(path)
    except FileNotFoundError:
        pass  # deleted meanwhile
    except OSError as error:
        raise StorageFailed("synchronizing", path, error) from error


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()
