"""Where partitions are: their replicas, and which broker leads each of them.

Theory of operation. All brokers work on one storage, so that a replica is but a name, and in sync while its broker is
there. Of a topic whose replicas nobody has given, the leaders take turns, from another broker on for every topic; the
other replicas follow, in another rack each as far as there are racks.

A partition is led by its first replica until that broker leaves, then by another replica. Where none is left, another
broker takes its place until one of them is back; Kafka's partition has no leader then. Leader epochs are with the
records (`coordinator.partitions`): every change of the leader that is reported here begins another one.

Source: StripedReplicaPlacer, PartitionChangeBuilder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple, TypeAlias
from zlib import crc32

Replicas: TypeAlias = tuple[int, ...]
"""Node ids, preferred leader first."""

NOBODY = -1
"""The leader of a partition when no broker is there."""


class Place(NamedTuple):
    """A partition as Metadata shows it; brokers by their node ids."""

    leader: int
    replicas: Replicas
    in_sync: Replicas
    offline: Replicas


class Placement:
    """See the module. `racks` are by node id; None: the broker has none."""

    def __init__(self, racks: Mapping[int, str | None]) -> None:
        self._order = _alternating(racks)
        self._given: dict[str, Sequence[Replicas]] = {}
        """Where they are not as `_turn` has them with one replica."""
        self._led: dict[tuple[str, int], int] = {}
        """The leader, where it is not the first replica or has not always been."""
        self._away: set[int] = set()

    @property
    def present(self) -> list[int]:
        """The brokers that are there, ascending."""
        return sorted(each for each in self._order if each not in self._away)

    def choose(self, topic: str, partitions: Iterable[int], factor: int) -> list[Replicas]:
        """Replicas for partitions of a topic, on brokers that are there first; `factor` is no more than all brokers."""
        brokers = [each for each in self._order if each not in self._away]
        away = tuple(each for each in self._order if each in self._away)
        missing = max(0, factor - len(brokers))
        turns = [
            _turn(brokers, topic, number, factor - missing) + away[:missing] for number in range(len(brokers))
        ]
        return [turns[number % len(turns)] for number in partitions]

    def is_usual(self, topic: str, replicas: Sequence[Replicas]) -> bool:
        """Whether partitions are where they are without `put`, when all brokers are there."""
        return all(each == _turn(self._order, topic, number, 1) for number, each in enumerate(replicas))

    def put(self, topic: str, replicas: Sequence[Replicas]) -> None:
        """Place all partitions of a topic."""
        self._given[topic] = replicas

    def forget(self, topic: str) -> None:
        """The topic is deleted."""
        self._given.pop(topic, None)
        for key in [each for each in self._led if each[0] == topic]:
            del self._led[key]

    def replicas(self, topic: str, partition: int) -> Replicas:
        """Of a partition that exists."""
        given = self._given.get(topic)
        return _turn(self._order, topic, partition, 1) if given is None else given[partition]

    def leader(self, topic: str, partition: int) -> int:
        """Of a partition that exists; NOBODY when all brokers are away."""
        led = self._led.get((topic, partition))
        return self.replicas(topic, partition)[0] if led is None else led

    def place(self, topic: str, partition: int) -> Place:
        """All there is to show of a partition that exists."""
        replicas = self.replicas(topic, partition)
        leader = self.leader(topic, partition)
        if leader != NOBODY and leader not in replicas:
            replicas = (leader,)
        in_sync = tuple(each for each in replicas if each not in self._away)
        offline = tuple(each for each in replicas if each in self._away)
        return Place(leader, replicas, in_sync, offline)

    def move(self, topic: str, partition: int, broker: int) -> None:
        """Let a broker that is there lead a partition of a topic that was put.

        One that has no replica takes that of the last.
        """
        replicas = self._given[topic][partition]
        if broker not in replicas:
            given = list(self._given[topic])
            given[partition] = (broker, *replicas[:-1])
            self._given[topic] = given
        self._led[topic, partition] = broker

    def reassign(self, topic: str, partition: int, placed: Sequence[Replicas]) -> bool:
        """Place all partitions of a topic, of which one has other brokers; whether another one leads it for that."""
        before = self.leader(topic, partition)
        self._given[topic] = placed
        present = [each for each in placed[partition] if each not in self._away]
        self._led[topic, partition] = before if before in placed[partition] or not present else present[0]
        return self.leader(topic, partition) != before

    def elect_preferred(self, topic: str, partition: int) -> bool:
        """Let the first replica lead; whether it did not, and is there."""
        preferred = self.replicas(topic, partition)[0]
        if preferred in self._away or self.leader(topic, partition) == preferred:
            return False
        self._led[topic, partition] = preferred
        return True

    def leave(self, broker: int, topics: Mapping[str, int]) -> list[tuple[str, int]]:
        """The broker is gone; the partitions, of topics with so many, that have another leader for it."""
        self._away.add(broker)
        return list(self._elect(topics))

    def come(self, broker: int, topics: Mapping[str, int]) -> list[tuple[str, int]]:
        """The broker is back; as `leave`. It leads what nobody led in its place, but for a partition's only replica."""
        self._away.discard(broker)
        return list(self._elect(topics))

    def _elect(self, topics: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """Give a new leader to every partition that needs one."""
        brokers = [each for each in self._order if each not in self._away]
        for topic, count in topics.items():
            for number in range(count):
                leader, replicas = self.leader(topic, number), self.replicas(topic, number)
                present = [each for each in replicas if each not in self._away]
                if leader in present or (not present and leader in brokers):
                    continue
                chosen = present or _turn(brokers, topic, number, 1) if brokers else (NOBODY,)
                if chosen[0] != leader:
                    self._led[topic, number] = chosen[0]
                    yield topic, number


def _turn(brokers: Sequence[int], topic: str, partition: int, factor: int) -> Replicas:
    start = crc32(topic.encode("utf-8", "surrogatepass")) + partition
    return tuple(brokers[(start + each) % len(brokers)] for each in range(factor))


def _alternating(racks: Mapping[int, str | None]) -> list[int]:
    """All brokers, neighbors in other racks as far as possible."""
    by_rack: dict[str | None, list[int]] = {}
    for broker, rack in racks.items():
        by_rack.setdefault(rack, []).append(broker)
    return [each for each in chain.from_iterable(zip_longest(*by_rack.values())) if each is not None]
