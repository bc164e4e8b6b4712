"""A broker of a release with groups of every type that it has, and what its own AdminClient says of them."""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from pipeline.sources.jars import filled
from tests.cli.command import Answer, Kohort
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.jars import fetch
from tests.kafka.java import java
from tests.kafka.java_host import JavaHost
from tests.kafka.member import Member
from tests.kafka.members import Members
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.matrix.versions import Release
from wire.client.cluster import KafkaClient
from wire.client.offsets import fetch_offsets, fetch_share_offsets
from wire.client.security import ConnectionSettings

ADMIN = Path(__file__).with_name("java") / "Admin.java"
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
TOPICS = {"orders": 4, "payments": 3}
RECORDS = 20
"""In each partition."""

OFTEN_MS = 200
"""Offsets are compared once everything is consumed, and that is soon."""

Groups = dict[str, str]


@dataclass(kw_only=True)
class Scene:
    """What a check gets. `groups`: type by group; each has members but `idle`, which has only committed offsets."""

    release: Release
    broker: Broker
    jars: Path
    kohort: Kohort
    groups: Groups
    scratch: Path

    def ask(self, line: str, *more: str) -> Answer:
        return self.kohort(*line.split(), *more, "--bootstrap-server", self.broker.bootstrap)

    def asked(self, line: str, *more: str) -> dict[str, Any]:
        return self.ask(line, *more, "--output", "json").succeeded().document

    def names(self, *types: str) -> list[str]:
        return [name for name, kind in self.groups.items() if kind in types]

    def admin(self) -> dict[str, Any]:
        """What the AdminClient of the broker's own release says of classic and consumer groups."""
        done = subprocess.run(
            java(
                self.jars,
                "Admin",
                self.broker.bootstrap,
                *self.names("classic", "consumer"),
                classes=_compiled(self.jars),
                options=("-Dorg.slf4j.simpleLogger.defaultLogLevel=off",),
            ),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        document: dict[str, Any] = json.loads(done.stdout)
        return document


def _compiled(jars: Path) -> Path:
    def compile_into(directory: Path) -> None:
        command = ["javac", "-proc:none", "-nowarn", "-d", str(directory), "-cp", str(jars / "*"), str(ADMIN)]
        subprocess.run(command, capture_output=True, check=True)

    stamp = f"{ADMIN.stat().st_mtime_ns:x}"
    return filled(jars.parent / f"admin-{stamp}", compile_into)


@contextmanager
def scene(release: Release, clients: Path, directory: Path, said: Callable[[str], None]) -> Iterator[Scene]:
    """Start a broker of `release` and groups on it; `clients` are the jars of the Java consumers."""
    jars = fetch(release.version)
    broker = Broker(jars, directory, release.settings, features=release.features)
    with ExitStack() as stack:
        stack.callback(broker.crash)
        said("starts a broker")
        broker.start()
        wait_for_coordinator(broker)
        create_topics(broker, TOPICS)
        _produce(broker)
        host = JavaHost(clients)
        stack.callback(host.crash)
        members = Members(host, clients, directory)
        stack.callback(members.crash)
        said("starts consumers")
        groups = _populate(release, broker, members)
        home = directory / "home"
        home.mkdir()
        yield Scene(
            release=release, broker=broker, jars=jars, kohort=Kohort(home), groups=groups, scratch=directory
        )


def _produce(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for topic, partitions in TOPICS.items():
        for partition in range(partitions):
            for number in range(RECORDS):
                producer.produce(topic, str(number), partition=partition)
    producer.flush()


def _populate(release: Release, broker: Broker, members: Members) -> Groups:
    """Two members in most groups; returns when all of them hold something and have committed."""
    orders = ["orders"]
    started: list[Member] = []

    def java(group: str, name: str, topics: Sequence[str] = ("orders",), **settings: Any) -> None:
        settings["auto_commit_interval_ms"] = OFTEN_MS
        started.append(members.java(broker, group, list(topics), name, **settings))

    def librdkafka(group: str, name: str, **settings: Any) -> None:
        settings["auto_commit_interval_ms"] = OFTEN_MS
        started.append(members.confluent(broker, group, orders, name, **settings))

    idle = members.confluent(broker, "idle", orders, auto_commit_interval_ms=OFTEN_MS)
    groups = {"idle": "classic", "java-eager": "classic", "java-coop": "classic", "rd-eager": "classic"}
    for number in range(2):
        java("java-eager", f"eager-{number}")
        how: dict[str, Any] = {
            "partition_assignment_strategy": COOPERATIVE,
            "group_instance_id": f"box-{number}",
        }
        java("java-coop", f"coop-{number}", ["orders", "payments"], **how)
        librdkafka("rd-eager", f"rd-{number}")
        if "consumer" in release.types:
            groups["java-new"] = "consumer"
            java("java-new", f"new-{number}", group_protocol="consumer")
    if release.since("4.0"):
        # librdkafka and regexes want ConsumerGroupHeartbeat 1, and a conversion the policy that 4.0 begins with.
        groups |= {"rd-new": "consumer", "mixed": "consumer", "regex": "consumer"}
        for number in range(2):
            librdkafka("rd-new", f"rdnew-{number}", group_protocol="consumer")
        java("regex", "re2", (), re2="pay.*", group_protocol="consumer")
        java("mixed", "mixed-new", group_protocol="consumer")
        java("mixed", "mixed-old")
    if "share" in release.types:
        groups["shared"] = "share"
        members.share(broker, "shared", orders, "share-0")
    if "streams" in release.types:
        groups["app"] = "streams"
        started.append(members.streams(broker, "app", ["payments"], "app-0"))
    # The share coordinator of 4.1 may work without an image of the metadata, and then there are none.
    if release.since("4.2"):
        _wait_share_group(broker)
    idle.wait_assignment({"orders": [0, 1, 2, 3]})
    _wait_committed(broker, "idle", 4)
    idle.stop()
    for member in started:
        wait_until(member.assignment, f"{member.name} holds something")
    return groups


def _wait_share_group(broker: Broker) -> None:
    def begun() -> bool:
        with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:
            result = fetch_share_offsets(client, ["shared"]).found.get("shared")
        return bool(result and result.topics)

    wait_until(begun, "the share group has start offsets", every_s=0.2)


def _wait_committed(broker: Broker, group: str, partitions: int) -> None:
    def committed() -> bool:
        with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:
            result = fetch_offsets(client, [group]).found.get(group)
        topics = result.topics if result else ()
        done = [one for topic in topics for one in topic.partitions if one.committed_offset == RECORDS]
        return len(done) == partitions

    wait_until(committed, f"{group} has committed the end of {partitions} partitions", every_s=0.2)
