"""Records on a disk, in the files and the layout of a broker's log directory.

    orders-0/00000000000000000000.log  .index  .timeindex   a segment that is full, or was closed cleanly
    orders-0/00000000000000012345.log                       the active one: it is indexed when it is closed
    orders-0/leader-epoch-checkpoint
    log-start-offset-checkpoint                             the log start offsets that DeleteRecords has moved

Theory of operation. A partition is read when it is first needed. A batch is written to the end of its log: it is in
the operating system's cache then, and on the disk once a function from `unsynced` has run. When a log is read, a
half-written batch of a killed process is cut off, with everything after it. A limited number of files is open at a
time.

Compaction (`compaction`) replaces closed segments while the partition is open.

Source: LogManager, LogLoader.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from coordinator.partitions.compaction import LogCompaction
from coordinator.partitions.log import Log, SegmentIndex
from coordinator.partitions.partition import LeaderEpochs
from coordinator.partitions.producers import Producers
from coordinator.store.cleaner import DELETED, delete_indexes, finish_interrupted, write_missing_indexes
from coordinator.store.directory_files import read_checkpoint, write_checkpoint
from coordinator.store.disk import side_by_side, sync
from coordinator.store.log import cut_segment, write_batch
from coordinator.store.partition_files import (
    INTERNAL_TOPICS,
    DirectorySuffix,
    LeaderEpoch,
    partition_directories,
    read_leader_epochs,
    write_leader_epochs,
)
from wire.log.errors import StorageFailed
from wire.log.indexes import INDEX_SUFFIXES
from wire.log.segments import Segment, list_segments, read_segment, segment_name

LOG_STARTS = "log-start-offset-checkpoint"
MOST_OPEN = 128
MOST_UNSYNCED = 2
"""Segments at the end that may not have reached the disk: after a kill, the checksums of their batches are verified."""


class OpenFiles:
    """Descriptors of the most recently used segments."""

    def __init__(self, most: int = MOST_OPEN) -> None:
        self._most = most
        self._by_path: OrderedDict[Path, int] = OrderedDict()

    def get(self, path: Path) -> int:
        """A descriptor, valid until the next call. :raises OSError:"""
        found = self._by_path.get(path)
        if found is not None:
            self._by_path.move_to_end(path)
            return found
        while len(self._by_path) >= self._most:
            os.close(self._by_path.popitem(last=False)[1])
        descriptor = self._by_path[path] = os.open(path, os.O_RDWR)
        return descriptor

    def close(self, path: Path | None = None) -> None:
        """Close the file `path`, the files in the directory `path`, or all files."""
        for each in [one for one in self._by_path if path in (None, one, one.parent)]:
            os.close(self._by_path.pop(each))


class SegmentFiles:
    """The segments of one partition (`log.Files`)."""

    def __init__(
        self,
        directory: Path,
        opened: OpenFiles,
        unsynced: set[Path],
        removed: list[Path],
        active: Segment | None,
    ) -> None:
        """`active` is the last segment, if any: its index files are complete, or do not exist."""
        self._directory = directory
        self._opened = opened
        self._unsynced = unsynced
        self._removed = removed
        self._active = directory if active is None else active.path
        self._size = 0 if active is None else active.batches.end
        self._is_indexed = active is not None

    def create(self, base_offset: int) -> None:
        path = self._directory / segment_name(base_offset)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        self._unsynced.add(self._directory)
        self._active, self._size, self._is_indexed = path, 0, False

    def append(self, batch: bytes | bytearray) -> None:
        if self._is_indexed:
            delete_indexes(self._active)
            self._is_indexed = False
        write_batch(self._opened.get(self._active), batch, self._size)
        self._size += len(batch)
        self._unsynced.add(self._active)

    def read(self, base_offset: int, position: int, size: int) -> bytes:
        return os.pread(self._opened.get(self._directory / segment_name(base_offset)), size, position)

    def delete(self, base_offset: int) -> None:
        path = self._directory / segment_name(base_offset)
        self._opened.close(path)
        self._unsynced.discard(path)
        for each in (path, *(path.with_suffix(suffix) for suffix in INDEX_SUFFIXES)):
            with suppress(FileNotFoundError):
                self._removed.append(each.rename(each.with_name(each.name + DELETED)))


@dataclass(frozen=True, slots=True)
class StoredCheckpoints:
    """The checkpoints of one partition (`partition.Checkpoints`)."""

    directory: RecordDirectory
    topic: str
    number: int

    def keep_epochs(self, epochs: Sequence[LeaderEpoch]) -> None:
        write_leader_epochs(self.directory.path(self.topic, self.number), epochs)

    def keep_start(self, offset: int) -> None:
        self.directory.keep_start(self.topic, self.number, offset)


class StoredPartition(NamedTuple):
    """The stored state of a partition."""

    log: Log
    epochs: LeaderEpochs
    producers: Producers
    checkpoints: StoredCheckpoints
    compaction: LogCompaction | None = None


class RecordDirectory:
    """See the module. `root` is the log directory, which was closed cleanly or not; one thread works on it."""

    def __init__(self, root: Path, *, was_clean: bool) -> None:
        """:raises DamagedLog: :raises StorageFailed:"""
        self._root = root
        self._was_clean = was_clean
        self._opened = OpenFiles()
        self._unsynced: set[Path] = set()
        self._removed: list[Path] = []
        self._read: set[Path] = set()
        """The directories that were read; others may have a half-written batch."""
        try:
            self._starts = read_checkpoint(root / LOG_STARTS)
        except OSError as error:
            raise StorageFailed("reading", root / LOG_STARTS, error) from error

    def path(self, topic: str, number: int) -> Path:
        """The directory of a partition."""
        return self._root / f"{topic}-{number}"

    def leader_epoch(self, topic: str, number: int) -> int:
        """The epoch of a partition's last leader. :raises DamagedLog: :raises OSError:"""
        epochs = read_leader_epochs(self.path(topic, number))
        return epochs[-1].epoch if epochs else 0

    def holds_records(self, topic: str, number: int) -> bool:
        """Whether a partition has a segment. :raises OSError:"""
        return any(self.path(topic, number).glob("*.log"))

    def open(self, topic: str, number: int) -> StoredPartition:
        """Read a partition, and cut off a half-written batch. :raises DamagedLog: :raises OSError:"""
        directory = self.path(topic, number)
        finish_interrupted(directory)
        producers = Producers()
        indexes: list[SegmentIndex] = []
        segment: Segment | None = None
        paths = list_segments(directory)
        for place, path in enumerate(paths):
            is_recent = place >= len(paths) - MOST_UNSYNCED
            segment = read_segment(path, checksums=is_recent and not self._was_clean)
            producers.load(segment.batches)
            indexes.append(SegmentIndex.of(segment))
            if segment.torn is not None:
                cut_segment(path, segment.batches.end)
                _delete(paths[place + 1 :])
                break
        if not self._was_clean and segment is not None:
            delete_indexes(segment.path)
        files = SegmentFiles(directory, self._opened, self._unsynced, self._removed, segment)
        log = Log(files, indexes, indexes[0].base_offset if indexes else 0)
        log.start_at(min(self._starts.get((topic, number), 0), log.end_offset))
        self._read.add(directory)
        return StoredPartition(
            log,
            LeaderEpochs(read_leader_epochs(directory)),
            producers,
            StoredCheckpoints(self, topic, number),
            LogCompaction(directory, log, producers, partial(self._opened.close, directory)),
        )

    def keep_start(self, topic: str, number: int, offset: int) -> None:
        """Write the log start offset. :raises OSError:"""
        starts = {**self._starts, (topic, number): offset}
        write_checkpoint(self._root / LOG_STARTS, starts)
        self._starts = starts

    def forget(self, topic: str, number: int) -> None:
        """The partition was deleted: another topic of its name starts empty."""
        directory = self.path(topic, number)
        self._opened.close(directory)
        self._read.discard(directory)
        self._unsynced.difference_update(
            [each for each in self._unsynced if directory in (each, each.parent)]
        )
        if self._starts.pop((topic, number), None) is not None:
            with suppress(OSError):
                write_checkpoint(self._root / LOG_STARTS, self._starts)

    def file_remover(self) -> Callable[[], None]:
        """A function, for any thread, that removes files of deleted segments; the next start removes the rest."""
        removed = list(self._removed)
        self._removed.clear()
        return partial(_remove, removed)

    def unsynced(self) -> Callable[[], object] | None:
        """A function, for any thread, that synchronizes all writes since the last call; None if there were none.

        If it raises StorageFailed, it is unknown which of them are on the disk.
        """
        if not self._unsynced:
            return None
        paths = sorted(self._unsynced)
        self._unsynced.clear()
        return partial(side_by_side, _sync, paths)

    def close(self) -> None:
        """Close all partitions cleanly. :raises StorageFailed: :raises DamagedLog:"""
        try:
            if (unsynced := self.unsynced()) is not None:
                unsynced()
            if not self._was_clean:
                self._read_rest()
            side_by_side(_complete, self._read)
        except OSError as error:
            raise StorageFailed("closing", error.filename or self._root, error) from error
        finally:
            self.abandon()

    def _read_rest(self) -> None:
        for path, name in partition_directories(self._root):
            if (
                name.suffix is DirectorySuffix.NONE
                and path not in self._read
                and name.topic not in INTERNAL_TOPICS
            ):
                self.open(name.topic, name.partition)

    def abandon(self) -> None:
        """Close the files without finishing them, as a kill would."""
        self._opened.close()


def _complete(directory: Path) -> None:
    """Write missing checkpoint files of a partition with records."""
    if list_segments(directory):
        write_missing_indexes(directory, before=1 << 63)
        if not read_leader_epochs(directory):
            write_leader_epochs(directory, [LeaderEpoch(epoch=0, start_offset=0)])


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


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        delete_indexes(path)
        path.unlink()
