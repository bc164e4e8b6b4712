"""Settings of the broker that are changed while it runs apply to its groups, also after a restart."""

import asyncio
from pathlib import Path

from coordinator.store.data_directory import DataDirectory
from tests.conformance.cluster import Cluster as Client
from tests.coordinator.server.running import asking, running_cluster
from tests.coordinator.store.directories import SMALL
from wire.errors import ErrorCode

LIMIT = "message.max.bytes"


async def alter(client: Client, name: str, value: str | None) -> int:
    """Set or remove a setting of all brokers. Returns the error code."""
    config = {"name": name, "config_operation": 0 if value is not None else 1, "value": value}
    resources = [{"resource_type": 4, "resource_name": "", "configs": [config]}]
    answer = await client.ask("IncrementalAlterConfigs", 1, resources=resources, validate_only=False)
    return int(answer["responses"][0]["error_code"])


async def commit(client: Client) -> int:
    """Commit with much metadata. Returns the error code."""
    partitions = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": "m" * 400}]
    topics = [{"name": "t", "partitions": partitions}]
    answer = await client.ask("OffsetCommit", 9, group_id="g", topics=topics)
    return int(answer["topics"][0]["partitions"][0]["error_code"])


def test_what_a_batch_may_hold_is_changed_at_once_and_kept(tmp_path: Path) -> None:
    async def scene(*, first: bool) -> None:
        data = DataDirectory.open(tmp_path, SMALL)
        async with running_cluster(data=data) as cluster, asking(cluster.controller) as client:
            if first:
                cluster.topics.create("t", 1)
                cluster.topics_changed()
            await client.ask("FindCoordinator", 4, key_type=0, coordinator_keys=["g"])
            if first:
                assert await commit(client) == 0
                assert await alter(client, LIMIT, "200") == 0
                assert await alter(client, "group.max.size", "5") == ErrorCode.INVALID_REQUEST
                assert await alter(client, "group.consumer.assignment.interval.ms", "20000") == (
                    ErrorCode.INVALID_REQUEST
                )
            assert await commit(client) == ErrorCode.UNKNOWN_SERVER_ERROR
            if not first:
                assert await alter(client, LIMIT, None) == 0
                assert await commit(client) == 0

    asyncio.run(scene(first=True))
    asyncio.run(scene(first=False))
