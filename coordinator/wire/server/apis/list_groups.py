"""ListGroups v0–v5: states v4 (KIP-518), types v5 (KIP-848)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.broker.answers import ListGroupsAnswer
from coordinator.broker.calls import ListGroups
from coordinator.broker.errors import ErrorCode
from coordinator.wire.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    call = ListGroups(
        states=tuple(getattr(request, "states_filter", ())),
        types=tuple(getattr(request, "types_filter", ())),
        version=exchange.version,
    )
    listed: ListGroupsAnswer = await exchange.ask(call)
    return {
        "error_code": ErrorCode.NONE,
        "groups": [
            {
                "group_id": one.group,
                "protocol_type": one.protocol_type,
                "group_state": one.state,
                "group_type": one.type,
            }
            for one in listed.groups
        ],
    }
