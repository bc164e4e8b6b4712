"""LeaveGroup v0–v5: one member below v3, several since (KIP-345); reasons v5 (KIP-800)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.server.apis.fields import Each
from coordinator.server.exchange import Exchange
from wire.errors import ErrorCode

BATCHED = 3


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = LeaveGroup(
        group=request.group_id, members=_leaving(request, exchange.version), version=exchange.version
    )
    left: LeaveGroupAnswer = await exchange.ask(call)
    return {
        "error_code": left.error,
        "members": Each(_fields, left.members),
    }


def _fields(member: tuple[str, str | None, ErrorCode]) -> Mapping[str, Any]:
    return dict(zip(("member_id", "group_instance_id", "error_code"), member, strict=True))


def _leaving(request: Any, version: int) -> tuple[tuple[str, str | None], ...]:
    if version < BATCHED:
        return ((request.member_id, None),)
    return tuple((one.member_id, one.group_instance_id) for one in request.members)
