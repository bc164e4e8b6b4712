"""Records on a disk, in the layout of a broker's log directory. A partition is read when it is first needed; a
half-written batch of a killed process is then cut off, with everything after it. The active segment is indexed when
it is closed. `log-start-offset-checkpoint` has the log start offsets that DeleteRecords has moved. Source:
LogManager, LogLoader."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from coordinator.store import partition_files as files
from coordinator.store.cleaner import delete_indexes, finish_interrupted, write_missing_indexes
from coordinator.store.directory_files import read_checkpoint, write_checkpoint
from coordinator.store.disk import side_by_side
from coordinator.store.log_files import LogFiles, StoredLog
from wire.log.errors import StorageFailed
from wire.log.segments import Segment, list_segments, read_segment

LOG_STARTS = "log-start-offset-checkpoint"
MOST_OPEN = 128
MOST_UNSYNCED = 2
"""Segments at the end that may not have reached the disk: after a kill, the checksums of their batches are
verified."""


@dataclass(frozen=True, slots=True)
class StoredCheckpoints:
    """The checkpoints of one partition (`partition.Checkpoints`)."""

    directory: "RecordDirectory"
    topic: str
    number: int

    def keep_epochs(self, epochs: Sequence[files.LeaderEpoch]) -> None:
        files.write_leader_epochs(self.directory.path(self.topic, self.number), epochs)

    def keep_start(self, offset: int) -> None:
        self.directory.keep_start(self.topic, self.number, offset)


class RecordDirectory:
    """See the module. `root` is the log directory, which was closed cleanly or not; one thread works on it."""

    def __init__(self, root: Path, *, was_clean: bool) -> None:
        """Raises DamagedLog. Raises StorageFailed."""
        self._root = root
        self._was_clean = was_clean
        self.files = LogFiles()
        self._read: set[Path] = set()  # the directories that were read; others may have a half-written batch
        try:
            self._starts = read_checkpoint(root / LOG_STARTS)
        except OSError as error:
            raise StorageFailed("reading", root / LOG_STARTS, error) from error

    def path(self, topic: str, number: int) -> Path:
        return self._root / f"{topic}-{number}"

    def leader_epoch(self, topic: str, number: int) -> int:
        """The epoch of a partition's last leader. Raises DamagedLog. Raises OSError."""
        epochs = files.read_leader_epochs(self.path(topic, number))
        return epochs[-1].epoch if epochs else 0

    def holds_records(self, topic: str, number: int) -> bool:
        """Whether a partition has a segment. Raises OSError."""
        return any(self.path(topic, number).glob("*.log"))

    def open(self, topic: str, number: int) -> StoredLog:
        """Read a partition, and cut off a half-written batch. Raises DamagedLog. Raises OSError."""
        directory = self.path(topic, number)
        finish_interrupted(directory)
        stored = self.files.open(directory, self._segments(directory), was_clean=self._was_clean)
        stored.log.start_at(min(self._starts.get((topic, number), 0), stored.log.end_offset))
        self._read.add(directory)
        return stored

    def _segments(self, directory: Path) -> Iterator[Segment]:
        """The segments up to the first one with a torn tail; the others are deleted."""
        paths = list_segments(directory)
        for number, path in enumerate(paths):
            is_recent = number >= len(paths) - MOST_UNSYNCED
            segment = read_segment(path, checksums=is_recent and not self._was_clean)
            yield segment
            if segment.torn is not None:
                for later in paths[number + 1 :]:
                    delete_indexes(later)
                    later.unlink()
                break

    def keep_start(self, topic: str, number: int, offset: int) -> None:
        """Write the log start offset. Raises OSError."""
        starts = {**self._starts, (topic, number): offset}
        write_checkpoint(self._root / LOG_STARTS, starts)
        self._starts = starts

    def forget(self, topic: str, number: int) -> None:
        """The partition was deleted: another topic of its name starts empty."""
        directory = self.path(topic, number)
        self.files.forget(directory)
        self._read.discard(directory)
        if self._starts.pop((topic, number), None) is not None:
            with suppress(OSError):
                write_checkpoint(self._root / LOG_STARTS, self._starts)

    def unsynced(self) -> Callable[[], object] | None:
        return self.files.unsynced()

    def close(self) -> None:
        """Close all partitions cleanly. Raises StorageFailed. Raises DamagedLog."""
        try:
            if (unsynced := self.unsynced()) is not None:
                unsynced()
            for path, name in [] if self._was_clean else files.partition_directories(self._root):
                is_ours = (
                    name.suffix is files.DirectorySuffix.NONE and name.topic not in files.INTERNAL_TOPICS
                )
                if is_ours and path not in self._read:
                    self.open(name.topic, name.partition)
            side_by_side(_complete, self._read)
        except OSError as error:
            raise StorageFailed("closing", error.filename or self._root, error) from error
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the files without finishing them, as a kill would."""
        self.files.opened.close()


def _complete(directory: Path) -> None:
    """Write missing checkpoint files of a partition with records."""
    if list_segments(directory):
        write_missing_indexes(directory, before=1 << 63)
        if not files.read_leader_epochs(directory):
            files.write_leader_epochs(directory, [files.LeaderEpoch(epoch=0, start_offset=0)])
