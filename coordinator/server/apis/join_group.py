"""JoinGroup v0–v9 (KIP-345 v5, KIP-559 v7, KIP-800 v8, KIP-814 v9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.records import JoinProtocol
from coordinator.server.exchange import Exchange
from coordinator.server.node import Caller
from wire.errors import ErrorCode
from wire.messages.reader import LONGEST_STRING

UUID_BYTES = len("-") + 36
NULL_PROTOCOL = 7
"""The version from which on a refusal has a null protocol name, and no longer an empty one."""


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    if not request.member_id and not _can_be_named(request, exchange.caller):
        return _fields(JoinGroupAnswer(error=ErrorCode.INVALID_REQUEST), exchange.version)
    session_ms = request.session_timeout_ms
    call = JoinGroup(
        group=request.group_id,
        session_timeout_ms=session_ms,
        # v0 knows one timeout for both (JoinGroupRequest.maybeOverrideRebalanceTimeout).
        rebalance_timeout_ms=request.rebalance_timeout_ms if exchange.version >= 1 else session_ms,
        member=request.member_id,
        instance=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocols=tuple(JoinProtocol(protocol.name, protocol.metadata) for protocol in request.protocols),
        version=exchange.version,
    )
    return _fields(await exchange.ask(call), exchange.version)


def _can_be_named(request: Any, caller: Caller) -> bool:
    """Whether there is room for the UUID behind the name that a new member's id begins with.

    Kafka fails to write down a longer one and answers UNKNOWN_SERVER_ERROR; members would fail to read it.
    """
    name = request.group_instance_id or caller.client_id
    return len(name.encode()) + UUID_BYTES <= LONGEST_STRING


def _fields(joined: JoinGroupAnswer, version: int) -> Mapping[str, Any]:
    return {
        "error_code": joined.error,
        "generation_id": joined.generation,
        "protocol_type": joined.protocol_type,
        "protocol_name": joined.protocol if version >= NULL_PROTOCOL else joined.protocol or "",
        "leader": joined.leader,
        "skip_assignment": joined.skip_assignment,
        "member_id": joined.member,
        "members": [
            {"member_id": one.member, "group_instance_id": one.instance, "metadata": one.subscription}
            for one in joined.members
        ],
    }
