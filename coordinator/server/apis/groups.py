"""Groups of any type: who coordinates them, which there are, and their end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.groups import DeleteGroups, ListGroups
from coordinator.server.apis.fields import MALFORMED, Each
from coordinator.server.broker import Broker
from coordinator.server.exchange import Exchange
from groups.listing import GroupListing
from wire.errors import ErrorCode

GROUP, TRANSACTION = 0, 1
SEVERAL = 4
NO_TRANSACTIONS = "kohort serve has no transactions."


async def find_coordinator(exchange: Exchange) -> Mapping[str, Any]:
    """FindCoordinator v0–v6: key types v1, several keys v4 (KIP-699). Of every key there is one coordinator."""
    request = exchange.request
    kind = request.key_type
    place = _place(exchange.broker, kind)
    if exchange.version >= SEVERAL:
        return {"coordinators": Each(lambda key: {"key": key, **place}, request.coordinator_keys)}
    if not place["error_code"]:
        place = {**place, "error_message": "NONE"}
    return place


def _place(broker: Broker, kind: int) -> Mapping[str, Any]:
    if kind == GROUP:
        return {
            "error_code": ErrorCode.NONE,
            "error_message": "",
            "node_id": broker.node_id,
            "host": broker.host,
            "port": broker.port,
        }
    nowhere = {"node_id": -1, "host": "", "port": -1}
    if kind == TRANSACTION:
        error, message = ErrorCode.COORDINATOR_NOT_AVAILABLE, NO_TRANSACTIONS
    else:
        error, message = ErrorCode.INVALID_REQUEST, MALFORMED
    return {**nowhere, "error_code": error, "error_message": message}


async def list_groups(exchange: Exchange) -> Mapping[str, Any]:
    """ListGroups v0–v5: states v4 (KIP-518), types v5 (KIP-848)."""
    request = exchange.request
    call = ListGroups(states=tuple(request.states_filter), types=tuple(request.types_filter))
    listed = await exchange.ask(call)
    return {"error_code": listed.error, "groups": Each(_listed, listed.groups)}


def _listed(group: GroupListing) -> Mapping[str, Any]:
    return {
        "group_id": group.id,
        "protocol_type": group.protocol_type,
        "group_state": group.state.value,
        "group_type": group.type.value,
    }


async def delete_groups(exchange: Exchange) -> Mapping[str, Any]:
    """DeleteGroups v0–v2."""
    request = exchange.request
    deleted = await exchange.ask(DeleteGroups(groups=tuple(request.groups_names)))
    return {"results": [{"group_id": group, "error_code": error} for group, error in deleted.groups]}
