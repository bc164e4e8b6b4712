"""Several brokers of one cluster: each serves the partitions that it leads, and another takes over if it fails."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator.errors import RequestRefused
from coordinator.server.broker import Broker
from coordinator.server.cluster import Cluster
from coordinator.store.data_directory import DataDirectory
from tests.conformance.peer import Closed, Peer
from tests.coordinator.server.running import DEADLINE_S, HOST, asking, on_cluster, running_cluster
from tests.coordinator.store.directories import SMALL
from wire.errors import ErrorCode
from wire.log.batch_writer import encode_batch

BROKERS = 3
JOIN = {"session_timeout": 30_000, "rebalance_timeout": 60_000, "protocol_type": "consumer"}
RANGE = {"protocols": [{"name": "range", "metadata": b"\0\0\0\0\0\0\xff\xff\xff\xff"}]}
HEARTBEAT = {"rebalance_timeout": 60_000, "subscribed_topic_names": ["orders"], "topic_partitions": []}
NONE = int(ErrorCode.NONE)
BATCH = encode_batch([(b"key", b"value")], base_offset=0, timestamp=0)


async def ask(broker: Broker, api: str, version: int, **fields: Any) -> Any:
    async with asking(broker) as connection:
        return await asyncio.wait_for(connection.ask(api, version, **fields), DEADLINE_S)


def play(scene: Callable[[Cluster], Awaitable[None]], **settings: Any) -> None:
    async def run() -> None:
        async with running_cluster(brokers=BROKERS, **settings) as cluster:
            await scene(cluster)

    asyncio.run(run())


def group_of(cluster: Cluster, broker: Broker, number: int = 0) -> str:
    names = (f"group-{index}" for index in range(1000))
    return [name for name in names if cluster.coordinator_of(name) is broker][number]


async def commit(broker: Broker, group: str, offset: int) -> int:
    partitions = [{"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}]
    topics = [{"name": "orders", "partitions": partitions}]
    answer = await ask(broker, "OffsetCommit", 8, group_id=group, topics=topics)
    return int(answer["topics"][0]["partitions"][0]["error_code"])


async def committed(broker: Broker, group: str) -> tuple[int, int]:
    asked = [{"group_id": group, "topics": [{"name": "orders", "partition_indexes": [0]}]}]
    answer = await ask(broker, "OffsetFetch", 8, groups=asked)
    (fetched,) = answer["groups"]
    offsets = [one["committed_offset"] for topic in fetched["topics"] for one in topic["partitions"]]
    return (offsets or [-1])[0], fetched["error_code"]


@on_cluster({"broker.rack": "a,b"}, brokers=BROKERS)
async def test_every_broker_shows_all_brokers_and_the_same_leaders(cluster: Cluster) -> None:
    cluster.topics.create("orders", 6)
    shown = [await ask(broker, "Metadata", 12, topics=None) for broker in cluster.brokers.values()]
    brokers = [(one["node_id"], one["port"], one["rack"]) for one in shown[0]["brokers"]]
    ports = [broker.port for broker in cluster.brokers.values()]
    assert brokers == list(zip((1, 2, 3), ports, ("a", "b", "a"), strict=True))
    assert shown[0] == shown[1] == shown[2]
    (orders,) = shown[0]["topics"]
    leaders = [one["leader_id"] for one in orders["partitions"]]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]
    described = await ask(cluster.brokers[2], "DescribeCluster", 2)
    assert [one["broker_id"] for one in described["brokers"]] == [1, 2, 3]


@on_cluster(brokers=BROKERS)
async def test_groups_are_spread_and_every_broker_knows_their_coordinators(cluster: Cluster) -> None:
    keys = [f"group-{number}" for number in range(60)]
    answers = [
        await ask(broker, "FindCoordinator", 4, key_type=0, coordinator_keys=keys)
        for broker in cluster.brokers.values()
    ]
    assert answers[0] == answers[1] == answers[2]
    ports = {broker.node_id: broker.port for broker in cluster.brokers.values()}
    coordinators = {one["key"]: one["node_id"] for one in answers[0]["coordinators"]}
    assert all(one["port"] == ports[one["node_id"]] for one in answers[0]["coordinators"])
    assert set(coordinators.values()) == {1, 2, 3}
    topics = (await ask(cluster.brokers[1], "Metadata", 12, topics=None))["topics"]
    assert [(one["name"], one["is_internal"]) for one in topics] == [("__consumer_offsets", True)]
    leaders = {one["partition_index"]: one["leader_id"] for one in topics[0]["partitions"]}
    assert {key: leaders[cluster.coordinators.partition_of(key)] for key in keys} == coordinators


@on_cluster(brokers=BROKERS)
async def test_only_the_coordinator_answers_for_a_group(cluster: Cluster) -> None:
    cluster.topics.create("orders", 1)
    cluster.topics_changed()
    first, second, _ = cluster.brokers.values()
    mine, others = group_of(cluster, first), group_of(cluster, second)
    for group in (mine, others):
        await commit(cluster.coordinator_of(group) or first, group, 5)
    wrong = int(ErrorCode.NOT_COORDINATOR)
    joined = await ask(first, "JoinGroup", 5, group_id=others, **JOIN, **RANGE)
    assert joined["error_code"] == wrong
    beaten = await ask(first, "ConsumerGroupHeartbeat", 0, group_id=others, **HEARTBEAT)
    assert beaten["error_code"] == wrong
    assert await commit(first, others, 6) == wrong
    assert await committed(first, others) == (-1, wrong)
    assert await committed(first, mine) == (5, NONE)
    described = await ask(first, "DescribeGroups", 5, groups=[mine, others])
    assert {one["group_id"]: one["error_code"] for one in described["groups"]} == {mine: NONE, others: wrong}
    described = await ask(first, "ConsumerGroupDescribe", 0, group_ids=[others])
    assert [one["error_code"] for one in described["groups"]] == [wrong]
    listed = await ask(first, "ListGroups", 4, states_filter=[])
    assert [one["group_id"] for one in listed["groups"]] == [mine]
    deleted = await ask(first, "DeleteGroups", 2, groups_names=[others, mine])
    results = {one["group_id"]: one["error_code"] for one in deleted["results"]}
    assert results == {mine: NONE, others: wrong}
    listed = await ask(second, "ListGroups", 4, states_filter=[])
    assert [one["group_id"] for one in listed["groups"]] == [others]


@on_cluster(brokers=BROKERS)
async def test_a_coordinator_moves_with_what_the_log_holds(cluster: Cluster) -> None:
    cluster.topics.create("orders", 1)
    cluster.topics_changed()
    first, second, _ = cluster.brokers.values()
    group = group_of(cluster, first)
    await commit(first, group, 5)
    async with asking(first) as one, asking(first) as other:
        answer = await one.ask("JoinGroup", 5, group_id=group, **JOIN, **RANGE)
        joining = {"group_id": group, **JOIN, **RANGE, "member_id": answer["member_id"]}
        joined = await one.ask("JoinGroup", 5, **joining)
        waiting = asyncio.create_task(other.ask("JoinGroup", 3, group_id=group, **JOIN, **RANGE))
        while (await ask(first, "DescribeGroups", 5, groups=[group]))["groups"][0][
            "group_state"
        ] != "PreparingRebalance":
            await asyncio.sleep(0.01)
        cluster.move_coordinator(cluster.coordinators.partition_of(group), second.node_id, 300_000)
        assert (await asyncio.wait_for(waiting, DEADLINE_S))["error_code"] == ErrorCode.NOT_COORDINATOR
    assert joined["generation_id"] == 1
    loads = int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    assert await commit(first, group, 6) == ErrorCode.NOT_COORDINATOR
    assert await commit(second, group, 6) == loads
    assert (await ask(second, "ListGroups", 4, states_filter=[]))["error_code"] == loads
    coordinator = await ask(first, "FindCoordinator", 3, key=group)
    assert (coordinator["node_id"], coordinator["port"]) == (second.node_id, second.port)
    cluster.move_coordinator(cluster.coordinators.partition_of(group), second.node_id)
    assert await committed(second, group) == (5, NONE)
    (described,) = (await ask(second, "DescribeGroups", 5, groups=[group]))["groups"]
    assert (described["group_state"], described["members"]) == ("Empty", [])  # no member had synced


@pytest.mark.parametrize("is_kept", [False, True], ids=["memory", "data"])
def test_a_stopped_broker_is_replaced_and_may_restart(tmp_path: Path, is_kept: bool) -> None:
    async def scene(cluster: Cluster) -> None:
        cluster.topics.create("orders", 3)
        cluster.topics_changed()
        first, second, _ = cluster.brokers.values()
        group = group_of(cluster, first)
        await commit(first, group, 5)
        led = [number for number in range(3) if cluster.leader_of("orders", number) is first]
        async with asking(first) as connection:
            port, sessions = first.port, first.fetch_sessions
            await cluster.stop_broker(first.node_id)
            with pytest.raises(OSError):
                await Peer.connect(HOST, port)
            with pytest.raises((Closed, OSError)):
                await connection.ask("Metadata", 12, topics=None)
        shown = await ask(second, "Metadata", 12, topics=None)
        assert [one["node_id"] for one in shown["brokers"]] == [2, 3]
        (orders,) = [one for one in shown["topics"] if one["name"] == "orders"]
        for partition in orders["partitions"]:
            assert partition["leader_id"] in (2, 3)
            assert partition["leader_epoch"] == int(partition["partition_index"] in led)
        described = await ask(second, "DescribeCluster", 2, include_fenced_brokers=True)
        assert [one["is_fenced"] for one in described["brokers"]] == [True, False, False]
        now = cluster.coordinator_of(group)
        assert now is not None
        assert now is not first
        assert await committed(now, group) == (5, NONE)
        assert await commit(now, group, 6) == NONE
        with pytest.raises(RequestRefused):
            await cluster.stop_broker(first.node_id)
        with pytest.raises(RequestRefused):
            cluster.move_coordinator(0, first.node_id)
        await cluster.restart_broker(first.node_id)
        assert first.port == port
        assert first.fetch_sessions is not sessions
        assert await committed(first, group) == (-1, int(ErrorCode.NOT_COORDINATOR))
        assert [cluster.leader_of("orders", number) for number in led] == [first] * len(led)
        cluster.move_coordinator(cluster.coordinators.partition_of(group), first.node_id)
        assert await committed(first, group) == (6, NONE)

    data = DataDirectory.open(tmp_path, SMALL) if is_kept else None
    play(scene, data=data)


@on_cluster(brokers=BROKERS)
async def test_only_the_leader_answers_for_a_partition(cluster: Cluster) -> None:
    cluster.topics.create("orders", 1)
    cluster.topics_changed()
    leader = cluster.leader_of("orders", 0)
    partition = {"partition_index": 0, "timestamp": -1, "current_leader_epoch": -1}
    asked = [{"name": "orders", "partitions": [partition]}]
    for broker in cluster.brokers.values():
        answer = await ask(broker, "ListOffsets", 7, topics=asked)
        expected = NONE if broker is leader else int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        assert answer["topics"][0]["partitions"][0]["error_code"] == expected


@on_cluster(brokers=BROKERS)
async def test_what_is_wrong_with_a_request_itself_any_broker_says(cluster: Cluster) -> None:
    cluster.topics.create("orders", 1)
    cluster.topics_changed()
    first, second, _ = cluster.brokers.values()
    group = group_of(cluster, second)
    too_short = await ask(first, "JoinGroup", 5, group_id=group, **{**JOIN, "session_timeout": 1}, **RANGE)
    assert too_short["error_code"] == ErrorCode.INVALID_SESSION_TIMEOUT
    beaten = await ask(
        first, "ConsumerGroupHeartbeat", 1, group_id=group, member_id="m", member_epoch=-5, **HEARTBEAT
    )
    assert beaten["error_code"] == ErrorCode.INVALID_REQUEST
    commits = [{"partition_index": n, "committed_offset": 1, "committed_metadata": ""} for n in (0, 9)]
    answer = await ask(
        first, "OffsetCommit", 8, group_id=group, topics=[{"name": "orders", "partitions": commits}]
    )
    (topic,) = answer["topics"]
    assert {one["partition_index"]: one["error_code"] for one in topic["partitions"]} == {
        0: ErrorCode.NOT_COORDINATOR,
        9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


def test_replicas_are_placed_as_they_are_asked_for(tmp_path: Path) -> None:
    by_hand = {"orders": [(1, 2), (3, 1), (2, 3)]}

    async def replicas(cluster: Cluster) -> dict[str, list[tuple[int, ...]]]:
        shown = await ask(cluster.brokers[2], "Metadata", 12, topics=None)
        return {
            topic["name"]: [tuple(one["replica_nodes"]) for one in topic["partitions"]]
            for topic in shown["topics"]
        }

    async def create(
        cluster: Cluster, name: str, factor: int = -1, *hands: tuple[int, ...]
    ) -> tuple[int, int]:
        assignments = [{"partition_index": number, "broker_ids": hand} for number, hand in enumerate(hands)]
        count = {"num_partitions": -1 if hands else 3, "replication_factor": factor}
        topic = {"name": name, **count, "assignments": assignments}
        answer = await ask(cluster.brokers[1], "CreateTopics", 7, topics=[topic], timeout=30_000)
        (made,) = answer["topics"]
        return made["error_code"], made["replication_factor"]

    async def grow(cluster: Cluster, count: int, *hand: int) -> int:
        topic = {"name": "orders", "count": count, "assignments": [{"broker_ids": list(hand)}]}
        answer = await ask(cluster.brokers[1], "CreatePartitions", 3, topics=[topic], timeout=30_000)
        return int(answer["results"][0]["error_code"])

    async def before(cluster: Cluster) -> None:
        refused = int(ErrorCode.INVALID_REPLICA_ASSIGNMENT)
        assert await create(cluster, "orders", -1, (1, 2), (3, 1)) == (NONE, 2)
        assert await create(cluster, "uneven", -1, (1, 2), (3,)) == (refused, -1)
        assert await create(cluster, "stranger", -1, (1, 9)) == (refused, -1)
        assert await create(cluster, "twice", 2) == (NONE, 2)
        assert await create(cluster, "usual") == (NONE, 1)
        assert await create(cluster, "many", 4) == (int(ErrorCode.INVALID_REPLICATION_FACTOR), -1)
        assert await grow(cluster, 3, 2) == refused
        assert await grow(cluster, 3, 2, 3) == NONE
        assigned.update(await replicas(cluster))
        assert set(assigned) == {"orders", "twice", "usual"}
        assert assigned["orders"] == by_hand["orders"]
        assert all(len(set(brokers)) == 2 for brokers in assigned["twice"])

    async def after(cluster: Cluster) -> None:
        assert await replicas(cluster) == assigned

    assigned: dict[str, list[tuple[int, ...]]] = {}
    play(before, data=DataDirectory.open(tmp_path, SMALL))
    play(after, data=DataDirectory.open(tmp_path, SMALL))


@on_cluster(brokers=BROKERS)
async def test_a_reassignment_keeps_a_leader_that_has_a_replica(cluster: Cluster) -> None:
    cluster.topics.create("orders", 2, replicas=[(1,), (2,)])
    cluster.topics_changed()

    async def places() -> list[tuple[int, list[int]]]:
        (topic,) = (await ask(cluster.controller, "Metadata", 12, topics=None))["topics"]
        return [(one["leader_id"], one["replica_nodes"]) for one in topic["partitions"]]

    async def reassign(*replicas: int) -> None:
        topics = [{"name": "orders", "partitions": [{"partition_index": 0, "replicas": replicas}]}]
        await ask(cluster.controller, "AlterPartitionReassignments", 1, timeout=5_000, topics=topics)

    async def elect() -> int:
        partitions = [{"topic": "orders", "partitions": [0]}]
        answer = await ask(cluster.controller, "ElectLeaders", 2, topic_partitions=partitions)
        return int(answer["replica_election_results"][0]["partition_result"][0]["error_code"])

    assert await places() == [(1, [1]), (2, [2])]
    await reassign(2, 3)
    assert await places() == [(2, [2, 3]), (2, [2])]
    await reassign(3, 2)
    assert (await places())[0] == (2, [3, 2])
    assert await elect() == 0
    assert (await places())[0] == (3, [3, 2])
    assert await elect() == ErrorCode.ELECTION_NOT_NEEDED


def test_the_topic_that_holds_the_groups_is_not_changed(tmp_path: Path) -> None:
    async def scene(cluster: Cluster) -> None:
        broker = cluster.brokers[1]
        await ask(broker, "FindCoordinator", 3, key="g")
        name = {"name": "__consumer_offsets", "topic_id": None}
        answer = await ask(broker, "DeleteTopics", 6, topics=[name], timeout=30_000)
        assert answer["responses"][0]["error_code"] == ErrorCode.POLICY_VIOLATION
        grown = {"name": "__consumer_offsets", "count": 100, "assignments": None}
        answer = await ask(broker, "CreatePartitions", 3, topics=[grown], timeout=30_000)
        assert answer["results"][0]["error_code"] == ErrorCode.POLICY_VIOLATION
        for topic in cluster.topics.image.topics.values():
            leader = cluster.leader_of(topic.name, 0) or broker
            produced = {"name": topic.name, "partition_data": [{"index": 0, "records": BATCH}]}
            answer = await ask(leader, "Produce", 9, acks=-1, timeout=30_000, topic_data=[produced])
            (refused,) = answer["responses"][0]["partition_responses"]
            assert refused["error_code"] == ErrorCode.INVALID_TOPIC_EXCEPTION
            trimmed = {"name": topic.name, "partitions": [{"partition_index": 0, "offset": 0}]}
            answer = await ask(leader, "DeleteRecords", 2, topics=[trimmed], timeout=30_000)
            (refused,) = answer["topics"][0]["partitions"]
            assert refused["error_code"] == ErrorCode.INVALID_TOPIC_EXCEPTION
        assert await commit_to(cluster, "g") == NONE

    async def commit_to(cluster: Cluster, group: str) -> int:
        cluster.topics.create("orders", 1)
        cluster.topics_changed()
        return await commit(cluster.coordinator_of(group) or cluster.brokers[1], group, 5)

    play(scene, data=DataDirectory.open(tmp_path, SMALL))
