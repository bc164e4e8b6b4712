"""The replicas of partitions, in sync while their broker runs, and the leader of each: round-robin, over racks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple, TypeAlias
from zlib import crc32

Replicas: TypeAlias = tuple[int, ...]  # Node ids, preferred leader first

NO_LEADER = -1  # the leader of a partition when no broker is running


class PartitionReplicas(NamedTuple):
    """A partition as Metadata shows it; brokers by their node ids."""

    leader: int
    replicas: Replicas
    in_sync: Replicas
    offline: Replicas


class Placement:
    """See the module. `racks` are by node id; None: the broker has none."""

    def __init__(self, racks: Mapping[int, str | None]) -> None:
        self._order = _alternating(racks)
        self._given: dict[str, Sequence[Replicas]] = {}  # other than round-robin with one replica
        self._led: dict[tuple[str, int], int] = {}  # if it is not the first replica, or once was not
        self._away: set[int] = set()

    @property
    def present(self) -> list[int]:
        return sorted(broker for broker in self._order if broker not in self._away)

    def choose(self, topic: str, partitions: Iterable[int], factor: int) -> list[Replicas]:
        """Replicas for partitions of a topic, on running brokers first; `factor` is at most the number of brokers."""
        brokers = [broker for broker in self._order if broker not in self._away]
        waiting = tuple(broker for broker in self._order if broker in self._away)
        away = waiting[: max(0, factor - len(brokers))]
        count = factor - len(away)
        turns = [_round_robin(brokers, topic, number, count) + away for number in range(len(brokers))]
        return [turns[number % len(turns)] for number in partitions]

    def is_usual(self, topic: str, replicas: Sequence[Replicas]) -> bool:
        """Whether the assignment equals the default one (without `put`) when all brokers are running."""
        usual = [_round_robin(self._order, topic, number, 1) for number in range(len(replicas))]
        return list(replicas) == usual

    def put(self, topic: str, replicas: Sequence[Replicas]) -> None:
        self._given[topic] = replicas

    def forget(self, topic: str) -> None:
        self._given.pop(topic, None)
        for key in [partition for partition in self._led if partition[0] == topic]:
            del self._led[key]

    def replicas(self, topic: str, partition: int) -> Replicas:
        assigned = self._given.get(topic)
        return _round_robin(self._order, topic, partition, 1) if assigned is None else assigned[partition]

    def leader(self, topic: str, partition: int) -> int:
        led = self._led.get((topic, partition))
        return self.replicas(topic, partition)[0] if led is None else led

    def place(self, topic: str, partition: int) -> PartitionReplicas:
        replicas = self.replicas(topic, partition)
        leader = self.leader(topic, partition)
        if leader != NO_LEADER and leader not in replicas:
            replicas = (leader,)
        in_sync = tuple(replica for replica in replicas if replica not in self._away)
        offline = tuple(replica for replica in replicas if replica in self._away)
        return PartitionReplicas(leader, replicas, in_sync, offline)

    def move(self, topic: str, partition: int, broker: int) -> None:
        """Make a running broker lead a partition; without a replica it replaces the last one."""
        replicas = self._given[topic][partition]
        if broker not in replicas:
            moved = list(self._given[topic])
            moved[partition] = (broker, *replicas[:-1])
            self._given[topic] = moved
        self._led[topic, partition] = broker

    def reassign(self, topic: str, partition: int, placed: Sequence[Replicas]) -> bool:
        """Assign all partitions of a topic; only `partition` has new brokers. Returns whether its leader changed."""
        before = self.leader(topic, partition)
        self._given[topic] = placed
        present = [broker for broker in placed[partition] if broker not in self._away]
        self._led[topic, partition] = before if before in placed[partition] or not present else present[0]
        return self.leader(topic, partition) != before

    def elect_preferred(self, topic: str, partition: int) -> bool:
        """Make the first replica the leader, if it is running. Returns whether the leader has changed."""
        preferred = self.replicas(topic, partition)[0]
        if preferred in self._away or self.leader(topic, partition) == preferred:
            return False
        self._led[topic, partition] = preferred
        return True

    def stop(self, broker: int, topics: Mapping[str, int]) -> list[tuple[str, int]]:
        """Stop a broker. Returns the partitions with a new leader. `topics`: partition counts of all topics."""
        self._away.add(broker)
        return list(self._elect(topics))

    def restart(self, broker: int, topics: Mapping[str, int]) -> list[tuple[str, int]]:
        """Restart a broker; as `stop`. It leads partitions without a leader, and partitions with no other replica."""
        self._away.discard(broker)
        return list(self._elect(topics))

    def _elect(self, topics: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        brokers = [broker for broker in self._order if broker not in self._away]
        for topic, count in topics.items():
            for number in range(count):
                leader, replicas = self.leader(topic, number), self.replicas(topic, number)
                present = [replica for replica in replicas if replica not in self._away]
                if leader in present or (not present and leader in brokers):
                    continue
                chosen = present or _round_robin(brokers, topic, number, 1) if brokers else (NO_LEADER,)
                if chosen[0] != leader:
                    self._led[topic, number] = chosen[0]
                    yield topic, number


def _round_robin(brokers: Sequence[int], topic: str, partition: int, factor: int) -> Replicas:
    start = crc32(topic.encode("utf-8", "surrogatepass")) + partition
    return tuple(brokers[(start + replica) % len(brokers)] for replica in range(factor))


def _alternating(racks: Mapping[int, str | None]) -> list[int]:
    """All brokers, neighbors in different racks as far as possible."""
    by_rack: dict[str | None, list[int]] = {}
    for broker, rack in racks.items():
        by_rack.setdefault(rack, []).append(broker)
    return [node for node in chain.from_iterable(zip_longest(*by_rack.values())) if node is not None]
