"""SyncGroup v0–v5 (KIP-345 v3, KIP-559 v5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.classic.rebalance import SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = SyncGroup(
        group=request.group_id,
        generation=request.generation_id,
        member=request.member_id,
        instance=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol=request.protocol_name,
        assignments=tuple((one.member_id, one.assignment) for one in request.assignments),
        version=exchange.version,
    )
    return _fields(await exchange.ask(call))


def _fields(synced: SyncGroupAnswer) -> Mapping[str, Any]:
    return {
        "error_code": synced.error,
        "protocol_type": synced.protocol_type,
        "protocol_name": synced.protocol,
        "assignment": synced.assignment,
    }
