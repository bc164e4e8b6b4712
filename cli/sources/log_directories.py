"""Check the directories of `--log-dir` before they are read, with hints for the usual mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cli.errors import CommandError
from coordinator.store.partition_files import (
    OFFSETS_TOPIC,
    DirectorySuffix,
    PartitionName,
    parse_partition_name,
)
from groups.counts import first_names

_SHOWN = 3


def check_log_directories(directories: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The directories, each once, and notices about them.

    CommandError if one cannot be read, or none contains `__consumer_offsets`.

    One of a broker's several disks may contain only other topics: it may still know their names.
    """
    by_place: dict[Path, Path] = {}
    for directory in directories:
        by_place.setdefault(directory.resolve(), directory)
    found = {directory: list_directory(directory) for directory in by_place.values()}
    without = [directory for directory, entries in found.items() if not any(map(_is_partition, entries))]
    if len(without) == len(found):
        raise CommandError(why_no_log(without[0], found[without[0]]))
    notices = (
        f"{directory} contains no {OFFSETS_TOPIC}-N directory; it is only read for topic names"
        for directory in without
    )
    return tuple(found), tuple(notices)


def list_directory(directory: Path) -> list[Path]:
    """The entries of a directory, by name. CommandError if it cannot be read."""
    try:
        return sorted(directory.iterdir())
    except OSError as error:
        raise CommandError(f"{directory} cannot be read: {error.strerror or error}") from None


def holds_offsets(directory: Path) -> bool:
    """Whether a directory, which may not exist, contains a partition of `__consumer_offsets`."""
    try:
        return any(map(_is_partition, directory.iterdir()))
    except OSError:
        return False


def why_no_log(directory: Path, entries: Sequence[Path]) -> str:
    """Why a directory is not a broker's log directory, and which one is probably meant."""
    place = directory.resolve()
    if partition_of(place) is not None:
        return f"{directory} is one partition; name the directory that contains it: {place.parent}"
    return (
        f"{directory} contains no {OFFSETS_TOPIC}-N directory, {_found(entries)}{_suggestion(place, entries)}"
    )


def partition_of(directory: Path) -> PartitionName | None:
    """The partition of `__consumer_offsets` according to a directory's name, even if it is being deleted or moved."""
    name = parse_partition_name(directory.name)
    return name if name is not None and name.topic == OFFSETS_TOPIC else None


def _is_partition(entry: Path) -> bool:
    name = partition_of(entry)
    return name is not None and name.suffix is DirectorySuffix.NONE and entry.is_dir()


def _found(entries: Iterable[Path]) -> str:
    names = [entry.name for entry in entries]
    if not names:
        return "it is empty"
    return f"but {first_names(names, _SHOWN)}"


def _suggestion(directory: Path, entries: Iterable[Path]) -> str:
    near = [entry for entry in entries if entry.is_dir()]
    for place in (directory.parent, *near):
        if holds_offsets(place):
            return f"; did you mean {place}?"
    return ""
