"""Produce v3–v13: refused. It is served because librdkafka fetches only from brokers that know it.

A producer that wants no answer learns of the refusal by the end of its connection, as it does of any from Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.server.apis.fields import Each
from coordinator.server.exchange import Exchange, PeerFault
from wire.errors import ErrorCode

WHY = "kohort serve keeps no records"


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    if request.acks == 0:
        raise PeerFault(f"records were sent, and {WHY}")
    return {
        "responses": [
            {
                "name": topic.name,
                "topic_id": topic.topic_id,
                "partition_responses": Each(_partition, topic.partition_data),
            }
            for topic in request.topic_data
        ]
    }


def _partition(asked: Any) -> Mapping[str, Any]:
    return {
        "index": asked.index,
        "error_code": ErrorCode.POLICY_VIOLATION,
        "base_offset": -1,
        "log_append_time_ms": -1,
        "log_start_offset": -1,
        "record_errors": (),
        "error_message": WHY,
    }
