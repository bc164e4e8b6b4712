"""The files of the log of `__consumer_offsets`, and files in their place that are not segments. Of several copies
of a partition the most advanced one is read, as everywhere in Kohort (`coordinator.store.copies`)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pyarrow import fs

from coordinator.store.copies import EMPTY, LogEnd
from coordinator.store.partition_files import OFFSETS_TOPIC, DirectorySuffix, parse_partition_name
from pipeline.sources.filesystem import absolute, child, opened
from pipeline.sources.splits import last_batch
from wire.log.segments import log_files

UNKNOWN_PARTITION = -1  # of segments in a directory that is not named after a partition of the topic
_SEGMENT = re.compile(r"(\d{20})\.log(?:\.swap|)")
_BROKER_FILE = re.compile(
    r"\d{20}\.(?:log|index|timeindex|txnindex|snapshot)(?:\.swap|\.cleaned|\.deleted|)"
    r"|leader-epoch-checkpoint(?:\.tmp|)|partition\.metadata(?:\.tmp|)|\.kafka_cleanshutdown"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSegment:
    """A segment at `path`, a local path or a URI. `has_index`: its offset index is next to it."""

    path: str
    source: str
    partition: int
    base_offset: int
    size: int
    has_index: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NotASegment:
    """A file in the place of a segment, or given as one, that is not a segment."""

    path: str
    source: str
    partition: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Segments by partition and base offset."""

    segments: tuple[ListedSegment, ...]
    not_segments: tuple[NotASegment, ...]


def list_segments(paths: Sequence[str], options: Mapping[str, str] | None = None) -> Listing:
    """The content of log directories, directories of partitions and single files. `options` are Hadoop's. Raises
    FileNotFoundError: a path does not exist. Raises OSError."""
    search = _Search(options or {})
    for path in map(absolute, paths):
        search.at(path)
    return search.listing()


class _Search:
    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        self._segments: dict[str, ListedSegment] = {}
        self._not_segments: dict[str, NotASegment] = {}

    def at(self, path: str) -> None:
        system, inside = opened(path, self._options)
        info = system.get_file_info(inside)
        if info.type is fs.FileType.NotFound:
            raise FileNotFoundError(f"{path} does not exist")
        if info.type is fs.FileType.File:
            index = f"{inside.removesuffix('.log')}.index"
            has_index = system.get_file_info(index).type is fs.FileType.File
            self._segments[path] = _segment(path, info.size, has_index=has_index)
            return
        entries = system.get_file_info(fs.FileSelector(inside))
        files = [entry.base_name for entry in entries if entry.is_file]
        if partition_of(path) != UNKNOWN_PARTITION or any(map(_SEGMENT.fullmatch, files)):
            self._partition(path, entries)
            return
        partitions = [
            entry
            for entry in entries
            if entry.type is fs.FileType.Directory and partition_of(entry.base_name) != UNKNOWN_PARTITION
        ]
        for entry in partitions:
            within = child(path, entry.base_name)
            try:
                self._partition(within, system.get_file_info(fs.FileSelector(entry.path)))
            except OSError as error:
                self._name(within, within, f"cannot be read: {error}")
        if not partitions:
            self._name(path, path, f"contains no partition of {OFFSETS_TOPIC}")

    def listing(self) -> Listing:
        """The segments, with one copy of each partition."""
        copies: dict[int, dict[str, list[ListedSegment]]] = {}
        for segment in self._segments.values():
            directory = segment.path.rpartition("/")[0]
            copies.setdefault(segment.partition, {}).setdefault(directory, []).append(segment)
        chosen: list[ListedSegment] = []
        for partition, by_directory in sorted(copies.items()):
            if partition == UNKNOWN_PARTITION or len(by_directory) == 1:
                copy = [segment for segments in by_directory.values() for segment in segments]
            else:
                copy = max(by_directory.items(), key=lambda item: (self._reach(item[1]), item[0]))[1]
            chosen += sorted(copy, key=lambda segment: (segment.source, segment.base_offset, segment.path))
        return Listing(segments=tuple(chosen), not_segments=tuple(self._not_segments.values()))

    def _partition(self, path: str, entries: Iterable[fs.FileInfo]) -> None:
        by_name = {entry.base_name: entry for entry in entries}
        files = {name: entry for name, entry in by_name.items() if entry.type is fs.FileType.File}
        segments = {
            name: _segment(child(path, name), entry.size, has_index=name.replace(".log", ".index") in files)
            for name, entry in files.items()
            if _SEGMENT.fullmatch(name)
        }
        for name in log_files(files, lambda name: self._end(segments[name]).next_offset):
            self._segments[segments[name].path] = segments[name]
        for name in sorted(by_name):
            if not _BROKER_FILE.fullmatch(name):
                self._name(child(path, name), path, "is not a file of a broker")

    def _reach(self, segments: Sequence[ListedSegment]) -> LogEnd:
        """The end of a copy; EMPTY if it cannot be read."""
        for segment in sorted(segments, key=lambda candidate: candidate.base_offset, reverse=True):
            with suppress(OSError):
                reach = self._end(segment)
                if reach.leader_epoch != EMPTY.leader_epoch:
                    return reach
        return EMPTY

    def _end(self, segment: ListedSegment) -> LogEnd:
        """The end of a segment. Raises OSError: it cannot be read."""
        system, inside = opened(segment.path, self._options)
        index, base_offset = read_index(segment, self._options), segment.base_offset
        with system.open_input_file(inside) as file:
            last = last_batch(file, segment.path, size=segment.size, index=index, base_offset=base_offset)
        return LogEnd(-1, base_offset) if last is None else LogEnd(last.leader_epoch, last.next_offset)

    def _name(self, path: str, directory: str, reason: str) -> None:
        self._not_segments[path] = NotASegment(
            path=path, source=_base_name(directory), partition=partition_of(directory), reason=reason
        )


def read_index(segment: ListedSegment, options: Mapping[str, str]) -> bytes:
    """The bytes of a segment's offset index; empty if it is missing or cannot be read."""
    if segment.has_index:
        with suppress(OSError):
            system, inside = opened(segment.path, options)
            above, _, name = inside.rpartition("/")
            with system.open_input_file(child(above, name.replace(".log", ".index"))) as file:
                return bytes(file.read())
    return b""


def _segment(path: str, size: int, *, has_index: bool) -> ListedSegment:
    directory, _, name = path.rstrip("/").rpartition("/")
    segment = _SEGMENT.fullmatch(name)
    return ListedSegment(
        path=path,
        source=_base_name(directory),
        partition=partition_of(directory),
        base_offset=int(segment[1]) if segment else 0,
        size=size,
        has_index=has_index,
    )


def _base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def partition_of(path: str) -> int:
    """The partition of `__consumer_offsets` in a directory; UNKNOWN_PARTITION if the directory has another name."""
    name = parse_partition_name(_base_name(path))
    if name is None or name.topic != OFFSETS_TOPIC or name.suffix is not DirectorySuffix.NONE:
        return UNKNOWN_PARTITION
    return name.partition
