"""ListGroups v0–v5: states v4 (KIP-518), types v5 (KIP-848)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.list_groups import ListGroups, ListGroupsAnswer
from coordinator.server.apis.fields import Each
from coordinator.server.exchange import Exchange
from groups.listing import GroupListing


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = ListGroups(
        states=tuple(request.states_filter),
        types=tuple(request.types_filter),
    )
    listed: ListGroupsAnswer = await exchange.ask(call)
    return {"error_code": listed.error, "groups": Each(_fields, listed.groups)}


def _fields(group: GroupListing) -> Mapping[str, Any]:
    return {
        "group_id": group.id,
        "protocol_type": group.protocol_type,
        "group_state": group.state.value,
        "group_type": group.type.value,
    }
