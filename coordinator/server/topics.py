"""The topics of the server: names, ids and partition counts."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID, uuid4

from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.errors import RequestRefused
from coordinator.server.placement import Placement, Replicas
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import ConfigKind
from coordinator.store.partition_files import INTERNAL_TOPICS
from wire.errors import ErrorCode
from wire.log.errors import StorageFailed

MAX_NAME_LENGTH = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


class Topics:
    def __init__(
        self,
        placement: Placement,
        racks: Mapping[int, str | None],
        factor: int = 1,
        data: DataDirectory | None = None,
        version: int = 0,
    ) -> None:
        """`racks` are by node id; `factor` is the default; `version` must be larger than any earlier image's."""
        self._placement = placement
        self._racks = racks
        self._factor = factor
        self._data = data
        self._kept = kept = None if data is None else data.topics
        self.changing = asyncio.Lock()  # while directories change outside of the event loop
        stored = () if kept is None else tuple(kept.found)
        for topic in stored:
            self._restore(topic)
        known = [self._placed(topic) for topic in stored]
        self.image = TopicImage.of(known, version)
        self._by_unified: dict[str, dict[str, None]] = {}  # names by their form with '.' as '_'
        for topic in known:
            self._by_unified.setdefault(_unified(topic.name), {})[topic.name] = None

    def create(
        self, name: str, partitions: int, *, replicas: Sequence[Replicas] | None = None, dry_run: bool = False
    ) -> TopicInfo:
        """Create a topic; without `replicas`, the server assigns brokers. Raises RequestRefused."""
        if name in self.image.topics or name in INTERNAL_TOPICS:
            raise RequestRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        check_name(name)
        if partitions < 1:
            raise RequestRefused(ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0.")
        placed = replicas or self.place(name, range(partitions))
        topic = TopicInfo(name=name, id=uuid4(), partitions=partitions)
        if not dry_run:
            with _storing():
                self._keep_placed(name, placed)
                if self._kept is not None:
                    self._kept.create(topic)
            self._placement.put(name, placed)
            self.show(topic)
        return topic

    def collision(self, name: str) -> str | None:
        """Another topic whose name is the same with '.' and '_' as one (`Topic.hasCollision`), None without one."""
        return next((other for other in self._by_unified.get(_unified(name), ()) if other != name), None)

    def place(self, name: str, partitions: Iterable[int], factor: int | None = None) -> Sequence[Replicas]:
        """Brokers for partitions of a topic, `factor` for each. Raises RequestRefused: there are too few brokers."""
        replicas, brokers = self._factor if factor is None else factor, len(self._racks)
        if replicas > brokers:
            raise RequestRefused(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"Unable to replicate the partition {replicas} time(s): The target replication factor of {replicas} "
                f"cannot be reached because only {brokers} broker(s) are registered or some brokers have all their "
                "log directories cordoned.",
            )
        return self._placement.choose(name, partitions, replicas)

    def show(self, topic: TopicInfo) -> None:
        self._by_unified.setdefault(_unified(topic.name), {})[topic.name] = None
        self._replace({**self.image.topics, topic.name: self._placed(topic)})

    def grow(
        self, name: str, partitions: int, *, replicas: Sequence[Replicas] | None = None, dry_run: bool = False
    ) -> None:
        """Add partitions; without `replicas` they have as many as the first partition. Raises RequestRefused."""
        topic = self.image.topics.get(name)
        if topic is None:
            raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        _check_changeable(name)
        why = None
        if partitions == topic.partitions:
            why = f"Topic already has {partitions} partition(s)."
        elif partitions < topic.partitions:
            known = f"The topic {name} currently has {topic.partitions} partition(s)"
            why = f"{known}; {partitions} would not be an increase."
        if why is not None:
            raise RequestRefused(ErrorCode.INVALID_PARTITIONS, why)
        if not dry_run:
            grown = replace(topic, partitions=partitions)
            placed = [self._placement.replicas(name, number) for number in range(topic.partitions)]
            new = range(topic.partitions, partitions)
            placed += replicas or self._placement.choose(name, new, len(placed[0]))
            with _storing():
                self._keep_placed(name, placed)
                if self._kept is not None:
                    self._kept.grow(grown, topic.partitions)
            self._placement.put(name, placed)
            self.show(grown)

    def reassign(self, topic: TopicInfo, partition: int, replicas: Replicas) -> bool:
        """Assign other brokers to a partition. Returns whether its leader has changed. Raises RequestRefused."""
        placed = [self._placement.replicas(topic.name, number) for number in range(topic.partitions)]
        placed[partition] = replicas
        with _storing():
            self._keep_placed(topic.name, placed)
        has_new_leader = self._placement.reassign(topic.name, partition, placed)
        self.show(topic)
        return has_new_leader

    def delete(self, topic: TopicInfo) -> None:
        """Delete a topic. Raises RequestRefused: its files cannot be deleted."""
        _check_changeable(topic.name)
        with _storing():
            if self._kept is not None:
                self._kept.delete(topic)
        self._placement.forget(topic.name)
        names = self._by_unified[_unified(topic.name)]
        names.pop(topic.name, None)
        if not names:
            del self._by_unified[_unified(topic.name)]
        self._replace({name: one for name, one in self.image.topics.items() if one.id != topic.id})

    def find(self, name: str | None, topic_id: UUID | None) -> TopicInfo | None:
        """A topic by id if given (Java sends an empty name with it), otherwise by name."""
        if topic_id is not None:
            return self.image.by_id.get(topic_id)
        return self.image.topics.get(name or "")

    def name_of(self, topic_id: UUID) -> str | None:
        return self.image.names.get(topic_id)

    def _keep_placed(self, name: str, placed: Sequence[Replicas]) -> None:
        """Store a topic's brokers, if a restart would not assign the same. Raises StorageFailed."""
        if self._data is None:
            return
        by_partition = {str(number): ",".join(map(str, replicas)) for number, replicas in enumerate(placed)}
        usual = self._placement.is_usual(name, placed)
        self._data.set_config(ConfigKind.ASSIGNMENT, name, {} if usual else by_partition)

    def _restore(self, topic: TopicInfo) -> None:
        if self._data is None:
            return
        kept = self._data.configs[ConfigKind.ASSIGNMENT].get(topic.name, {})
        texts = [kept.get(str(number), "") for number in range(topic.partitions)]
        if all(re.fullmatch(r"[0-9]+(,[0-9]+)*", text) for text in texts):
            placed = [tuple(map(int, text.split(","))) for text in texts]
            if all(broker in self._racks for replicas in placed for broker in replicas):
                self._placement.put(topic.name, placed)

    def _placed(self, topic: TopicInfo) -> TopicInfo:
        racks = {node_id: () if rack is None else (rack,) for node_id, rack in self._racks.items()}
        by_replicas: dict[Replicas, tuple[str, ...]] = {}
        placed = [self._placement.replicas(topic.name, number) for number in range(topic.partitions)]
        for replicas in placed:
            by_replicas.setdefault(replicas, tuple(rack for replica in replicas for rack in racks[replica]))
        return replace(topic, racks=tuple(by_replicas[replicas] for replicas in placed))

    def _replace(self, topics: Mapping[str, TopicInfo]) -> None:
        self.image = TopicImage(topics=topics, version=self.image.version + 1)


@contextmanager
def _storing() -> Iterator[None]:
    try:
        yield
    except StorageFailed as error:
        raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error


def _check_changeable(name: str) -> None:
    if name in INTERNAL_TOPICS:
        raise RequestRefused(ErrorCode.POLICY_VIOLATION, f"{name} is managed by kohort serve itself.")


def check_name(name: str) -> None:
    """Kafka's rules for topic names (`Topic.validate`). Raises RequestRefused."""
    why = None
    if not name:
        why = "the empty string is not allowed"
    elif name in (".", ".."):
        why = f"'{name}' is not allowed"
    elif len(name) > MAX_NAME_LENGTH:
        why = f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    elif not _LEGAL.fullmatch(name):
        why = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    if why is not None:
        raise RequestRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {why}")


def missing(name: str) -> RequestRefused:
    """The error for a topic that does not exist: its name may be invalid."""
    try:
        check_name(name)
    except RequestRefused as error:
        return error
    return RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def check_distinct(name: str, other: str | None) -> None:
    """Check that a new topic has no collision with another (`Topics.collision`). Raises RequestRefused."""
    if other is not None:
        why = f"Topic '{name}' collides with existing topic: {other}"
        raise RequestRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, why)


def _unified(name: str) -> str:
    return name.replace(".", "_")
