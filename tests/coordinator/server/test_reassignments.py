"""Partitions that other brokers take over, and leaders that are elected, with several brokers."""

from __future__ import annotations

from coordinator.server.cluster import Cluster
from tests.conformance.cluster import Cluster as Client
from tests.coordinator.server.running import asking, on_cluster


async def places(client: Client) -> list[tuple[int, list[int]]]:
    """Leader and replicas of each partition of topic t."""
    answer = await client.ask("Metadata", 12, topics=[{"name": "t", "topic_id": None}])
    (topic,) = answer["topics"]
    return [(one["leader_id"], one["replica_nodes"]) for one in topic["partitions"]]


async def reassign(client: Client, partition: int, replicas: list[int]) -> None:
    topics = [{"name": "t", "partitions": [{"partition_index": partition, "replicas": replicas}]}]
    await client.ask("AlterPartitionReassignments", 1, timeout=5_000, topics=topics)


async def elect(client: Client, partition: int) -> int:
    """Elect the preferred leader of a partition. Returns the error code."""
    answer = await client.ask(
        "ElectLeaders",
        2,
        election_type=0,
        timeout=5_000,
        topic_partitions=[{"topic": "t", "partitions": [partition]}],
    )
    return int(answer["replica_election_results"][0]["partition_result"][0]["error_code"])


def topic_of(cluster: Cluster) -> None:
    cluster.topics.create("t", 2, replicas=[(1,), (2,)])
    cluster.topics_changed()


@on_cluster(brokers=3)
async def test_a_reassignment_keeps_a_leader_that_has_a_replica(cluster: Cluster) -> None:
    topic_of(cluster)
    async with asking(cluster.controller) as client:
        assert await places(client) == [(1, [1]), (2, [2])]
        await reassign(client, 0, [2, 3])
        assert await places(client) == [(2, [2, 3]), (2, [2])]
        await reassign(client, 0, [3, 2])
        assert (await places(client))[0] == (2, [3, 2])
        assert await elect(client, 0) == 0
        assert (await places(client))[0] == (3, [3, 2])
        assert await elect(client, 0) == 84
