"""Find segment files from files, partitions' directories and log directories, and check them for damage."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.errors import CommandError
from cli.sources.log_directories import list_directory, partition_of, why_no_log
from coordinator.store.partition_files import OFFSETS_TOPIC, DirectorySuffix, parse_partition_name
from groups.model import Problem
from wire.files import read_regular
from wire.log.errors import DamagedLog
from wire.log.salvage import IntactRun, parts_of
from wire.log.segments import MOST_BYTES, list_segments

LOG = ".log"


def partition_directories(directory: Path) -> list[Path]:
    """The partitions of `__consumer_offsets` in a log directory, by number; those being deleted only if named."""
    if partition_of(directory.resolve()) is not None:
        return [directory]
    entries = list_directory(directory)
    named_entries = [(name, entry) for entry in entries if (name := partition_of(entry)) and entry.is_dir()]
    numbered = {name.partition: entry for name, entry in named_entries if name.suffix is DirectorySuffix.NONE}
    if numbered:
        return [numbered[number] for number in sorted(numbered)]
    _refuse_other_topic(directory)
    raise CommandError(why_no_log(directory, entries))


def segment_files(paths: Sequence[Path]) -> list[Path]:
    """The segments of the paths, in the given order, those of a partition in the log's. Raises CommandError: none."""
    return [segment for path in paths for segment in _segments(path)]


def _segments(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield _segment(path)
        return
    try:
        segments = list_segments(path)
        if segments and parse_partition_name(path.resolve().name) is None:
            yield from segments  # copied from a broker's directory under another name
            return
        for partition in partition_directories(path):
            yield from list_segments(partition)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from None


def _segment(path: Path) -> Path:
    """A segment file; refused only if its name belongs to another kind of file."""
    if LOG not in path.suffixes:
        segment = path.with_suffix(LOG)
        hint = f"; its segment is {segment}" if segment.is_file() else ""
        raise CommandError(f"{path} is not a segment: segments end in {LOG}{hint}")
    _refuse_other_topic(path.resolve().parent)
    return path


def _refuse_other_topic(directory: Path) -> None:
    name = parse_partition_name(directory.resolve().name)
    if name is not None and name.topic != OFFSETS_TOPIC:
        raise CommandError(f"{directory} contains records of {name.topic}, not of {OFFSETS_TOPIC}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentData:
    """A segment's file, with its path as printed."""

    file: str
    data: bytes

    @classmethod
    def read(cls, path: Path) -> "SegmentData":
        """Raises OSError: the file cannot be read;. Raises DamagedLog: it is too long for a segment."""
        if path.stat().st_size > MOST_BYTES:
            raise DamagedLog(path, MOST_BYTES, "a segment has at most 2^31 - 1 bytes, this file has more")
        return cls(file=path_text(path), data=read_regular(path))

    def parts(self) -> Iterator[IntactRun]:
        return parts_of(self.data, self.file)

    def damage(self, part: IntactRun) -> Problem | None:
        if part.fault is None:
            return None
        position, reason = part.fault.position, part.fault.reason
        left = len(self.data) - position
        if part.torn:
            zeros = self.data.count(0, position) == left
            reason = f"torn tail: {f'{left} bytes of zeros' if zeros else reason}"
        elif part.last:
            reason = f"{reason}; nothing after it is read"
        return Problem(subject=f"{self.file}, byte {position}", message=reason)


def path_text(path: Path) -> str:
    return os.fsencode(path).decode(errors="replace")


def damage_of(damage: DamagedLog) -> Problem:
    return Problem(subject=f"{path_text(Path(damage.file))}, byte {damage.position}", message=damage.reason)
