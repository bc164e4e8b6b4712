"""The partitions of all topics there are, by topic id and number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from coordinator.engine.topics import TopicImage
from coordinator.partitions.log import Log, MemoryFiles
from coordinator.partitions.partition import Partition
from coordinator.partitions.settings import RecordSettings


class Partitions:
    """See the module."""

    def __init__(self, image: TopicImage, configs: Callable[[str], Mapping[str, Any]]) -> None:
        """`configs` gives the settings of a topic: the same mapping as long as none of them changes."""
        self._configs = configs
        self._settings: dict[str, tuple[Mapping[str, Any], RecordSettings]] = {}
        self._image = image
        self._by_topic: dict[UUID, dict[int, Partition]] = {}

    def become(self, image: TopicImage) -> None:
        """Other topics are there: the partitions of those that are gone are closed."""
        self._image = image
        for topic_id in [each for each in self._by_topic if each not in image.by_id]:
            for partition in self._by_topic.pop(topic_id).values():
                self._settings.pop(partition.topic, None)
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
                topic.name, topic_id, number, Log(MemoryFiles()), lambda: self.settings(topic.name)
            )
        return opened[number]

    def settings(self, topic: str) -> RecordSettings:
        """What counts for the records of a topic at this moment."""
        values = self._configs(topic)
        known = self._settings.get(topic)
        if known is None or known[0] is not values:
            known = self._settings[topic] = values, RecordSettings.of(values)
        return known[1]
