"""The directories of `--log-dir`, checked before they are read, with hints for mistakes; and the file of topics."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cli.errors import CommandError
from coordinator.store.partition_files import (
    OFFSETS_TOPIC,
    DirectorySuffix,
    PartitionName,
    parse_partition_name,
)
from coordinator.store.topic_names import KnownTopic
from groups.counts import first_names
from wire.files import read_bounded
from wire.uuids import parse_uuid

_SHOWN = 3


def check_log_directories(directories: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The directories, each once, and notices about them. CommandError if one cannot be read, or none contains
    `__consumer_offsets`. One of a broker's several disks may contain only other topics: it may still know their
    names."""
    by_place: dict[Path, Path] = {}
    for directory in directories:
        by_place.setdefault(directory.resolve(), directory)
    listings = {directory: list_directory(directory) for directory in by_place.values()}
    without = [directory for directory, entries in listings.items() if not any(map(_is_partition, entries))]
    if len(without) == len(listings):
        raise CommandError(why_no_log(without[0], listings[without[0]]))
    notices = (
        f"{directory} contains no {OFFSETS_TOPIC}-N directory; it is only read for topic names"
        for directory in without
    )
    return tuple(listings), tuple(notices)


def list_directory(directory: Path) -> list[Path]:
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
    path = directory.resolve()
    if partition_of(path) is not None:
        return f"{directory} is one partition; name the directory that contains it: {path.parent}"
    shown = f"but {first_names([entry.name for entry in entries], _SHOWN)}" if entries else "it is empty"
    candidates = (path.parent, *filter(Path.is_dir, entries))
    near = next(filter(holds_offsets, candidates), None)
    hint = "" if near is None else f"; did you mean {near}?"
    return f"{directory} contains no {OFFSETS_TOPIC}-N directory, {shown}{hint}"


def partition_of(directory: Path) -> PartitionName | None:
    """The partition of `__consumer_offsets` according to a directory's name, even if it is being deleted or moved."""
    name = parse_partition_name(directory.name)
    return name if name is not None and name.topic == OFFSETS_TOPIC else None


def _is_partition(entry: Path) -> bool:
    name = partition_of(entry)
    return name is not None and name.suffix is DirectorySuffix.NONE and entry.is_dir()


_DESCRIBED = re.compile(
    r"Topic: (?P<name>\S+)\s+TopicId: (?P<id>\S+)\s+PartitionCount: (?P<partitions>[0-9]+)\b"
)
"""A topic's own line; the lines of its partitions are indented and have no id."""

MAX_PARTITIONS = 2**31 - 1


def read_topics_file(file: Path) -> tuple[KnownTopic, ...]:
    """The topics that the file names with an id. CommandError if it cannot be read or is of another kind."""
    from groups.snapshot import MOST_BYTES

    try:
        text = read_bounded(file, MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else "not a text file in UTF-8"
        raise CommandError(f"{file}: cannot be read: {reason}") from None
    topics = tuple(_described(file, text) if _DESCRIBED.search(text) else _mapped(file, text))
    if not topics:
        raise CommandError(f"{file}: contains no topic with an id")
    return topics


def _described(file: Path, text: str) -> Iterator[KnownTopic]:
    for number, line in enumerate(text.splitlines(), 1):
        match = _DESCRIBED.match(line)
        if match is not None:
            where = f"{file}:{number}"
            yield _topic(where, match["name"], match["id"], match["partitions"])


def _mapped(file: Path, text: str) -> Iterator[KnownTopic]:
    from groups.snapshot import parse_snapshot
    from groups.yaml_files import TreeError, load_tree

    try:
        tree = load_tree(file, text)
        if isinstance(tree, dict) and "kohort" in tree:
            snapshot = parse_snapshot(file, text)
            for fault in snapshot.faults:
                if fault.topic is not None and fault.topic not in snapshot.topics:
                    raise fault.error
            for topic in snapshot.topics.values():
                if topic.id is not None:
                    yield KnownTopic(name=topic.name, id=topic.id, partitions=topic.partitions, is_whole=True)
            return
    except TreeError as error:
        raise CommandError(str(error)) from None
    if not isinstance(tree, dict):
        raise CommandError(
            f"{file}: expected what kafka-topics --describe prints, a snapshot, or a mapping of names to ids"
        )
    for name, value in tree.items():
        fields: Mapping[str, object] = value if isinstance(value, dict) else {"id": value}
        yield _topic(f"{file}: {name}", name, fields.get("id"), fields.get("partitions"))


def _topic(where: str, name: str, topic_id: object, partitions: Any) -> KnownTopic:
    try:
        number = int(partitions) if str(partitions).isdecimal() else None
        if partitions is not None and not (number and number <= MAX_PARTITIONS):
            raise ValueError(f"{partitions} is not a number of partitions")
        return KnownTopic(
            name=name, id=parse_uuid(str(topic_id)), partitions=number, is_whole=number is not None
        )
    except (ValueError, TypeError) as error:
        raise CommandError(f"{where}: {error}") from None
