"""Dry runs where racks decide: a cluster of two nodes in two racks, each partition in one of them.

Two brokers more than the others need: left to long runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assignors.assignor import Leader
from tests.cli.command import Kohort
from tests.cli.verbs.dry_run.live_group import Kind, LiveGroup, again_if_a_member_is_late
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.members import Members
from tests.kafka.ports import HOST
from tests.kafka.settings import NODE_ID
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]

KINDS = (
    Kind(library=Leader.JAVA, protocol="classic", assignor="range"),
    Kind(library=Leader.JAVA, protocol="classic", assignor="sticky"),
    Kind(library=Leader.JAVA, protocol="classic", assignor="cooperative-sticky"),
    Kind(library=Leader.LIBRDKAFKA, protocol="classic", assignor="range"),
    Kind(library=Leader.LIBRDKAFKA, protocol="classic", assignor="cooperative-sticky"),
    Kind(library=Leader.JAVA, protocol="consumer", assignor="uniform"),
)


@pytest.fixture(scope="module")
def two_racks(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Give the first node, in rack a, which coordinates all groups; the second, in rack b, only holds partitions."""
    first = Broker(kafka_jars, tmp_path_factory.mktemp("rack-a"))
    try:
        first.start()
        # With one node there is, the internal topic is there: the rig asks this node about groups.
        wait_for_coordinator(first)
        second = Broker(kafka_jars, tmp_path_factory.mktemp("rack-b"), _joining(first))
        try:
            second.start()
            yield first
        finally:
            second.stop()
    finally:
        first.stop()


def _joining(first: Broker) -> dict[str, str]:
    lines = (first.directory / "server.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    return {
        "process.roles": "broker",
        "node.id": str(NODE_ID + 1),
        "broker.rack": "b",
        "controller.quorum.voters": properties["controller.quorum.voters"],
        "listeners": f"CLIENT://{HOST}:0",
    }


@pytest.mark.parametrize("kind", KINDS, ids=str)
@again_if_a_member_is_late
def test_racks_decide(kohort: Kohort, two_racks: Broker, members: Members, kind: Kind) -> None:
    group = LiveGroup(kohort, two_racks, members, kind)
    topics = group.create(8, 8, 5)
    group.join(topics, client_rack="a")
    leaver, wanderer = group.join(topics, client_rack="b"), group.join(topics, client_rack="b")
    group.join(topics)
    group.settled()
    assert {rack for topic in group.state().topics.values() for rack in (topic.racks or {}).values()} == {
        ("a",),
        ("b",),
    }

    group.check_join(lambda: group.join(topics, client_rack="a"))
    group.check_leave(leaver)
    group.check_subscribe(wanderer, topics[:2])

    grown = group.dry_run("--topic-partitions", f"{topics[2]}=7")["undetermined"]
    places = [f"{topics[2]}-5", f"{topics[2]}-6"] if kind.protocol == "classic" else []
    assert [item.get("partition") for item in grown] == places
