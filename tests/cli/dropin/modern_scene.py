"""Groups of the newer types on the broker that all tests share, for the tools that only these have."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer

from tests.cli.dropin.changing import ChangeScene
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from wire.client.cluster import KafkaClient
from wire.client.groups import delete_groups
from wire.client.offsets import alter_share_group_offsets, fetch_share_offsets
from wire.client.security import ConnectionSettings

PARTITIONS, RECORDS = 3, 4


@contextmanager
def modern_groups(broker: Broker, jars: Path, host: JavaHost, scratch: Path) -> Iterator[Mapping[str, str]]:
    """`sharing` and `counting` have a member, `shared` has only offsets, `absent` none; `orders` is a topic."""
    names = {name: fresh_name(name) for name in ("sharing", "counting", "shared", "absent", "orders")}
    create_topics(broker, {names["orders"]: PARTITIONS})
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS * PARTITIONS):
        producer.produce(names["orders"], value=b"", partition=number % PARTITIONS)
    producer.flush(30)
    members = Members(host, jars, scratch)
    try:
        members.share(broker, names["sharing"], [names["orders"]])
        members.streams(broker, names["counting"], [names["orders"]])
        with share_scene(broker, names) as scene:
            scene.lay()
        for name in ("sharing", "counting"):
            wait_group(broker, names[name], members=1, state="Stable")
        yield names
    finally:
        members.end()


@contextmanager
def share_scene(broker: Broker, names: Mapping[str, str]) -> Iterator[ChangeScene]:
    """The share groups that can be changed: `shared` is at the first record of each partition, `absent` is not
    there."""
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as client:
        groups = [names["shared"], names["absent"]]

        def lay() -> None:
            delete_groups(client, groups)
            starts = {(names["orders"], number): 0 for number in range(PARTITIONS)}
            altered = alter_share_group_offsets(client, {names["shared"]: starts})
            assert not any(altered.found[names["shared"]].values())

        yield ChangeScene(names=names, lay=lay, state=lambda: fetch_share_offsets(client, groups))
