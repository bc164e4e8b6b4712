"""Groups of any type: FindCoordinator, ListGroups and DeleteGroups."""

from __future__ import annotations

from coordinator.engine.groups import DeleteGroups, ListGroups
from coordinator.server.apis.fields import MALFORMED, LazyEntries
from coordinator.server.apis.permissions import MESSAGES
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.store.partition_files import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from groups.listing import GroupListing
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode
from wire.messages.schemas import groups as schemas

GROUP, TRANSACTION = 0, 1
SEVERAL = 4
NO_BROKER = "The coordinator is not available."

_RESOURCES = {
    GROUP: (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    TRANSACTION: (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
}  # the resource of each key type, and the error for a caller that may not describe it
_TOPICS = {GROUP: OFFSETS_TOPIC, TRANSACTION: TRANSACTIONS_TOPIC}


async def find_coordinator(exchange: Exchange[schemas.FindCoordinatorRequest]) -> AnswerFields:
    """FindCoordinator v0–v6: key types v1, several keys v4 (KIP-699). Each key has exactly one coordinator."""
    request, cluster = exchange.request, exchange.cluster
    kind = request.key_type
    if kind in _TOPICS:
        await cluster.show_internal_topic(_TOPICS[kind])
    if exchange.version >= SEVERAL:
        return {
            "coordinators": LazyEntries(
                lambda key: {"key": key, **_place(exchange, kind, key)}, request.coordinator_keys
            )
        }
    coordinator = _place(exchange, kind, request.key)
    return coordinator if coordinator["error_code"] else {**coordinator, "error_message": "NONE"}


def _place(exchange: Exchange, kind: int, key: str) -> AnswerFields:
    if kind not in _RESOURCES:
        return _no_coordinator(ErrorCode.INVALID_REQUEST, MALFORMED)
    resource_type, forbidden = _RESOURCES[kind]
    if not exchange.allows(Operation.DESCRIBE, resource_type, key):
        return _no_coordinator(forbidden, MESSAGES[forbidden])
    cluster = exchange.cluster
    broker = cluster.coordinator_of(key) if kind == GROUP else cluster.transaction_coordinator_of(key)
    if broker is None:
        return _no_coordinator(ErrorCode.COORDINATOR_NOT_AVAILABLE, NO_BROKER)
    return {
        "error_code": ErrorCode.NONE,
        "error_message": "",
        "node_id": broker.node_id,
        "host": broker.host,
        "port": broker.port,
    }


def _no_coordinator(error: ErrorCode, message: str) -> AnswerFields:
    return {"node_id": -1, "host": "", "port": -1, "error_code": error, "error_message": message}


async def list_groups(exchange: Exchange[schemas.ListGroupsRequest]) -> AnswerFields:
    """ListGroups v0–v5: states v4 (KIP-518), types v5 (KIP-848)."""
    request = exchange.request
    call = ListGroups(states=tuple(request.states_filter), types=tuple(request.types_filter))
    if exchange.cluster.coordinators.is_loading(exchange.broker.node_id):
        return {"error_code": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "groups": ()}
    listed = await exchange.ask(call)
    sees_all = exchange.allows_cluster(Operation.DESCRIBE)
    mine = [
        group
        for group in listed.groups
        if exchange.coordinates(group.id)
        and (sees_all or exchange.allows(Operation.DESCRIBE, ResourceType.GROUP, group.id))
    ]
    return {"error_code": listed.error, "groups": LazyEntries(_listed, mine)}


def _listed(group: GroupListing) -> AnswerFields:
    return {
        "group_id": group.id,
        "protocol_type": group.protocol_type,
        "group_state": group.state.value,
        "group_type": group.type.value,
    }


async def delete_groups(exchange: Exchange[schemas.DeleteGroupsRequest]) -> AnswerFields:
    """DeleteGroups v0–v2."""
    request = exchange.request
    deleted = await exchange.ask_each(
        request.groups_names, lambda groups: DeleteGroups(groups=groups), str, Operation.DELETE
    )
    return {"results": [{"group_id": group, "error_code": error} for group, error in deleted.values()]}
