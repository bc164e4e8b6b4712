"""CreateTopics v2–v7. Settings of a topic are accepted and mean nothing: topics hold no records."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coordinator.server.exchange import Exchange
from coordinator.server.node import Node
from coordinator.server.topics import TopicRefused, check_name
from wire.errors import ErrorCode

MOST_PARTITIONS = 10_000
"""New ones of one request. A partition is a record of the controller's, and it writes no more at once."""


TOO_MANY = "Unable to perform excessively large batch operation."


_MANUAL = "The manual partition assignment includes"


def check_placed(replicas: Iterable[Sequence[int]], node_id: int) -> None:
    """Judge the brokers of each partition. :raises TopicRefused: none, one twice, or one that is not there"""
    for brokers in replicas:
        if not brokers:
            raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"{_MANUAL} an empty replica list.")
        for broker in brokers:
            if broker != node_id:
                why = f"{_MANUAL} broker {broker}, but no such broker is registered."
                raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
        if len(brokers) > 1:
            why = f"{_MANUAL} the broker {node_id} more than once."
            raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)


REPLICATION_FACTOR = 1


UNSET = -1


TWICE = "Duplicate topic name."


FAR_TOO_MANY = "Excessively large number of partitions per request."


_BY_HAND = "A manual partition assignment was specified, but"


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request, node = exchange.request, exchange.node
    named = Counter(topic.name for topic in request.topics)
    wanted = [topic for topic in request.topics if named[topic.name] == 1]
    excess = _excess(node, wanted)
    if excess is not None:
        return {
            "topics": [_refused(topic.name, ErrorCode.POLICY_VIOLATION, excess) for topic in request.topics]
        }
    async with node.topics.changing:
        made = [await asyncio.to_thread(_create, node, topic, request.validate_only) for topic in wanted]
        node.topics_changed()
    twice = [name for name, count in named.items() if count > 1]
    return {"topics": [*made, *(_refused(name, ErrorCode.INVALID_REQUEST, TWICE) for name in twice)]}


def _excess(node: Node, wanted: Sequence[Any]) -> str | None:
    """Why all topics together are too many, if they are."""
    partitions = sum(max(0, _count(node, topic)) for topic in wanted)
    if partitions > MOST_PARTITIONS:
        return FAR_TOO_MANY
    return TOO_MANY if partitions + len(wanted) > MOST_PARTITIONS else None


def _count(node: Node, asked: Any) -> int:
    """The number of partitions wanted; -1 leaves it to the server, and replicas placed by hand are counted."""
    if asked.assignments:
        return len(asked.assignments)
    wanted: int = asked.num_partitions
    return node.settings.num_partitions if wanted == UNSET else wanted


def _create(node: Node, asked: Any, dry_run: bool) -> Mapping[str, Any]:
    try:
        check_name(asked.name)
        if asked.name not in node.topics.image.topics:
            _check(node, asked)
        topic = node.topics.create(asked.name, _count(node, asked), dry_run=dry_run)
    except TopicRefused as error:
        return _refused(asked.name, error.code, error.message)
    return {
        "name": topic.name,
        "topic_id": topic.id,
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "topic_config_error_code": ErrorCode.NONE,
        "num_partitions": topic.partitions,
        "replication_factor": REPLICATION_FACTOR,
        "configs": (),
    }


def _check(node: Node, asked: Any) -> None:
    """Judge the partitions and replicas of a new topic. :raises TopicRefused:"""
    factor, partitions = asked.replication_factor, asked.num_partitions
    if asked.assignments:
        _check_by_hand(node, asked)
    elif factor == 0 or factor < UNSET:
        raise TopicRefused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    elif partitions == 0 or partitions < UNSET:
        raise TopicRefused(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
        )
    elif factor > REPLICATION_FACTOR:
        raise TopicRefused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): The target replication factor of {factor} "
            "cannot be reached because only 1 broker(s) are registered or some brokers have all their log "
            "directories cordoned.",
        )


def _check_by_hand(node: Node, asked: Any) -> None:
    for given, what in (
        (asked.replication_factor, "replication factor"),
        (asked.num_partitions, "numPartitions"),
    ):
        if given != UNSET:
            raise TopicRefused(ErrorCode.INVALID_REQUEST, f"{_BY_HAND} {what} was not set to -1.")
    numbers = Counter(one.partition_index for one in asked.assignments)
    for number, count in numbers.items():
        if count > 1:
            why = f"Found multiple manual partition assignments for partition {number}"
            raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
    check_placed((one.broker_ids for one in asked.assignments), node.settings.node_id)
    if set(numbers) != set(range(len(numbers))):
        why = "partitions should be a consecutive 0-based integer sequence"
        raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)


def _refused(name: str, code: int, message: str | None) -> Mapping[str, Any]:
    return {
        "name": name,
        "topic_id": None,
        "error_code": code,
        "error_message": message,
        "topic_config_error_code": ErrorCode.NONE,
        "num_partitions": -1,
        "replication_factor": -1,
        "configs": (),
    }
