"""FindCoordinator v0–v6: key types v1, several keys v4 (KIP-699). This node coordinates everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.server.apis.fields import MALFORMED, Each
from coordinator.server.exchange import Exchange
from coordinator.server.node import Node
from wire.errors import ErrorCode

GROUP, TRANSACTION = 0, 1
BATCHED = 4
NO_TRANSACTIONS = "kohort serve has no transactions."


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    kind = request.key_type
    place = _place(exchange.node, kind)
    if exchange.version >= BATCHED:
        return {"coordinators": Each(lambda key: {"key": key, **place}, request.coordinator_keys)}
    if not place["error_code"]:
        place = {**place, "error_message": "NONE"}
    return place


def _place(node: Node, kind: int) -> Mapping[str, Any]:
    if kind == GROUP:
        return {
            "error_code": ErrorCode.NONE,
            "error_message": "",
            "node_id": node.settings.node_id,
            "host": node.host,
            "port": node.port,
        }
    nowhere = {"node_id": -1, "host": "", "port": -1}
    if kind == TRANSACTION:
        error, message = ErrorCode.COORDINATOR_NOT_AVAILABLE, NO_TRANSACTIONS
    else:
        error, message = ErrorCode.INVALID_REQUEST, MALFORMED
    return {**nowhere, "error_code": error, "error_message": message}
