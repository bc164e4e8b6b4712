"""Copies of a partition in the log directories of several brokers, and which is the most complete: the one with the
latest leader epoch, as that leader was elected from in-sync replicas; among copies of the same epoch, the longest.
Source: ReplicaManager, UnifiedLog.endOffsetForEpoch."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from coordinator.store.partition_files import DirectorySuffix, partition_directories
from wire.log.errors import DamagedLog
from wire.log.segments import list_segments, read_segment


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice for the user. `position` is a byte in the file; `is_problem`: something could not be read."""

    file: Path | None
    message: str
    position: int | None = None
    is_problem: bool = False

    def __str__(self) -> str:
        if self.file is None:
            return self.message
        position = "" if self.position is None else f", byte {self.position}"
        return f"{self.file}{position}: {self.message}"

    def with_consequence(self, consequence: str, is_problem: bool = False) -> "Notice":
        return replace(self, message=f"{self.message}; {consequence}", is_problem=is_problem)


def failure(path: Path, error: DamagedLog | OSError) -> Notice:
    """The error of a file; `path` if the error names none."""
    if isinstance(error, DamagedLog):
        return Notice(Path(error.file), error.reason, error.position)
    named = path if error.filename is None else Path(str(error.filename))
    return Notice(named, f"cannot be read: {error.strerror or error}")


@dataclass(frozen=True, slots=True, order=True)
class LogEnd:
    """The end of a copy: the leader epoch of its last batch, and the offset after it. -1 and 0: empty."""

    leader_epoch: int
    next_offset: int


EMPTY = LogEnd(-1, 0)
_LISTINGS = 4


def find_copies(directories: Iterable[Path], topic: str) -> tuple[dict[int, list[Path]], list[Notice]]:
    """The copies of a topic's partitions by number, and the directories that cannot be read. Those that
    Kafka will delete or move do not count."""
    copies: dict[int, list[Path]] = {}
    notices = []
    for directory in directories:
        try:
            for entry, name in partition_directories(directory):
                if name.topic == topic and name.suffix is DirectorySuffix.NONE:
                    copies.setdefault(name.partition, []).append(entry)
        except OSError as error:
            notices.append(failure(directory, error).with_consequence("nothing in it was read", True))
    return copies, notices


def log_end(directory: Path) -> LogEnd:
    """The end of a copy. Raises DamagedLog. Raises OSError: it cannot be read."""
    for _ in range(_LISTINGS):
        # Compaction may have renamed a segment since it was listed.
        with suppress(FileNotFoundError):
            return _log_end(directory)
    return _log_end(directory)


def _log_end(directory: Path) -> LogEnd:
    for path in reversed(list_segments(directory)):
        batches = read_segment(path).batches
        if len(batches):
            last = batches[-1]
            return LogEnd(last.leader_epoch, last.next_offset)
    return EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Copies of one partition, the best first; copies whose end cannot be read are last, and in `failures`.
    `behind`: the copies that end before the best one, or under an earlier leader."""

    copies: tuple[Path, ...]
    failures: Mapping[Path, Notice]
    behind: tuple[Path, ...]


def rank(copies: Sequence[Path]) -> Ranking:
    if len(copies) < 2:
        return Ranking(copies=tuple(copies), failures={}, behind=())
    reached: dict[Path, LogEnd] = {}
    failures: dict[Path, Notice] = {}
    for copy in copies:
        try:
            reached[copy] = log_end(copy)
        except (DamagedLog, OSError) as error:
            failures[copy] = failure(copy, error)
    best_first = sorted(reached, key=reached.__getitem__, reverse=True)
    behind = tuple(copy for copy in best_first[1:] if reached[copy] < reached[best_first[0]])
    return Ranking(copies=(*best_first, *failures), failures=failures, behind=behind)
