"""Partitions as the broker that is asked leads them."""

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
"""The client is to go to another leader, or learn of another epoch of the same one."""


def topic_named(
    exchange: Exchange, name: str, topic_id: UUID | None, needs: Operation, *, by_id: bool
) -> TopicInfo:
    """The topic that a request names in one of both ways; `needs` is what is done with it.

    :raises RequestRefused: there is none, or that is not allowed, which hides whether there is one of the name
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
    """Whether clients may write to a topic, and delete from it. :raises RequestRefused: a coordinator keeps it"""
    if topic.name in INTERNAL_TOPICS:
        raise RequestRefused(ErrorCode.INVALID_TOPIC_EXCEPTION)


def led_partition(exchange: Exchange, topic: TopicInfo, number: int, leader_epoch: int = -1) -> Partition:
    """A partition that the broker leads; `leader_epoch` is what the client knows, -1 for nothing.

    :raises RequestRefused: it is not there, another broker's, or of another epoch
    """
    partition = exchange.cluster.partitions.find(topic.id, number)
    if partition is None:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if exchange.cluster.leader_of(topic.name, number) is not exchange.broker:
        raise RequestRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    partition.check_epoch(leader_epoch)
    return partition


def current_leader(exchange: Exchange, topic: TopicInfo, number: int) -> Mapping[str, Any]:
    """The leader that a client is to go to instead (KIP-951)."""
    leader = exchange.cluster.leader_of(topic.name, number)
    return {
        "leader_id": -1 if leader is None else leader.node_id,
        "leader_epoch": exchange.cluster.partitions.leader_epoch(topic.id, number),
    }


def refusal(error: RequestRefused | OSError) -> RequestRefused:
    """What is answered where a partition refuses, or its files cannot be read or written."""
    if isinstance(error, RequestRefused):
        return error
    _warn_once(f"Records cannot be read or written: {error.strerror or error}")
    return RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR)


@cache
def _warn_once(message: str) -> None:
    _log.warning("%s", message)


def endpoints(exchange: Exchange, results: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Where the leaders are that results of partitions name."""
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
