"""The hash of the subscribed topics, against Kafka's own class and against what a running broker wrote down."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from assignors.model import TopicSpec
from coordinator.engine.topics import TopicImage, TopicInfo, metadata_hash
from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.oracle import Oracle, running
from tests.kafka.ports import HOST
from tests.kafka.tool_host import DUMP_LOG, ToolHost

LETTERS = "abcxyz-._09"
RACKS = ("", "a", "b", "eu-west-1a", "ü", "\uff61", "\U0001f600", "\ud800")
"""The order of UTF-16 differs from that of code points: U+FF61 is after U+1F600."""


@pytest.fixture(scope="module")
def oracle(kafka_jars: Path) -> Iterator[Oracle]:
    with running(kafka_jars) as oracle:
        yield oracle


def topic(name: str, id_: int, partitions: int, *racks: tuple[str, ...]) -> TopicInfo:
    return TopicInfo(name=name, id=UUID(int=id_), partitions=partitions, racks=racks)


def signed(unsigned: int) -> int:
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


def test_two_hashes_that_kafka_computed() -> None:
    image = TopicImage.of([topic("bar", 1 << 127, 1), topic("foo", 7, 2, ("a",), ("b", "a"))])
    assert metadata_hash(("foo",), image) == -6672282823911905700
    assert metadata_hash(("foo", "bar"), image) == 3861168688466339656


def test_no_topic_at_all_is_0() -> None:
    image = TopicImage.of([topic("foo", 1, 3)])
    assert metadata_hash((), image) == metadata_hash(("missing",), image) == 0


@pytest.mark.kafka
def test_it_is_what_kafka_computes(oracle: Oracle) -> None:
    random = Random(20)
    for _ in range(50):
        topics = [some_topic(random) for _ in range(random.randint(0, 6))]
        topics = list(TopicImage.of(topics).topics.values())
        hashes, together = oracle.metadata_hashes(specs(topics))
        assert {one.name: signed(one.metadata_hash) for one in topics} == hashes
        assert metadata_hash([one.name for one in topics], TopicImage.of(topics)) == together


@pytest.mark.kafka
def test_it_is_what_a_broker_writes_down(broker: Broker, tools: ToolHost) -> None:
    group, names = fresh_name("hashed"), [fresh_name("one"), fresh_name("two")]
    image = asyncio.run(joined(broker, group, names))
    logs = ",".join(map(str, broker.data.glob("__consumer_offsets-*/*.log")))
    dumped = tools.run(DUMP_LOG, "--offsets-decoder", "--files", logs).stdout
    written = re.findall(rf'"type":"3","data":{{"groupId":"{group}"}}.*"metadataHash":(-?\d+)', dumped)
    assert written == [str(metadata_hash(names, image))]


async def joined(broker: Broker, group: str, names: list[str]) -> TopicImage:
    """Let a member subscribe to new topics, one of them of three partitions; the topics as the broker has them."""
    cluster = Cluster(await Peer.connect(HOST, broker.port))
    while (await cluster.ask("FindCoordinator", 3, key=group))["error_code"]:
        await asyncio.sleep(0.1)
    counts = dict.fromkeys(names, 1) | {names[0]: 3}
    await cluster.create(counts)
    await cluster.wait_for_coordinator(counts)
    await cluster.ask(
        "ConsumerGroupHeartbeat",
        1,
        group_id=group,
        member_id="m",
        instance_id=None,
        rack_id=None,
        rebalance_timeout=1000,
        subscribed_topic_names=names,
        server_assignor=None,
        topic_partitions=[],
    )
    ids = await cluster.ids(names)
    await cluster.close()
    racks = (("a",),)  # broker.rack of the rig
    return TopicImage.of(
        TopicInfo(name=name, id=ids[name], partitions=count, racks=racks * count)
        for name, count in counts.items()
    )


def some_topic(random: Random) -> TopicInfo:
    name = "".join(random.choices(LETTERS, k=random.choice((1, 7, 60, 249))))
    partitions = random.choice((1, 2, 12, 300))
    racks = tuple(tuple(random.choices(RACKS, k=random.randint(0, 3))) for _ in range(partitions))
    return topic(name, random.getrandbits(128), partitions, *(racks if random.random() < 0.7 else ()))


def specs(topics: Sequence[TopicInfo]) -> list[TopicSpec]:
    return [
        TopicSpec(name=one.name, partitions=one.partitions, id=one.id, racks=one.racks or None)
        for one in topics
    ]
