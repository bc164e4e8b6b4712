"""DeleteGroups v0–v2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.engine.delete_groups import DeleteGroups, DeleteGroupsAnswer
from coordinator.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    deleted: DeleteGroupsAnswer = await exchange.ask(DeleteGroups(groups=tuple(request.groups_names)))
    return {"results": [{"group_id": group, "error_code": error} for group, error in deleted.groups]}
