"""The partitions of all topics, by topic id and number."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Protocol
from uuid import UUID

from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.errors import RequestRefused
from coordinator.partitions.directory import RecordDirectory, StoredCheckpoints
from coordinator.partitions.partition import Partition
from coordinator.partitions.settings import RecordSettings
from coordinator.store.log import Log, MemoryFiles
from coordinator.store.log_files import StoredLog
from coordinator.store.partition_files import INTERNAL_TOPICS
from wire.errors import ErrorCode
from wire.log.errors import DamagedLog

_log = logging.getLogger(__name__)


class CoordinatorLog(Protocol):
    def stored(self, number: int) -> StoredLog | None:
        """The log of a partition; None if the topic is not created yet."""


class Partitions:
    def __init__(
        self,
        image: TopicImage,
        configs: Callable[[str], Mapping[str, object]],
        directory: RecordDirectory | None = None,
        coordinator_logs: Mapping[str, CoordinatorLog] | None = None,
    ) -> None:
        """`configs` returns the settings of a topic: the same mapping as long as none of them changes. `directory`:
        for records that outlive the process. `coordinator_logs`: the internal topics that coordinators write to."""
        self._configs = configs
        self._settings: dict[str, tuple[Mapping[str, object], RecordSettings]] = {}
        self._image = image
        self._directory = directory
        self._by_topic: dict[UUID, dict[int, Partition]] = {}
        self._coordinator_logs = coordinator_logs or {}
        self._damaged: set[tuple[UUID, int]] = set()
        self._epochs: dict[tuple[UUID, int], int] = {}  # of partitions that were not opened

    def kept(self, where: Callable[[RecordSettings], bool] = lambda _: True) -> Iterator[Partition]:
        """The partitions that may hold records, of topics whose settings `where` accepts; opened when yielded."""
        topics = [info for info in self._image.by_id.values() if info.name not in INTERNAL_TOPICS]
        for topic in topics:
            if not where(self.settings(topic.name)):
                continue
            for number in range(topic.partitions):
                with suppress(RequestRefused, OSError):
                    is_open = number in self._by_topic.get(topic.id, {})
                    if not is_open and not (
                        self._directory and self._directory.holds_records(topic.name, number)
                    ):
                        continue
                    if (partition := self.find(topic.id, number)) is not None:
                        yield partition

    def file_remover(self) -> Callable[[], None]:
        """A function that removes the files of deleted records, in any thread."""
        return (lambda: None) if self._directory is None else self._directory.files.file_remover()

    def set_topics(self, image: TopicImage) -> None:
        """Replace the topics: the partitions of deleted ones are closed."""
        gone = [topic for topic in self._image.by_id.values() if topic.id not in image.by_id]
        self._image = image
        for topic in gone:
            if self._directory is not None:
                for number in range(topic.partitions):
                    self._directory.forget(topic.name, number)
            self._settings.pop(topic.name, None)
            for partition in self._by_topic.pop(topic.id, {}).values():
                partition.close()

    def leader_epoch(self, topic_id: UUID, number: int) -> int:
        """The leader epoch of a partition, without opening it; 0 if the topic is unknown."""
        opened = self._by_topic.get(topic_id, {}).get(number)
        if opened is not None:
            return opened.leader_epoch
        topic = self._image.by_id.get(topic_id)
        if topic is None or self._directory is None:
            return 0
        key = topic_id, number
        if key not in self._epochs:
            with suppress(OSError, DamagedLog):
                self._epochs[key] = self._directory.leader_epoch(topic.name, number)
        return self._epochs.get(key, 0)

    def find(self, topic_id: UUID, number: int) -> Partition | None:
        """A partition of an existing topic. Raises RequestRefused: KAFKA_STORAGE_ERROR: it cannot be read."""
        topic = self._image.by_id.get(topic_id)
        if topic is None or not 0 <= number < topic.partitions:
            return None
        opened = self._by_topic.setdefault(topic_id, {})
        if number in opened:
            return opened[number]
        settings = partial(self.settings, topic.name)
        stored = None
        if self._directory is not None and topic.name not in INTERNAL_TOPICS:
            with self._reading(topic, number):
                stored = self._directory.open(topic.name, number)
        elif self._directory is not None and topic.name in self._coordinator_logs:
            stored = self._coordinator_logs[topic.name].stored(number)
        if self._directory is None or stored is None:
            partition = Partition(topic.name, topic.id, number, Log(MemoryFiles()), settings)
            if topic.name in self._coordinator_logs:
                return partition  # until its coordinator has something to write
        else:
            partition = Partition(
                topic.name,
                topic.id,
                number,
                stored.log,
                settings,
                stored.epochs,
                stored.producers,
                StoredCheckpoints(self._directory, topic.name, number),
                stored.compaction,
            )
        opened[number] = partition
        return partition

    def appended(self, topic_id: UUID, numbers: Collection[int]) -> None:
        """Notify readers that a coordinator has written to partitions of its topic."""
        opened = self._by_topic.get(topic_id, {})
        for number in numbers:
            if number in opened:
                opened[number].notify()

    @contextmanager
    def _reading(self, topic: TopicInfo, number: int) -> Iterator[None]:
        """For reading a partition's files, which are never read again once damaged. Raises RequestRefused."""
        if (topic.id, number) in self._damaged:
            raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR)
        try:
            yield
        except OSError as error:
            raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR) from error
        except DamagedLog as error:
            self._damaged.add((topic.id, number))
            _log.warning("%s-%d is not served: %s", topic.name, number, error)
            raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR) from error

    def settings(self, topic: str) -> RecordSettings:
        values = self._configs(topic)
        known = self._settings.get(topic)
        if known is None or known[0] is not values:
            known = self._settings[topic] = values, RecordSettings.of(values)
        return known[1]
