"""The partitions of all topics there are, by topic id and number."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from coordinator.engine.topics import TopicImage
from coordinator.partitions.log import Log, MemoryFiles
from coordinator.partitions.partition import Partition
from coordinator.partitions.settings import RecordSettings


class Partitions:
    """See the module. `settings` gives those of a topic, by its name."""

    def __init__(self, image: TopicImage, settings: Callable[[str], RecordSettings]) -> None:
        self._settings = settings
        self._image = image
        self._by_topic: dict[UUID, dict[int, Partition]] = {}

    def become(self, image: TopicImage) -> None:
        """Other topics are there: the partitions of those that are gone are closed."""
        self._image = image
        for topic_id in [each for each in self._by_topic if each not in image.by_id]:
            for partition in self._by_topic.pop(topic_id).values():
                partition.close()

    def leader_epoch(self, topic_id: UUID, number: int) -> int:
        """That of a partition of a topic that exists, which is not opened for it."""
        opened = self._by_topic.get(topic_id, {}).get(number)
        return 0 if opened is None else opened.leader_epoch

    def find(self, topic_id: UUID, number: int) -> Partition | None:
        """A partition of a topic that exists."""
        topic = self._image.by_id.get(topic_id)
        if topic is None or not 0 <= number < topic.partitions:
            return None
        opened = self._by_topic.setdefault(topic_id, {})
        if number not in opened:
            opened[number] = Partition(
                topic.name, topic_id, number, Log(MemoryFiles()), lambda: self._settings(topic.name)
            )
        return opened[number]
