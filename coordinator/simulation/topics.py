"""The state that a run starts with, and the topics of a simulated cluster: which exist, and where their logs end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, UUID, uuid5

from assignors.streams.assignor import StreamsGroupSpec
from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.simulation.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedClient:
    """The client of a member, as the coordinator knows it."""

    id: str
    host: str = "/127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialState:
    """See the module. The default is an empty log and empty topics at 0 ms."""

    at_ms: int = 0
    log: tuple[Record, ...] = ()  # The log of the simulation's one group (`consumers.GROUP`).
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)
    """By topic; if missing, an id is derived from the topic's name."""
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    """The next offset of a partition; 0 if missing."""
    clients: Mapping[str, SimulatedClient] = field(default_factory=dict)
    """By member; if missing, the member's name is its client id."""
    histories: Mapping[str, Partitions] = field(default_factory=dict)
    """By classic member: the last assignment of its earlier process, which it claims when it joins."""
    streams: StreamsGroupSpec | None = None
    """The application of Kafka Streams whose threads the members are (`StreamsApplication`)."""


class SimulatedTopics:
    """Topics. Records are written to every partition from its creation, at the rate `records_per_s`."""

    def __init__(
        self,
        schedule: Schedule,
        partitions: Mapping[str, int],
        records_per_s: float,
        ids: Mapping[str, UUID],
        offsets: Mapping[TopicPartition, int],
    ) -> None:
        """`ids` and `offsets`: see `InitialState`."""
        self._schedule, self._per_ms = schedule, records_per_s / 1000
        self._ids, self._offsets = dict(ids), dict(offsets)
        self._starts: dict[TopicPartition, tuple[int, int]] = {}
        """When each partition was created, and the offset of its first record then."""
        self._incarnations: dict[str, int] = {}
        self.image = TopicImage()
        for name, count in partitions.items():
            self.change(name, count)

    def change(self, name: str, partitions: int | None, *, recreated: bool = False) -> list[TopicPartition]:
        """Create, grow or (None) delete a topic. Returns deleted partitions, including those of a `recreated` topic."""
        old = self.image.topics.get(name)
        gone: list[TopicPartition] = []
        if old is not None and (partitions is None or recreated):
            gone = [TopicPartition(name, number) for number in range(old.partitions)]
            for partition in gone:
                del self._starts[partition]
                self._offsets.pop(partition, None)
            old = None
        topics = {
            other: topic for other, topic in self.image.topics.items() if other != name or old is not None
        }
        if partitions is not None:
            if old is None:
                self._incarnations[name] = self._incarnations.get(name, 0) + 1
            fresh_id = uuid5(NAMESPACE_URL, f"{name}/{self._incarnations[name]}")
            topic_id = self._ids.pop(name, fresh_id)
            topics[name] = TopicInfo(name=name, id=topic_id, partitions=partitions)
            for number in range(partitions):
                partition = TopicPartition(name, number)
                start = self._schedule.now_ms, self._offsets.get(partition, 0)
                self._starts.setdefault(partition, start)
        self.image = TopicImage(topics=topics, version=self.image.version + 1)
        return gone

    def end(self, partition: TopicPartition) -> int:
        """The offset of the next record; 0 if the partition does not exist."""
        return self.ends((partition,))[0]

    def ends(self, partitions: Iterable[TopicPartition]) -> list[int]:
        """The same of several."""
        starts, now_ms, ends = self._starts, self._schedule.now_ms, []
        created_ms, written = now_ms, 0  # Most partitions were created at the same time
        for partition in partitions:
            start = starts.get(partition)
            if start is None:
                ends.append(0)
                continue
            if start[0] != created_ms:
                created_ms = start[0]
                written = int((now_ms - created_ms) * self._per_ms)
            ends.append(start[1] + written)
        return ends

    def exists(self, partition: TopicPartition) -> bool:
        return partition in self._starts

    def name(self, topic: UUID) -> str:
        return self.image.names.get(topic) or str(topic)
