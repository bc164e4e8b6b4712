"""DeleteTopics v1–v6: by id since v6 (KIP-516)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias
from uuid import UUID

from coordinator.engine.topics import TopicInfo
from coordinator.server.exchange import Exchange
from coordinator.server.topics import TopicRefused, Topics
from wire.errors import ErrorCode

BY_ID = 6
NO_SUCH_NAME = "This server does not host this topic-partition."
NO_SUCH_ID = "This server does not host this topic ID."
NEITHER = "Neither topic name nor id were specified."
BOTH = "You may not specify both topic name and topic id."
NAME_TWICE = "Duplicate topic name."
ID_TWICE = "Duplicate topic id."
NAME_AND_ID = "The provided topic name maps to an ID that was already supplied."

Asked: TypeAlias = tuple[str | None, UUID | None]
"""A name or an id."""


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request, topics = exchange.request, exchange.node.topics
    if exchange.version >= BY_ID:
        asked: Iterable[Asked] = ((topic.name, topic.topic_id) for topic in request.topics)
    else:
        asked = ((name, None) for name in request.topic_names)
    async with topics.changing:
        results = await asyncio.to_thread(lambda: list(_delete(topics, Counter(asked))))
        exchange.node.topics_changed()
    return {"responses": results}


def _delete(topics: Topics, asked: Counter[Asked]) -> Iterator[Mapping[str, Any]]:
    """Delete what is asked for once, in one way."""
    found = {one: topics.find(*one) for one in asked}
    named = {topic.id for (name, _), topic in found.items() if name is not None and topic is not None}
    for (name, topic_id), topic in found.items():
        refusal = _refusal(name, topic_id, asked[name, topic_id])
        if refusal is not None:
            yield _result(name, topic_id, ErrorCode.INVALID_REQUEST, refusal)
        elif topic is None and topic_id is not None:
            yield _result(name, topic_id, ErrorCode.UNKNOWN_TOPIC_ID, NO_SUCH_ID)
        elif topic is None:
            yield _result(name, topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_NAME)
        elif name is not None and (None, topic.id) in asked:
            yield _result(name, topic.id, ErrorCode.INVALID_REQUEST, NAME_AND_ID)
        elif name is not None or topic.id not in named:
            yield _deleted(topics, topic)


def _deleted(topics: Topics, topic: TopicInfo) -> Mapping[str, Any]:
    try:
        topics.delete(topic)
    except TopicRefused as error:
        return _result(topic.name, topic.id, error.code, error.message)
    return _result(topic.name, topic.id, ErrorCode.NONE, None)


def _refusal(name: str | None, topic_id: UUID | None, times: int) -> str | None:
    """What is wrong with the question, whatever topics there are."""
    if name is None and topic_id is None:
        return NEITHER
    if name is not None and topic_id is not None:
        return BOTH
    if times == 1:
        return None
    return ID_TWICE if name is None else NAME_TWICE


def _result(name: str | None, topic_id: UUID | None, error: int, message: str | None) -> Mapping[str, Any]:
    return {"name": name, "topic_id": topic_id, "error_code": error, "error_message": message}
