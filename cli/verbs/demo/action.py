"""The sample fleet of `kohort demo`: a group of every kind, written as the embedded coordinator writes groups. Some
have a history of several days (`cli.verbs.demo.stories`), which ends with the rebalance in the sample."""

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from importlib.resources import as_file, files
from operator import itemgetter
from pathlib import Path

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.selection import data_directory, is_log_directory
from cli.verbs.demo.stories import LAST_MS, STORIES, play
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.store.data_directory import CLEAN_SHUTDOWN, DataDirectory
from coordinator.store.directory_files import CLEANER, META_PROPERTIES, ConfigKind
from coordinator.store.disk import DirectoryLock
from coordinator.store.group_records import group_records
from coordinator.store.partition_files import OFFSETS_TOPIC, PARTITION_METADATA, parse_partition_name
from coordinator.store.records import encode_record
from groups.snapshot import Snapshot, read_snapshot

_FILES = {META_PROPERTIES, CLEAN_SHUTDOWN, CLEANER, *(kind.file for kind in ConfigKind)}


def create(directory: Path | None, *, force: bool) -> None:
    """Write the fleet into a directory, or into the default one; `force` replaces the groups in it."""
    target = directory or data_directory()
    if is_log_directory(target):
        if not force:
            raise UsageError(f"{target} contains groups already; --force replaces them")
        clear(target)
    fill(target)
    option = f" --embedded {directory}" if directory else ""
    notice(f"created a sample fleet in {target}; try `kohort list{option}` and `kohort top{option}`")


def fill(directory: Path) -> None:
    """Write the fleet into a directory without groups. Raises CommandError: it belongs to a broker whose log is
    elsewhere, or to another user. Raises StorageError: it cannot be written."""
    with as_file(files("cli.verbs.demo").joinpath("sample.yaml")) as file:
        fleet = read_snapshot(file)
    topics = TopicImage.of(_topics(fleet), version=1)
    written = sorted(_written(fleet, topics, time.time_ns() // 1_000_000), key=itemgetter(0))
    with closing(DataDirectory.open(directory)) as data:
        for topic in topics.topics.values():
            data.topics.create(topic)
        for at_ms, records in written:
            encoded = [(record.group, encode_record(record)) for record in records]
            data.log.append(encoded, at_ms)  # closing synchronizes


def _written(fleet: Snapshot, topics: TopicImage, now_ms: int) -> Iterator[tuple[int, Sequence[Record]]]:
    """Records with the times at which they are written, in ms; each group's records are in order."""
    for group in fleet.groups.values():
        story = STORIES.get(group.id)
        if story is None:
            yield now_ms, group_records(group, topics, now_ms)
            continue
        yield from play(group, story, topics, now_ms).written
        last_ms = now_ms - LAST_MS
        members = group_records(replace(group, offsets={}), topics, last_ms)
        yield last_ms, members
        yield now_ms, group_records(group, topics, now_ms)[len(members) :]


def clear(directory: Path) -> None:
    """Remove only the files that an embedded coordinator wrote into a directory. Raises CommandError: it belongs to a
    broker, or something cannot be removed. Raises DirectoryInUse: a coordinator is running on it."""
    lock = DirectoryLock.take(directory)
    try:
        for entry in _own_entries(directory):
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    except OSError as error:
        raise CommandError(f"{error.filename}: cannot be removed: {error.strerror or error}") from None
    finally:
        lock.release()


def _own_entries(directory: Path) -> list[Path]:
    """The entries of an embedded coordinator in a directory. CommandError if a broker has written records there."""
    entries = []
    for entry in sorted(directory.iterdir()):
        name = parse_partition_name(entry.name) if entry.is_dir() else None
        if name is None:
            if entry.name in _FILES:
                entries.append(entry)
            continue
        if name.topic != OFFSETS_TOPIC and any(item.name != PARTITION_METADATA for item in entry.iterdir()):
            raise CommandError(f"{entry} contains records of a broker; {directory} is not replaced")
        entries.append(entry)
    return entries


def _topics(fleet: Snapshot) -> Iterable[TopicInfo]:
    for topic in fleet.topics.values():
        if topic.id is not None and topic.name != OFFSETS_TOPIC:
            yield TopicInfo(name=topic.name, id=topic.id, partitions=topic.partitions)
