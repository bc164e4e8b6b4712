"""States of groups that the fleet has not, on a broker where nothing else changes while both tools look."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.kafka.broker import Broker
from tests.kafka.connect import join_and_wait, join_connect_group
from tests.kafka.groups import wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.raw_consumer import RawConsumer
from tests.migration.raw_group import RawGroup

RECORDS = 4
"""In every partition of every topic."""
TOPICS = {"t": 1, "orders": 12, "a-topic-with-a-name-that-is-longer-than-the-column": 2}
LONG = "a-topic-with-a-name-that-is-longer-than-the-column"
SILENCE = {
    f"group.consumer.{which}session.timeout.ms": str(timedelta(minutes=10) // timedelta(milliseconds=1))
    for which in ("", "max.")
}
"""Settings of the broker: members that send no heartbeats stay for longer than a test looks."""
ODD = "grüße %s %n 日本 𝄞\u0301"


@contextmanager
def quiet_cluster(broker: Broker, jars: Path, host: JavaHost, scratch: Path) -> Iterator[Mapping[str, str]]:
    """Bring the groups about, and give their names by what is the matter with them. `short` (its name, its topic's
    too), `odd` (a name that is not ASCII), `completing` (waits for its leader), `unused` (its member has gone and
    committed nothing), `left` (the same of a group of type consumer, with offsets), `partial` (owns partitions
    without offsets, has offsets of partitions without an owner), `connect`, `preparing` (waits for two members to
    join again), `reconciling` (waits for a member to give partitions up)."""
    create_topics(broker, TOPICS)
    _produce(broker)
    _commit(broker, "g", [("t", 0, 4)])
    _commit(broker, ODD, [("t", 0, 1), *((LONG, number, 2) for number in range(2))])
    _commit(broker, "partial", [("orders", 11, 1), ("orders", 2, 4), (LONG, 1, 0), ("t", 0, 3)])
    join_and_wait(broker, "completing", "consumer")
    join_connect_group(broker, "connect")
    _rebalance(broker)
    members = Members(host, jars, scratch)
    try:
        for group, settings in (
            ("unused", {"enable_auto_commit": "false"}),
            ("left", {"group_protocol": "consumer", "auto_commit_interval_ms": 100}),
        ):
            member = members.confluent(broker, group, ["t"], **settings)
            member.wait_assignment({"t": [0]})
            member.stop()
            wait_group(broker, group, members=0, state="Empty")
        for name in ("one", "two"):
            members.confluent(broker, "partial", ["orders", "t"], name, enable_auto_commit="false")
        wait_group(broker, "partial", members=2, state="Stable")
        yield {
            "short": "g", "odd": ODD, "topic": "orders",
            **{name: name for name in ("partial", "completing", "connect", "unused", "left")},
            **{name: name for name in ("preparing", "reconciling")},
        }  # fmt: skip
    finally:
        members.end()


def _rebalance(broker: Broker) -> None:
    """Leave a group of each protocol in the middle of a rebalance."""
    classic = RawGroup(broker=broker, id="preparing", topic="t")
    classic.grow(2)
    classic.start_joining([classic.new_id()])
    first, second = (RawConsumer(broker=broker, group="reconciling", topics=("orders",)) for _ in range(2))
    first.join()
    wait_until(lambda: first.has(TOPICS["orders"]), "the first member owns every partition")
    second.join()
    first.heartbeat()
    wait_group(broker, "preparing", members=3, state="PreparingRebalance")
    wait_group(broker, "reconciling", members=2, state="Reconciling")


def properties_files(folder: Path) -> dict[str, str]:
    """Files of properties by what is the matter with them: their paths."""
    contents = {
        "fine": b"# \xc3\xa4\r\nclient.\\\r\n  id=of\\u0066ice\r\nrequest.timeout.ms : 20000\r\n",
        "own_key": b"client.id=office\nmy.own=1\nbootstrap.resolve.timeout.ms=1\n",
        "unknown_key": b"client.id=office\nsasl.pasword=1\n",
        "no_text": b"client.id=\xff\n",
        "no_number": b"request.timeout.ms=soon\n",
    }
    paths = {name: folder / f"of an {name}, \u00e4.properties" for name in contents}
    for name, content in contents.items():
        paths[name].write_bytes(content)
    return {name: str(path) for name, path in paths.items()}


@contextmanager
def steering_group(broker: Broker) -> Iterator[str]:
    """Bring about a group with offsets whose name holds control characters, and delete it in the end."""
    name = "\x1b[31m"
    _commit(broker, name, [("t", 0, 1)])
    try:
        yield name
    finally:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.delete_consumer_groups([name])[name].result()


def _produce(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for topic, partitions in TOPICS.items():
        for number in range(RECORDS * partitions):
            producer.produce(topic, value=b"", partition=number % partitions)
    producer.flush(30)


def _commit(broker: Broker, group: str, offsets: list[tuple[str, int, int]]) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    consumer.commit(offsets=[TopicPartition(*partition) for partition in offsets], asynchronous=False)
    consumer.close()
