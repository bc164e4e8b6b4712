"""A stable group of every kind on the real broker, with committed offsets, for the commands to read."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.kafka.broker import Broker
from tests.kafka.connect import join_connect_group
from tests.kafka.groups import describe, wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until

JAVA = "org.apache.kafka.clients.consumer."
REST_MS = 2_000
"""How often stable members poll, fetch and send heartbeats: at Kafka's own pace nineteen of them keep a quarter of a
processor busy for as long as the tests run."""
PARTITIONS = 6
RECORDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Group ids by kind; `topic` is what all of them read, `prefix` begins every name."""

    broker: Broker
    prefix: str
    topic: str
    groups: Mapping[str, str]

    @property
    def consumer_groups(self) -> list[str]:
        """The ids that kafka-consumer-groups knows: not share, streams and connect groups."""
        return [name for kind, name in self.groups.items() if kind not in ("share", "streams", "connect")]


@contextmanager
def running_fleet(broker: Broker, jars: Path, host: JavaHost, scratch: Path) -> Iterator[Fleet]:
    prefix = fresh_name("fleet")
    topic = f"{prefix}-orders"
    create_topics(broker, {topic: PARTITIONS})
    _produce(broker, topic)
    members = Members(host, jars, scratch)
    groups: dict[str, str] = {}
    try:
        for kind, (count, start) in MEMBERS.items():
            groups[kind] = f"{prefix}-{kind}"
            for position in range(count):
                start(members, broker, groups[kind], topic, position)
        groups["connect"] = f"{prefix}-connect"
        join_connect_group(broker, groups["connect"])
        groups["simple"] = f"{prefix}-simple"
        _commit(broker, groups["simple"], topic)
        for kind, (count, _) in MEMBERS.items():
            # A share group is Stable before its partitions are there, and bumps its epoch when they are.
            wait_until(partial(_all_assigned, broker, groups[kind]), f"{groups[kind]} owns everything")
            wait_group(broker, groups[kind], members=count, state="Stable")
        fleet = Fleet(broker=broker, prefix=prefix, topic=topic, groups=groups)
        for kind, group in groups.items():
            if kind not in ("share", "connect", "simple"):
                wait_until(partial(_all_committed, broker, group, topic), f"{group} has committed")
        yield fleet
    finally:
        members.end()


Start = Callable[[Members, Broker, str, str, int], object]


def _confluent(pattern: str = "{}", **settings: Any) -> Start:
    return lambda members, broker, group, topic, _: members.confluent(
        broker, group, [pattern.format(topic)], auto_commit_interval_ms=200,
        **_resting(settings, "fetch_wait_max_ms"),
    )  # fmt: skip


def _java(**settings: Any) -> Start:
    return lambda members, broker, group, topic, _: members.java(
        broker, group, [topic], commit_when_consumed=True, poll_ms=REST_MS, enable_auto_commit="false",
        **_resting(settings, "fetch_max_wait_ms"),
    )  # fmt: skip


def _resting(settings: Mapping[str, Any], wait: str) -> dict[str, Any]:
    """Settings of a member that has nothing to do; with the newer protocol the broker sets the heartbeat."""
    is_classic = settings.get("group_protocol") != "consumer"
    return {wait: REST_MS, **({"heartbeat_interval_ms": REST_MS} if is_classic else {}), **settings}


def _static(members: Members, broker: Broker, group: str, topic: str, position: int) -> object:
    strategy = f"{JAVA}StickyAssignor"
    start = _java(group_instance_id=f"seat-{position}", partition_assignment_strategy=strategy)
    return start(members, broker, group, topic, position)


def _mixed(members: Members, broker: Broker, group: str, topic: str, position: int) -> object:
    """The second one converts a stable group: one in its first rebalance answers UNKNOWN_SERVER_ERROR."""
    if position == 0:
        return _java()(members, broker, group, topic, position)
    wait_group(broker, group, members=position, state="Stable")
    return _java(group_protocol="consumer")(members, broker, group, topic, position)


def _streams(members: Members, broker: Broker, group: str, topic: str, _: int) -> object:
    return members.streams(
        broker, group, [topic], commit_interval_ms=200, consumer_fetch_max_wait_ms=REST_MS, poll_ms=REST_MS
    )


def _share(members: Members, broker: Broker, group: str, topic: str, _: int) -> object:
    return members.share(broker, group, [topic], poll_ms=REST_MS, fetch_max_wait_ms=REST_MS)


MEMBERS: dict[str, tuple[int, Start]] = {
    "confluent-range": (2, _confluent(partition_assignment_strategy="range")),
    "confluent-cooperative": (2, _confluent(partition_assignment_strategy="cooperative-sticky")),
    "confluent-consumer": (2, _confluent(group_protocol="consumer")),
    "confluent-regex": (1, _confluent("^{}$")),
    "consumer-regex": (1, _confluent("^{}$", group_protocol="consumer")),
    "java-range": (2, _java(partition_assignment_strategy=f"{JAVA}RangeAssignor")),
    "java-cooperative": (2, _java(partition_assignment_strategy=f"{JAVA}CooperativeStickyAssignor")),
    "java-consumer": (1, _java(group_protocol="consumer", client_rack="a")),
    "java-static": (2, _static),
    "mixed": (2, _mixed),
    "share": (1, _share),
    "streams": (1, _streams),
}
"""How many members, and how one is started."""


def _produce(broker: Broker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number, partition in zip(range(RECORDS), itertools.cycle(range(PARTITIONS)), strict=False):
        producer.produce(topic, value=str(number).encode(), partition=partition)
    producer.flush(30)


def _commit(broker: Broker, group: str, topic: str) -> None:
    """Offsets without a member, as a tool commits them; the last partition is left out."""
    places = [TopicPartition(topic, number, 3 + number, metadata=f"m|{number}") for number in range(5)]
    with closing(Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})) as consumer:
        consumer.commit(offsets=places, asynchronous=False)


def _all_assigned(broker: Broker, group: str) -> bool:
    view = describe(broker, group)
    parts = [numbers for member in view.members for numbers in member.assignment.values()] if view else []
    return sorted(itertools.chain.from_iterable(parts)) == list(range(PARTITIONS))


def _all_committed(broker: Broker, group: str, topic: str) -> bool:
    """Whether the group has read everything, so that its offsets stay as they are."""
    with closing(Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})) as consumer:
        committed = consumer.committed([TopicPartition(topic, p) for p in range(PARTITIONS)], timeout=10)
    return all(partition.offset == RECORDS // PARTITIONS for partition in committed)
