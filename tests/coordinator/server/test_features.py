"""`group.version` turned off and on while there are consumer groups, as on Kafka 4.3.1."""

import asyncio
from typing import Any

import pytest

from coordinator.server.cluster import Cluster
from tests.conformance.cluster import Cluster as Client
from tests.coordinator.server.running import asking, on_cluster, running_cluster
from wire.errors import ErrorCode

UPGRADE, SAFE_DOWNGRADE = 1, 2


async def beat(client: Client, epoch: int) -> tuple[int, int]:
    joining = {"rebalance_timeout": 60_000, "subscribed_topic_names": ["t"], "topic_partitions": []}
    fields = {"group_id": "g", "member_id": "m", "member_epoch": epoch, **({} if epoch else joining)}
    answer = await client.ask("ConsumerGroupHeartbeat", 1, **fields)
    return answer["error_code"], answer["member_epoch"]


async def turn(client: Client, level: int, kind: int) -> None:
    update = {"feature": "group.version", "max_version_level": level, "upgrade_type": kind}
    answer = await client.ask("UpdateFeatures", 2, feature_updates=[update], validate_only=False)
    assert not answer["error_code"], answer


async def listed(client: Client) -> tuple[list[str], int, set[str]]:
    """The existing groups, the answer of ConsumerGroupDescribe for one, and the finalized features."""
    groups = await client.ask("ListGroups", 5, states_filter=[], types_filter=[])
    described = await client.ask(
        "ConsumerGroupDescribe", 1, group_ids=["g"], include_authorized_operations=False
    )
    features: Any = await client.ask("ApiVersions", 4, client_software_name="c", client_software_version="1")
    return (
        [group["group_id"] for group in groups["groups"]],
        described["groups"][0]["error_code"],
        {feature["name"] for feature in features["finalized_features"]},
    )


@on_cluster()
async def test_consumer_groups_stay_without_anybody_who_may_speak_for_them(cluster: Cluster) -> None:
    cluster.topics.create("t", 1)
    cluster.topics_changed()
    async with asking(cluster.controller) as client:
        error, epoch = await beat(client, 0)
        assert not error
        assert await beat(client, epoch) == (0, epoch)
        await turn(client, 0, SAFE_DOWNGRADE)
        assert (await beat(client, epoch))[0] == ErrorCode.UNSUPPORTED_VERSION
        groups, described, features = await listed(client)
        assert (groups, described) == (["g"], ErrorCode.UNSUPPORTED_VERSION)
        assert "group.version" not in features
        await turn(client, 1, UPGRADE)
        assert await beat(client, epoch) == (0, epoch)
        groups, described, features = await listed(client)
        assert (groups, described) == (["g"], 0)
        assert "group.version" in features


@pytest.mark.parametrize(
    "settings", [{"group.version": "0"}, {"group.coordinator.rebalance.protocols": "classic"}]
)
def test_a_server_without_the_consumer_protocol(settings: dict[str, str]) -> None:
    async def scene() -> None:
        async with running_cluster(settings) as cluster, asking(cluster.controller) as client:
            assert (await beat(client, 0))[0] == ErrorCode.UNSUPPORTED_VERSION

    asyncio.run(scene())
