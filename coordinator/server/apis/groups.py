"""Groups of any type: who coordinates them, which there are, and their end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.groups import DeleteGroups, ListGroups
from coordinator.server.apis.fields import MALFORMED, Each
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange
from groups.listing import GroupListing
from wire.errors import ErrorCode

GROUP, TRANSACTION = 0, 1
SEVERAL = 4
NO_BROKER = "The coordinator is not available."
NO_TRANSACTIONS = "kohort serve has no transactions."


async def find_coordinator(exchange: Exchange) -> Mapping[str, Any]:
    """FindCoordinator v0–v6: key types v1, several keys v4 (KIP-699). Of every key there is one coordinator."""
    request, cluster = exchange.request, exchange.cluster
    kind = request.key_type
    if kind == GROUP:
        await cluster.show_offsets_topic()
    if exchange.version >= SEVERAL:
        return {
            "coordinators": Each(
                lambda key: {"key": key, **_place(cluster, kind, key)}, request.coordinator_keys
            )
        }
    place = _place(cluster, kind, request.key)
    return place if place["error_code"] else {**place, "error_message": "NONE"}


def _place(cluster: Cluster, kind: int, key: str) -> Mapping[str, Any]:
    if kind == GROUP:
        broker = cluster.coordinator_of(key)
        if broker is not None:
            return {
                "error_code": ErrorCode.NONE,
                "error_message": "",
                "node_id": broker.node_id,
                "host": broker.host,
                "port": broker.port,
            }
        error, message = ErrorCode.COORDINATOR_NOT_AVAILABLE, NO_BROKER
    elif kind == TRANSACTION:
        error, message = ErrorCode.COORDINATOR_NOT_AVAILABLE, NO_TRANSACTIONS
    else:
        error, message = ErrorCode.INVALID_REQUEST, MALFORMED
    return {"node_id": -1, "host": "", "port": -1, "error_code": error, "error_message": message}


async def list_groups(exchange: Exchange) -> Mapping[str, Any]:
    """ListGroups v0–v5: states v4 (KIP-518), types v5 (KIP-848)."""
    request = exchange.request
    call = ListGroups(states=tuple(request.states_filter), types=tuple(request.types_filter))
    if exchange.cluster.coordinators.is_loading(exchange.broker.node_id):
        return {"error_code": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "groups": ()}
    listed = await exchange.ask(call)
    mine = [group for group in listed.groups if not exchange.refusal(group.id)]
    return {"error_code": listed.error, "groups": Each(_listed, mine)}


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
    deleted = await exchange.ask_each(request.groups_names, lambda groups: DeleteGroups(groups=groups), str)
    return {"results": [{"group_id": group, "error_code": error} for group, error in deleted.values()]}
