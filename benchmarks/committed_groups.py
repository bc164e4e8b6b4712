"""Servers with thousands of groups that have only committed: 100 offsets each, all of which lag."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Producer

from tests.cli.served_data import serving
from tests.kafka.broker import Broker, RunningBroker
from tests.kafka.commits import QUICK_COORDINATOR
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.java import ALL_COMPILERS
from tests.kafka.topics import create_topics
from wire.client.cluster import KafkaClient
from wire.client.groups import list_groups
from wire.client.offsets import NewOffset, commit_offsets
from wire.client.security import ConnectionSettings

TOPICS, PARTITIONS, RECORDS = 10, 100, 500
VARIANTS = 100  # of the offsets of a group
LOADED_AT_ONCE = 500
KOHORT = str(Path(sys.executable).with_name("kohort"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What a command is measured on: a server, its number of groups, and a directory for files."""

    server: str  # "Kafka" or "serve"
    bootstrap: str
    groups: int
    scratch: Path

    def live(self, *words: str) -> list[str]:
        return [KOHORT, *words, "-b", self.bootstrap, "--timeout", "600s"]


@contextmanager
def running(server: str, bootstrap: str | None, scratch: Path) -> Iterator[str]:
    """A server with topics, or the one that runs already."""
    if bootstrap is not None:
        yield bootstrap
        return
    broker = Broker(fetch(), scratch / "broker", QUICK_COORDINATOR, heap_mb=2048, options=[ALL_COMPILERS])
    try:
        if server == "Kafka":
            broker.start()
            wait_for_coordinator(broker)
            fill(broker)
            yield broker.bootstrap
        else:
            with serving(None) as served:
                fill(served)
                yield served.bootstrap
    finally:
        broker.stop()


def fill(broker: RunningBroker) -> None:
    create_topics(broker, {f"orders-{number}": PARTITIONS for number in range(TOPICS)})
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50})
    for topic in range(TOPICS):
        for number in range(PARTITIONS * RECORDS):
            producer.produce(f"orders-{topic}", b"", partition=number % PARTITIONS)
        producer.flush(60)


def load(cluster: Cluster) -> None:
    """Commit the offsets of the groups that are missing: many requests in flight, without members."""
    began_s = time.perf_counter()
    variants = [
        {
            (f"orders-{number % TOPICS}", partition): NewOffset(
                offset=(number * 37 + partition * 13) % (RECORDS - 1) + 1
            )
            for partition in range(PARTITIONS)
        }
        for number in range(VARIANTS)
    ]
    with KafkaClient(ConnectionSettings(bootstrap_servers=(cluster.bootstrap,))) as client:
        present = sum(group.group_id.startswith("group-") for group in list_groups(client).groups)
        if present > cluster.groups:
            raise SystemExit(f"{cluster.bootstrap} has {present:,} groups, more than {cluster.groups:,}")
        for start in range(present, cluster.groups, LOADED_AT_ONCE):
            numbers = range(start, min(start + LOADED_AT_ONCE, cluster.groups))
            committed = commit_offsets(
                client, {f"group-{number:05}": variants[number % VARIANTS] for number in numbers}
            )
            refused = [each for found in committed.found.values() for each in found.values() if each]
            if committed.failed or refused:
                raise SystemExit(f"offsets were not committed: {committed.failed or refused[0]}")
    offsets, seconds = (cluster.groups - present) * PARTITIONS, time.perf_counter() - began_s
    print(f"{cluster.server}, {cluster.groups:,} groups: {offsets:,} offsets in {seconds:.0f} s", flush=True)
