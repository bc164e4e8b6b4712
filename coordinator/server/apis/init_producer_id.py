"""InitProducerId v0–v5: an id, so that a producer gets as far as being told that records are not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.server.exchange import Exchange
from wire.errors import ErrorCode

FIRST_ID = 0


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    if request.transactional_id is not None:
        return {"error_code": ErrorCode.COORDINATOR_NOT_AVAILABLE, "producer_id": -1, "producer_epoch": -1}
    return {"error_code": ErrorCode.NONE, "producer_id": FIRST_ID, "producer_epoch": 0}
