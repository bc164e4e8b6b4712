"""Partitions that the requested broker leads."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any
from uuid import UUID

from coordinator.engine.topics import TopicInfo
from coordinator.errors import RequestRefused
from coordinator.partitions.partition import Partition
from coordinator.server.exchange import Exchange
from coordinator.store.partition_files import INTERNAL_TOPICS
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode

_log = logging.getLogger(__name__)

MOVED = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
"""Errors after which the client must use another leader, or refresh the leader epoch."""


def topic_named(
    exchange: Exchange, name: str, topic_id: UUID | None, needs: Operation, *, by_id: bool
) -> TopicInfo:
    """Look up the topic that a request identifies by name or id; `needs` is the operation on it.

    :raises RequestRefused: unknown, or the caller may not do it, which hides whether the topic exists
    """
    image = exchange.cluster.topics.image
    if by_id and topic_id is not None:
        found = image.by_id.get(topic_id)
        known = None if found is None else found.name
    else:
        found, known = image.topics.get(name), name
    if known is not None and not exchange.allows(needs, ResourceType.TOPIC, known):
        raise RequestRefused(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if found is None:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return found


def require_ordinary(topic: TopicInfo) -> None:
    """Check that clients may write to a topic or delete its records. :raises RequestRefused: it is an internal topic"""
    if topic.name in INTERNAL_TOPICS:
        raise RequestRefused(ErrorCode.INVALID_TOPIC_EXCEPTION)


def led_partition(exchange: Exchange, topic: TopicInfo, number: int, leader_epoch: int = -1) -> Partition:
    """The partition, if this broker leads it; `leader_epoch`: the epoch that the client knows, -1 for unknown.

    :raises RequestRefused: unknown, led by another broker, or of another epoch
    """
    partition = exchange.cluster.partitions.find(topic.id, number)
    if partition is None:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if exchange.cluster.leader_of(topic.name, number) is not exchange.broker:
        raise RequestRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    partition.check_epoch(leader_epoch)
    return partition


def current_leader(exchange: Exchange, topic: TopicInfo, number: int) -> Mapping[str, Any]:
    """The current leader, for a client that asked another broker (KIP-951)."""
    leader = exchange.cluster.leader_of(topic.name, number)
    return {
        "leader_id": -1 if leader is None else leader.node_id,
        "leader_epoch": exchange.cluster.partitions.leader_epoch(topic.id, number),
    }


def refusal(error: RequestRefused | OSError) -> RequestRefused:
    """The error to answer if a partition refuses a request, or its files cannot be read or written."""
    if isinstance(error, RequestRefused):
        return error
    _warn_once(f"Records cannot be read or written: {error.strerror or error}")
    return RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR)


@cache
def _warn_once(message: str) -> None:
    _log.warning("%s", message)


def endpoints(exchange: Exchange, results: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The endpoints of the leaders named in partition results."""
    brokers = exchange.cluster.brokers
    named = dict.fromkeys(one["current_leader"]["leader_id"] for one in results if "current_leader" in one)
    return [
        {
            "node_id": number,
            "host": brokers[number].host,
            "port": brokers[number].port,
            "rack": brokers[number].rack,
        }
        for number in named
        if number in brokers
    ]
