"""A heartbeat that is repeated byte for byte is not handled again before something has changed."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from coordinator.engine.engine import Engine
from coordinator.faults import AnswerError
from coordinator.server.cluster import Cluster
from coordinator.server.security.authorizer import Authorizer
from coordinator.server.security.security import Security
from tests.coordinator.server.running import WireClient, played_in, running_cluster
from wire.acls import Acl, Operation, Permission, ResourceType
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import HEARTBEAT, JOIN_GROUP, SYNC_GROUP
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_HEARTBEAT

READ = {"resource_type": ResourceType.GROUP, "name": "g", "operation": Operation.READ}
DENIED: Any = {**READ, "principal": "User:ANONYMOUS", "permission": Permission.DENY}
BUSY_DISK: Any = SimpleNamespace(is_idle=False, take=lambda _result, _now_ms, release: release())
CHANGES: list[tuple[str, Callable[[Cluster, str], object]]] = [
    ("NOT_COORDINATOR", lambda cluster, _: _move(cluster, 2)),
    ("NOT_COORDINATOR", lambda cluster, _: cluster.groups.fail()),
    ("COORDINATOR_LOAD_IN_PROGRESS", lambda cluster, _: _move(cluster, 1, 60_000)),
    ("GROUP_AUTHORIZATION_FAILED", lambda cluster, _: cluster.acls.create([Acl(**DENIED)])),
    ("INVALID_REQUEST", lambda cluster, _: cluster.faults.add(AnswerError(error="INVALID_REQUEST"), 0)),
    ("UNKNOWN_MEMBER_ID", lambda cluster, member: cluster.groups.expire_session("g", member)),
    ("NONE", lambda cluster, _: setattr(cluster.groups, "_journal", BUSY_DISK)),
]


def _move(cluster: Cluster, *to: int) -> None:
    cluster.move_coordinator(cluster.coordinators.partition_of("g"), *to)


async def _joined(client: WireClient, api: Api) -> dict[str, Any]:
    """A heartbeat of the only member of a Stable group."""
    group: Any = {"group_id": "g", "rebalance_timeout_ms": 60_000, "session_timeout_ms": 30_000}
    if api is CONSUMER_GROUP_HEARTBEAT:
        joining = {"subscribed_topic_names": ["t"], "topic_partitions": [], "member_epoch": 0}
        answer = await client.ask(api, {**group, **joining, "member_id": "m"})
        joined = {"member_epoch": answer.member_epoch, "topic_partitions": None}
        return {**group, "rebalance_timeout_ms": -1, "member_id": "m", **joined}
    protocols = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}]}
    answer = await client.ask(JOIN_GROUP, {**group, **protocols, "member_id": ""}, 0)
    member = {**group, "generation_id": answer.generation_id, "member_id": answer.member_id}
    await client.ask(SYNC_GROUP, {**member, "assignments": []}, 0)
    return member


@pytest.mark.parametrize("api", [HEARTBEAT, CONSUMER_GROUP_HEARTBEAT])
@pytest.mark.parametrize(("error", "change"), CHANGES)
@played_in(lambda: running_cluster(security=Security(authorizer=Authorizer(allow_if_no_acl=True)), brokers=2))
async def test_a_repeated_heartbeat_is_handled_after_a_change(
    cluster: Cluster, error: str, change: Callable[[Cluster, str], object], api: Api
) -> None:
    _move(cluster, 1)
    client = await WireClient.connect(cluster.brokers[1].port)
    fields = await _joined(client, api)
    assert [(await client.ask(api, fields, version)).error_code for version in (0, 1)] == [0, 0]
    first, requests = await client.ask(api, fields), cluster.requests
    with patch.object(Engine, "handle", autospec=True, side_effect=Engine.handle) as handle:
        assert [await client.ask(api, fields) for _ in range(3)] == [first] * 3
        assert (handle.call_count, cluster.requests) == (0, requests + 3)
        change(cluster, fields["member_id"])
        assert (await client.ask(api, fields)).error_code == ErrorCode[error]
        assert handle.call_count or error not in ("NONE", "UNKNOWN_MEMBER_ID")
    client.close()
