"""CreatePartitions v0–v3."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from coordinator.server.apis.create_topics import (
    MOST_PARTITIONS,
    TOO_MANY,
    TWICE,
    check_placed,
)
from coordinator.server.exchange import Exchange
from coordinator.server.node import Node
from coordinator.server.topics import TopicRefused
from wire.errors import ErrorCode


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request, node = exchange.request, exchange.node
    named = Counter(topic.name for topic in request.topics)
    results = [_result(name, ErrorCode.INVALID_REQUEST, TWICE) for name, count in named.items() if count > 1]
    room = MOST_PARTITIONS
    async with node.topics.changing:
        for topic in request.topics:
            if named[topic.name] == 1:
                before = _partitions(node, topic.name)
                grown = await asyncio.to_thread(_grow, node, topic, before, room, request.validate_only)
                results.append(grown)
                if not grown["error_code"]:
                    room -= topic.count - before
        node.topics_changed()
    return {"results": results}


def _partitions(node: Node, name: str) -> int:
    """How many a topic has now; 0 when there is none of that name."""
    topic = node.topics.image.topics.get(name)
    return 0 if topic is None else topic.partitions


def _grow(node: Node, asked: Any, before: int, room: int, dry_run: bool) -> Mapping[str, Any]:
    more = asked.count - before
    try:
        if before and more > 0:
            if more > room:
                raise TopicRefused(ErrorCode.POLICY_VIOLATION, TOO_MANY)
            _check_by_hand(node, asked, more)
        node.topics.grow(asked.name, asked.count, dry_run=dry_run)
    except TopicRefused as error:
        return _result(asked.name, error.code, error.message)
    return _result(asked.name, ErrorCode.NONE, None)


def _check_by_hand(node: Node, asked: Any, more: int) -> None:
    if asked.assignments is None:
        return
    if len(asked.assignments) != more:
        raise TopicRefused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {more} additional partition(s), but only {len(asked.assignments)} "
            "assignment(s) were specified.",
        )
    check_placed((one.broker_ids for one in asked.assignments), node.settings.node_id)


def _result(name: str, code: int, message: str | None) -> Mapping[str, Any]:
    return {"name": name, "error_code": code, "error_message": message}
