"""Produce v3–v13: refused. It is served because librdkafka fetches only from brokers that know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.wire.server.exchange import Exchange

POLICY_VIOLATION = 44
WHY = "kohort serve keeps no records."


async def answer(exchange: Exchange) -> Mapping[str, Any] | None:
    request = exchange.request
    if request.acks == 0:
        return None
    return {
        "responses": [
            {
                "name": getattr(topic, "name", ""),
                "topic_id": getattr(topic, "topic_id", None),
                "partition_responses": [_partition(one.index) for one in topic.partition_data],
            }
            for topic in request.topic_data
        ]
    }


def _partition(index: int) -> Mapping[str, Any]:
    return {
        "index": index,
        "error_code": POLICY_VIOLATION,
        "base_offset": -1,
        "log_append_time": None,
        "log_start_offset": -1,
        "record_errors": (),
        "error_message": WHY,
    }
