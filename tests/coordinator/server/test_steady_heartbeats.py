"""A heartbeat that is repeated byte for byte is not handled again before something has changed."""

from collections.abc import Callable
from functools import partial
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
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_HEARTBEAT as HEARTBEAT

READ = {"resource_type": ResourceType.GROUP, "name": "g", "operation": Operation.READ}
DENIED: Any = {**READ, "principal": "User:ANONYMOUS", "permission": Permission.DENY}
BUSY_DISK: Any = SimpleNamespace(is_idle=False, take=lambda _result, _now_ms, release: release())
CHANGES: list[tuple[str, Callable[[Cluster], object]]] = [
    ("NOT_COORDINATOR", lambda cluster: _move(cluster, 2)),
    ("NOT_COORDINATOR", lambda cluster: cluster.groups.fail()),
    ("COORDINATOR_LOAD_IN_PROGRESS", lambda cluster: _move(cluster, 1, 60_000)),
    ("GROUP_AUTHORIZATION_FAILED", lambda cluster: cluster.acls.create([Acl(**DENIED)])),
    ("INVALID_REQUEST", lambda cluster: cluster.faults.add(AnswerError(error="INVALID_REQUEST"), 0)),
    ("UNKNOWN_MEMBER_ID", lambda cluster: cluster.groups.expire_session("g", "m")),
    ("NONE", lambda cluster: setattr(cluster.groups, "_journal", BUSY_DISK)),
    ("NONE", lambda cluster: cluster.set_group_settings("g", {"consumer.session.timeout.ms": "50000"})),
]


def _move(cluster: Cluster, *to: int) -> None:
    cluster.move_coordinator(cluster.coordinators.partition_of("g"), *to)


@pytest.mark.parametrize(("error", "change"), CHANGES)
@played_in(lambda: running_cluster(security=Security(authorizer=Authorizer(allow_if_no_acl=True)), brokers=2))
async def test_a_repeated_heartbeat_is_handled_after_a_change(
    cluster: Cluster, error: str, change: Callable[[Cluster], object]
) -> None:
    _move(cluster, 1)
    client = await WireClient.connect(cluster.brokers[1].port)
    member = {"group_id": "g", "member_id": "m", "topic_partitions": None}
    joining = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["t"], "topic_partitions": []}
    answer = await client.ask(HEARTBEAT, {**member, **joining, "member_epoch": 0})
    beat = partial(client.ask, HEARTBEAT, {**member, "member_epoch": answer.member_epoch})
    assert [(await beat(version)).error_code for version in (0, 1)] == [0, 0]
    first, requests = await beat(), cluster.requests
    with patch.object(Engine, "handle", autospec=True, side_effect=Engine.handle) as handle:
        assert [await beat() for _ in range(3)] == [first] * 3
        assert (handle.call_count, cluster.requests) == (0, requests + 3)
        change(cluster)
        assert (await beat()).error_code == ErrorCode[error]
        assert handle.call_count or error != "NONE"
    client.close()
