"""Heartbeat v0–v4 (KIP-345 v3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = Heartbeat(
        group=request.group_id,
        generation=request.generation_id,
        member=request.member_id,
        instance=request.group_instance_id,
    )
    beaten: HeartbeatAnswer = await exchange.ask(call)
    return {"error_code": beaten.error}
