"""CreatePartitions v0–v3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.broker.errors import ErrorCode
from coordinator.wire.server.exchange import Exchange
from coordinator.wire.server.node import Node
from coordinator.wire.server.topics import TopicRefused


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    results = [
        _grow(exchange.node, topic.name, topic.count, request.validate_only) for topic in request.topics
    ]
    exchange.node.topics_changed()
    return {"results": results}


def _grow(node: Node, name: str, count: int, dry_run: bool) -> Mapping[str, Any]:
    try:
        node.topics.grow(name, count, dry_run=dry_run)
    except TopicRefused as error:
        return {"name": name, "error_code": error.code, "error_message": error.message}
    return {"name": name, "error_code": ErrorCode.NONE, "error_message": None}
