"""The topics of the server: a directory per partition, in which a broker would keep the records, with the topic's
id in `partition.metadata`. A topic has as many partitions as it has contiguous directories from partition 0, or up
to the highest one with records: other partitions of a broker's topic may be elsewhere. The first of several new
directories is created last, and partition 0 is renamed to `-delete` first, so that a topic changes at one moment;
directories that a kill leaves half done are removed at the next start. Deleted topics are remembered until they are
purged: their offsets must be deleted too, even after a kill in between."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

from coordinator.engine.topics import TopicInfo
from coordinator.store import partition_files as files
from coordinator.store.disk import UNFINISHED, side_by_side, sync
from wire.log.errors import StorageFailed

_OURS = {files.PARTITION_METADATA, files.PARTITION_METADATA + UNFINISHED}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Partition:
    path: Path
    name: files.PartitionName
    topic_id: UUID | None
    holds_records: bool


class TopicDirectories:
    """See the module. `root` is the log directory; one process at a time works on it."""

    def __init__(self, root: Path) -> None:
        """Read them, and remove those that a kill left half done. Raises DamagedLog. Raises StorageFailed."""
        self._root = root
        self._left: list[Path] = []
        self.deleted: list[TopicInfo] = []
        """Topics whose directories wait to be purged. A name of more than 213 characters may be cut."""
        self.found = tuple(self._load())  # the topics at the start

    def create(self, topic: TopicInfo) -> None:
        """Create a topic. Raises StorageFailed: no part of it exists."""
        self.grow(topic, 0)

    def grow(self, topic: TopicInfo, before: int) -> None:
        """Grow a topic that had `before` partitions. Raises StorageFailed: unchanged."""
        first, *others = (self._path(topic, number) for number in range(before, topic.partitions))
        make = partial(_make, topic_id=topic.id)
        try:
            side_by_side(make, others)
            sync(self._root)  # if the first of them exists, all do
            make(first)
            sync(self._root)
        except OSError as error:
            _clear((first, *others))
            raise StorageFailed(f"creating topic {topic.name} in", self._root, error) from error

    def delete(self, topic: TopicInfo) -> None:
        """Delete a topic; its name becomes free. Raises StorageFailed: it exists, or part of it is deleted."""
        left = []
        try:
            for partition in range(topic.partitions):
                path = self._path(topic, partition)
                if path.is_dir():
                    left.append(path.rename(path.with_name(_deleted_name(topic.name, partition))))
                if partition == 0:
                    sync(self._root)
            sync(self._root)
        except OSError as error:
            raise StorageFailed(f"deleting topic {topic.name} in", self._root, error) from error
        self._left += left
        self.deleted.append(topic)

    def file_remover(self) -> Callable[[], None]:
        """Forget the topics deleted so far; the returned function removes their files, in any thread. The
        next start removes files that could not be removed."""
        left, self._left, self.deleted = self._left, [], []
        return partial(_remove, left)

    def _load(self) -> Iterator[TopicInfo]:
        by_topic: dict[str, list[_Partition]] = {}
        try:
            for partition in self._partitions():
                if partition.name.suffix is files.DirectorySuffix.DELETE:
                    self._remember(partition)
                elif partition.name.suffix is files.DirectorySuffix.NONE:
                    by_topic.setdefault(partition.name.topic, []).append(partition)
            topics = [self._topic(name, by_topic[name]) for name in sorted(by_topic)]
        except OSError as error:
            raise StorageFailed("reading the topics in", self._root, error) from error
        return (topic for topic in topics if topic is not None)

    def _partitions(self) -> Iterator[_Partition]:
        for path, name in files.partition_directories(self._root):
            if name.topic not in files.INTERNAL_TOPICS:
                inside = {file.name for file in path.iterdir()}
                yield _Partition(
                    path=path,
                    name=name,
                    topic_id=files.read_topic_id(path),
                    holds_records=not inside <= _OURS,
                )

    def _remember(self, partition: _Partition) -> None:
        self._left.append(partition.path)
        topic_id = partition.topic_id
        if topic_id is not None and topic_id not in {deleted.id for deleted in self.deleted}:
            self.deleted.append(TopicInfo(name=partition.name.topic, id=topic_id, partitions=1))

    def _topic(self, name: str, partitions: list[_Partition]) -> TopicInfo | None:
        """The topic; None if its creation or deletion was interrupted."""
        by_number = {partition.name.partition: partition for partition in partitions}
        with_records = {number for number, partition in by_number.items() if partition.holds_records}
        ids = [by_number[number].topic_id for number in sorted(by_number.keys() & {0, *with_records})]
        topic_id = next((id_ for id_ in ids if id_ is not None), None)
        if topic_id in {topic.id for topic in self.deleted}:
            self._left += (
                partition.path.rename(partition.path.with_name(_deleted_name(name, number)))
                for number, partition in by_number.items()
            )
            return None
        count = 0
        while topic_id is not None and count in by_number and by_number[count].topic_id == topic_id:
            count += 1
        count = max([count, *(number + 1 for number in with_records)])
        _clear(partition.path for number, partition in by_number.items() if number >= count)
        return None if topic_id is None else TopicInfo(name=name, id=topic_id, partitions=count)

    def _path(self, topic: TopicInfo, partition: int) -> Path:
        return self._root / f"{topic.name}-{partition}"


def _make(path: Path, topic_id: UUID) -> None:
    path.mkdir()
    files.write_topic_id(path, topic_id)


def _deleted_name(topic: str, partition: int) -> str:
    """As in `LocalLog.logDeleteDirName`."""
    suffix = f"-{partition}.{uuid4().hex}-delete"
    return topic[: files.LONGEST_NAME - len(suffix)] + suffix


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


def _clear(paths: Iterable[Path]) -> None:
    """Remove directories that were created here, as far as possible; never anything else."""
    for path in paths:
        with suppress(OSError):
            inside = list(path.iterdir())
            if {file.name for file in inside} <= _OURS:
                for file in inside:
                    file.unlink()
                path.rmdir()
