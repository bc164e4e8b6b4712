"""What answers each API: `answer` of its file in `apis/`, by API key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from coordinator.server.apis import (
    api_versions,
    consumer_group_describe,
    consumer_group_heartbeat,
    create_partitions,
    create_topics,
    delete_groups,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_offsets,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    produce,
    sync_group,
)
from coordinator.server.exchange import Exchange

Handler: TypeAlias = Callable[[Exchange], Awaitable[Mapping[str, Any]]]
"""Gives the fields of the newest response. PeerFault: there is none, the connection is closed."""

HANDLERS: Mapping[int, Handler] = {
    0: produce.answer,
    1: fetch.answer,
    2: list_offsets.answer,
    3: metadata.answer,
    8: offset_commit.answer,
    9: offset_fetch.answer,
    10: find_coordinator.answer,
    11: join_group.answer,
    12: heartbeat.answer,
    13: leave_group.answer,
    14: sync_group.answer,
    15: describe_groups.answer,
    16: list_groups.answer,
    18: api_versions.answer,
    19: create_topics.answer,
    20: delete_topics.answer,
    22: init_producer_id.answer,
    32: describe_configs.answer,
    37: create_partitions.answer,
    42: delete_groups.answer,
    44: incremental_alter_configs.answer,
    47: offset_delete.answer,
    60: describe_cluster.answer,
    68: consumer_group_heartbeat.answer,
    69: consumer_group_describe.answer,
}
