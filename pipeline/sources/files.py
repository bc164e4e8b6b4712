"""Which files are the log of `__consumer_offsets`, and what else was found in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyarrow import fs

from coordinator.storage.partition_files import OFFSETS_TOPIC, Fate, parse_partition_name
from pipeline.sources.filesystem import absolute, child, opened

UNKNOWN_PARTITION = -1
_SEGMENT = re.compile(r"(\d{20})\.log")
_BESIDE = re.compile(
    r"\d{20}\.(?:index|timeindex|txnindex|snapshot)(?:\.swap|\.cleaned|\.deleted|)|\d{20}\.log(?:\.cleaned|\.deleted)"
    r"|leader-epoch-checkpoint(?:\.tmp|)|partition\.metadata(?:\.tmp|)|\.kafka_cleanshutdown"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFile:
    """A segment: bytes of `path`, a local path or a URI. `has_index`: its offset index is beside it."""

    path: str
    source: str
    partition: int
    base_offset: int
    size: int
    has_index: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """What stands where a segment would, and is none."""

    path: str
    source: str
    partition: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Segments by partition and base offset."""

    segments: tuple[SegmentFile, ...]
    foreign: tuple[Foreign, ...]


def list_segments(paths: Sequence[str], options: Mapping[str, str] | None = None) -> Listing:
    """What is in log directories, directories of partitions and single files. `options` are Hadoop's.

    :raises FileNotFoundError: a path is not there
    :raises OSError: it cannot be read
    """
    segments: list[SegmentFile] = []
    foreign: list[Foreign] = []
    for path in map(absolute, paths):
        system, inside = opened(path, options or {})
        info = system.get_file_info(inside)
        if info.type is fs.FileType.NotFound:
            raise FileNotFoundError(f"{path} is not there")
        if info.type is fs.FileType.File:
            segments.append(_segment(path, info.size, has_index=False))
            continue
        entries = system.get_file_info(fs.FileSelector(inside))
        if _partition_of(path) != UNKNOWN_PARTITION:
            _partition(path, entries, segments, foreign)
            continue
        for entry in entries:
            if entry.type is fs.FileType.Directory and _partition_of(entry.base_name) != UNKNOWN_PARTITION:
                within = system.get_file_info(fs.FileSelector(entry.path))
                _partition(child(path, entry.base_name), within, segments, foreign)
    segments.sort(key=lambda each: (each.partition, each.source, each.base_offset))
    return Listing(segments=tuple(segments), foreign=tuple(foreign))


def _partition(
    path: str, entries: Iterable[fs.FileInfo], segments: list[SegmentFile], foreign: list[Foreign]
) -> None:
    found = {entry.base_name: entry for entry in entries}
    for name, entry in sorted(found.items()):
        if entry.type is fs.FileType.File and _SEGMENT.fullmatch(name):
            has_index = f"{name.removesuffix('.log')}.index" in found
            segments.append(_segment(child(path, name), entry.size, has_index=has_index))
        elif not _BESIDE.fullmatch(name):
            foreign.append(
                Foreign(
                    path=child(path, name),
                    source=_name(path),
                    partition=_partition_of(path),
                    reason="is no file that a broker keeps there",
                )
            )


def _segment(path: str, size: int, *, has_index: bool) -> SegmentFile:
    directory, _, name = path.rstrip("/").rpartition("/")
    found = _SEGMENT.match(name)
    return SegmentFile(
        path=path,
        source=_name(directory),
        partition=_partition_of(directory),
        base_offset=int(found[1]) if found else 0,
        size=size,
        has_index=has_index,
    )


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _partition_of(path: str) -> int:
    """The partition of `__consumer_offsets` whose directory this is; -1: of none."""
    name = parse_partition_name(_name(path))
    if name is None or name.topic != OFFSETS_TOPIC or name.fate is not Fate.NONE:
        return UNKNOWN_PARTITION
    return name.partition
