"""A cluster of three brokers whose partitions have one replica each: with a broker its groups and topics go."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from tests.kafka.broker import Broker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.ports import HOST, free_ports
from tests.kafka.wait import wait_until
from tests.support.signals import freeze
from wire.client.cluster import KafkaClient
from wire.client.security import ConnectionSettings

HEAP_MB = 256
NODES = (1, 2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trio:
    """Three brokers by node id; the first is the controller too, and stays."""

    brokers: Mapping[int, Broker]

    @property
    def bootstrap(self) -> str:
        """All three, as an operator would name them."""
        return ",".join(broker.bootstrap for broker in self.brokers.values())

    def create_topic(self, name: str, nodes: Sequence[int]) -> None:
        """A topic with a partition on each of `nodes`."""
        admin = AdminClient({"bootstrap.servers": self.brokers[1].bootstrap, "log_level": 0})
        topic = NewTopic(name, len(nodes), replica_assignment=[[node] for node in nodes])
        for done in admin.create_topics([topic]).values():
            done.result()

        def led() -> bool:
            partitions = admin.list_topics(name, timeout=10).topics[name].partitions
            return [partitions[number].leader for number in sorted(partitions)] == list(nodes)

        wait_until(led, f"every partition of {name} has its leader", every_s=0.02)

    def commit(self, groups: Sequence[str], topic: str, offsets: Sequence[int]) -> None:
        """Commit the same offsets for every group, at their coordinators."""
        at: dict[int, list[bytes]] = {}
        for group, node in self.coordinators(groups).items():
            at.setdefault(node, []).append(commit_request(group, topic, offsets))
        for node, requests in at.items():
            send_commits(self.brokers[node], requests)

    def coordinators(self, groups: Sequence[str]) -> dict[str, int]:
        """The node that coordinates each group; all of them must have one."""
        nodes = {broker.bootstrap: node for node, broker in self.brokers.items()}
        with KafkaClient(ConnectionSettings(bootstrap_servers=(self.brokers[1].bootstrap,))) as client:
            answers = client.find_coordinators(groups)
        assert not answers.failed, answers.failed
        return {group: nodes[str(address)] for group, address in answers.found.items()}

    def freeze(self, node: int) -> None:
        """Stop a broker in its tracks: its connections stay open, and nothing is answered."""
        freeze(self.brokers[node].pid)

    def thaw(self, node: int) -> None:
        os.kill(self.brokers[node].pid, signal.SIGCONT)

    def wait_alive(self, count: int) -> None:
        """Return when `count` brokers are registered, and, of all three, every partition has a leader again."""
        admin = AdminClient({"bootstrap.servers": self.brokers[1].bootstrap, "log_level": 0})

        def settled() -> bool:
            metadata = admin.list_topics(timeout=10)
            leaders = [
                part.leader for topic in metadata.topics.values() for part in topic.partitions.values()
            ]
            alone = count < len(NODES)
            return len(metadata.brokers) == count and (alone or all(leader >= 0 for leader in leaders))

        wait_until(settled, f"{count} brokers are registered", every_s=0.02)


@contextmanager
def trio(jars: Path, directory: Path) -> Iterator[Trio]:
    *clients, controller = free_ports(len(NODES) + 1)
    brokers: dict[int, Broker] = {}
    for node, port in zip(NODES, clients, strict=True):
        home = directory / f"broker-{node}"
        home.mkdir()
        brokers[node] = Broker(jars, home, _settings(node, port, controller), heap_mb=HEAP_MB)
    cluster = Trio(brokers=brokers)
    try:
        controller_node, *others = brokers.values()
        controller_node.start()
        with ThreadPoolExecutor(len(others)) as pool:
            list(pool.map(Broker.start, others))
        for broker, port in zip(brokers.values(), clients, strict=True):
            broker.port = port
        # __consumer_offsets is made when somebody first asks for a coordinator, on the brokers that are there then.
        cluster.wait_alive(len(NODES))
        wait_for_coordinator(brokers[1])
        cluster.wait_alive(len(NODES))
        yield cluster
    finally:
        for node, broker in brokers.items():
            if broker.is_started:
                cluster.thaw(node)
        for broker in reversed(list(brokers.values())):
            broker.crash()


def _settings(node: int, port: int, controller: int) -> dict[str, str]:
    listeners = f"CLIENT://{HOST}:{port}"
    is_controller = node == NODES[0]
    return {
        "process.roles": "broker,controller" if is_controller else "broker",
        "node.id": str(node),
        "broker.rack": "abc"[node - 1],
        "controller.quorum.voters": f"{NODES[0]}@{HOST}:{controller}",
        "listeners": f"{listeners},CONTROLLER://{HOST}:{controller}" if is_controller else listeners,
        "advertised.listeners": listeners,
        "offsets.topic.num.partitions": "6",
        # One that is frozen stays a member of the cluster for as long as a test looks.
        "broker.session.timeout.ms": "120000",
        "initial.broker.registration.timeout.ms": "180000",
    }
