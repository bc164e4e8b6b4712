"""The topics of the server: names, ids and numbers of partitions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID, uuid4

from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.server.placement import Placement, Replicas
from coordinator.store.partition_files import OFFSETS_TOPIC
from coordinator.store.topic_directories import TopicDirectories
from wire.errors import ErrorCode
from wire.log.errors import StorageFailed

MAX_NAME_LENGTH = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")
_ILLEGAL = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"


class TopicRefused(Exception):
    """A topic cannot be made or changed; `code` is Kafka's, `message` goes on the wire."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(message or str(code))
        self.code, self.message = code, message


class Topics:
    """All topics, and the image of them that a coordinator is told of."""

    def __init__(
        self,
        placement: Placement,
        racks: Mapping[int, str | None],
        kept: TopicDirectories | None = None,
        version: int = 0,
    ) -> None:
        """`racks` are those of the brokers, by node id, on which `placement` puts partitions.

        `kept`: where topics outlive the process; `version` is to be larger than any it has had before.
        """
        self._placement = placement
        self._racks = racks
        self._kept = kept
        self.changing = asyncio.Lock()
        """Held by who changes topics: beside the event loop, as directories are made and deleted for them."""
        known = [] if kept is None else [self._placed(topic) for topic in kept.found]
        self.image = TopicImage.of(known, version)

    def create(
        self,
        name: str,
        partitions: int,
        *,
        replicas: Sequence[Replicas] | None = None,
        dry_run: bool = False,
    ) -> TopicInfo:
        """Make a topic; without `replicas`, every partition has one. :raises TopicRefused:"""
        if name in self.image.topics or name == OFFSETS_TOPIC:
            raise TopicRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        check_name(name)
        if partitions < 1:
            raise TopicRefused(ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0.")
        topic = TopicInfo(name=name, id=uuid4(), partitions=partitions)
        if not dry_run:
            with _storing():
                if self._kept is not None:
                    self._kept.create(topic)
            self._placement.put(name, replicas or self._placement.choose(name, range(partitions), 1))
            self.show(topic)
        return topic

    def show(self, topic: TopicInfo) -> None:
        """Let clients and coordinator know a topic from now on, new or grown."""
        self._become({**self.image.topics, topic.name: self._placed(topic)})

    def grow(
        self,
        name: str,
        partitions: int,
        *,
        replicas: Sequence[Replicas] | None = None,
        dry_run: bool = False,
    ) -> None:
        """Give a topic more partitions; those without `replicas` have as many as the first. :raises TopicRefused:"""
        topic = self.image.topics.get(name)
        if topic is None:
            raise TopicRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if partitions == topic.partitions:
            raise TopicRefused(ErrorCode.INVALID_PARTITIONS, f"Topic already has {partitions} partition(s).")
        if partitions < topic.partitions:
            raise TopicRefused(
                ErrorCode.INVALID_PARTITIONS,
                f"The topic {name} currently has {topic.partitions} partition(s); "
                f"{partitions} would not be an increase.",
            )
        if not dry_run:
            grown = replace(topic, partitions=partitions)
            with _storing():
                if self._kept is not None:
                    self._kept.grow(grown, topic.partitions)
            self._place_more(topic, partitions, replicas)
            self.show(grown)

    def delete(self, topic: TopicInfo) -> None:
        """Forget a topic. :raises TopicRefused: it cannot be deleted where it is kept"""
        with _storing():
            if self._kept is not None:
                self._kept.delete(topic)
        self._placement.forget(topic.name)
        self._become({name: one for name, one in self.image.topics.items() if one.id != topic.id})

    def find(self, name: str | None, topic_id: UUID | None) -> TopicInfo | None:
        """A topic by id where one is given (Java sends an empty name beside it), else by name."""
        if topic_id is not None:
            return self.image.by_id.get(topic_id)
        return self.image.topics.get(name or "")

    def name_of(self, topic_id: UUID) -> str | None:
        """The name of a topic; None: there is none with that id."""
        topic = self.image.by_id.get(topic_id)
        return None if topic is None else topic.name

    def _place_more(self, topic: TopicInfo, partitions: int, replicas: Sequence[Replicas] | None) -> None:
        old = [self._placement.replicas(topic.name, number) for number in range(topic.partitions)]
        new = range(topic.partitions, partitions)
        self._placement.put(
            topic.name, [*old, *(replicas or self._placement.choose(topic.name, new, len(old[0])))]
        )

    def _placed(self, topic: TopicInfo) -> TopicInfo:
        """With the racks of its replicas."""
        racks = {node_id: () if rack is None else (rack,) for node_id, rack in self._racks.items()}
        by_replicas: dict[Replicas, tuple[str, ...]] = {}
        placed = [self._placement.replicas(topic.name, number) for number in range(topic.partitions)]
        for replicas in placed:
            by_replicas.setdefault(replicas, tuple(rack for each in replicas for rack in racks[each]))
        return replace(topic, racks=tuple(by_replicas[replicas] for replicas in placed))

    def _become(self, topics: Mapping[str, TopicInfo]) -> None:
        self.image = TopicImage(topics=topics, version=self.image.version + 1)


@contextmanager
def _storing() -> Iterator[None]:
    try:
        yield
    except StorageFailed as error:
        raise TopicRefused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error


def check_name(name: str) -> None:
    """Kafka's rules for the name of a topic (`Topic.validate`). :raises TopicRefused:"""
    why = None
    if not name:
        why = "the empty string is not allowed"
    elif name in (".", ".."):
        why = "'.' or '..' is not allowed"
    elif len(name) > MAX_NAME_LENGTH:
        why = f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    elif not _LEGAL.fullmatch(name):
        why = f"'{name}' {_ILLEGAL}"
    if why is not None:
        raise TopicRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {why}")
