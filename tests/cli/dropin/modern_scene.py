"""Groups of the newer types on the broker that all tests share, for the tools that only these have."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer

from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.tool_host import SHARE_GROUPS, ToolHost
from tests.kafka.topics import create_topics

PARTITIONS, RECORDS = 3, 4


@contextmanager
def modern_groups(
    broker: Broker, jars: Path, host: JavaHost, tools: ToolHost, scratch: Path
) -> Iterator[Mapping[str, str]]:
    """`sharing` and `counting` have a member, `shared` has only offsets; `orders` is the topic of all."""
    names = {name: fresh_name(name) for name in ("sharing", "counting", "shared", "orders")}
    create_topics(broker, {names["orders"]: PARTITIONS})
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS * PARTITIONS):
        producer.produce(names["orders"], value=b"", partition=number % PARTITIONS)
    producer.flush(30)
    members = Members(host, jars, scratch)
    try:
        members.share(broker, names["sharing"], [names["orders"]])
        members.streams(broker, names["counting"], [names["orders"]])
        reset = f"--reset-offsets --group {names['shared']} --topic {names['orders']} --to-earliest --execute"
        assert tools.ask(broker, SHARE_GROUPS, *reset.split()).returncode == 0
        for name in ("sharing", "counting"):
            wait_group(broker, names[name], members=1, state="Stable")
        yield names
    finally:
        members.end()
