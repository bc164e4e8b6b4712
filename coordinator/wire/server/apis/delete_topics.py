"""DeleteTopics v1–v6: by id since v6 (KIP-516)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.broker.errors import ErrorCode
from coordinator.wire.server.exchange import Exchange
from coordinator.wire.server.node import Node

BY_ID = 6
NO_SUCH_NAME = "This server does not host this topic-partition."
NO_SUCH_ID = "This server does not host this topic ID."


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    if exchange.version >= BY_ID:
        asked = [(topic.name, topic.topic_id) for topic in request.topics]
    else:
        asked = [(name, None) for name in request.topic_names]
    results = [_delete(exchange.node, name, topic_id) for name, topic_id in asked]
    exchange.node.topics_changed()
    return {"responses": results}


def _delete(node: Node, name: str | None, topic_id: Any) -> Mapping[str, Any]:
    topic = node.topics.find(name, topic_id)
    if topic is not None:
        node.topics.delete(topic)
        return _result(topic.name, topic.id, ErrorCode.NONE, None)
    if topic_id is not None:
        return _result(name, topic_id, ErrorCode.UNKNOWN_TOPIC_ID, NO_SUCH_ID)
    return _result(name, topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_NAME)


def _result(name: str | None, topic_id: Any, error: ErrorCode, message: str | None) -> Mapping[str, Any]:
    return {"name": name, "topic_id": topic_id, "error_code": error, "error_message": message}
