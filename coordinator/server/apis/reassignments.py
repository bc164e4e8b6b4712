"""Reassignments and leader elections.

All brokers share one storage: a reassignment finishes at once, so none is ever listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from coordinator.errors import RequestRefused
from coordinator.server.apis.topics import check_placed
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange
from coordinator.server.topics import TopicRefused
from wire.errors import ErrorCode


async def list_partition_reassignments(_: Exchange) -> Mapping[str, Any]:
    """ListPartitionReassignments v0 (KIP-455)."""
    return {"error_code": ErrorCode.NONE, "error_message": None, "topics": ()}


async def alter_partition_reassignments(exchange: Exchange) -> Mapping[str, Any]:
    """AlterPartitionReassignments v0–v1 (KIP-455): sets new replicas; null would cancel a reassignment in progress."""
    request = exchange.request
    async with exchange.cluster.topics.changing:
        responses = [
            {
                "name": topic.name,
                "partitions": [_reassigned(exchange, topic.name, one) for one in topic.partitions],
            }
            for topic in request.topics
        ]
    return {
        "allow_replication_factor_change": request.allow_replication_factor_change,
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "responses": responses,
    }


def _reassigned(exchange: Exchange, topic: str, requested: Any) -> Mapping[str, Any]:
    error: int = ErrorCode.NONE
    message = None
    try:
        _reassign(exchange, topic, requested.partition_index, requested.replicas)
    except (TopicRefused, RequestRefused) as refused:
        error, message = refused.code, refused.message
    return {"partition_index": requested.partition_index, "error_code": error, "error_message": message}


def _reassign(exchange: Exchange, topic: str, number: int, replicas: Any) -> None:
    cluster = exchange.cluster
    known = cluster.topics.image.topics.get(topic)
    if known is None:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic}.")
    if not 0 <= number < known.partitions:
        raise RequestRefused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic}:{number}."
        )
    if replicas is None:
        raise RequestRefused(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    check_placed([replicas], cluster.brokers)
    before = len(cluster.placement.replicas(topic, number))
    if not exchange.request.allow_replication_factor_change and len(replicas) != before:
        why = f"The replication factor is changed from {before} to {len(replicas)}"
        raise RequestRefused(ErrorCode.INVALID_REPLICATION_FACTOR, why)
    cluster.reassign(topic, number, tuple(replicas))


PREFERRED, UNCLEAN = 0, 1


async def elect_leaders(exchange: Exchange) -> Mapping[str, Any]:
    """ElectLeaders v0–v2 (KIP-183, KIP-460): preferred leaders; every partition has a leader that is in sync."""
    request, cluster = exchange.request, exchange.cluster
    kind = request.election_type if exchange.version > 0 else PREFERRED
    named = request.topic_partitions
    wanted: Iterable[tuple[str, Iterable[int]]] = (
        [(topic.name, range(topic.partitions)) for topic in cluster.topics.image.topics.values()]
        if named is None
        else [(one.topic, one.partitions) for one in named]
    )
    top = ErrorCode.NONE if kind in (PREFERRED, UNCLEAN) else ErrorCode.INVALID_REQUEST
    results = []
    for topic, numbers in wanted:
        elected = [_elected(cluster, kind, topic, number) for number in numbers]
        shown = [
            one for one in elected if named is not None or one["error_code"] != ErrorCode.ELECTION_NOT_NEEDED
        ]
        results.append({"topic": topic, "partition_result": shown})
    return {"error_code": top, "replica_election_results": results}


def _elected(cluster: Cluster, kind: int, topic: str, number: int) -> Mapping[str, Any]:
    error: int = ErrorCode.NONE
    message = None
    known = cluster.topics.image.topics.get(topic)
    if kind not in (PREFERRED, UNCLEAN):
        error, message = ErrorCode.INVALID_REQUEST, f"Unknown election type {kind}"
    elif known is None:
        error, message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic}"
    elif not 0 <= number < known.partitions:
        error, message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {topic}-{number}"
    elif kind == UNCLEAN or not cluster.elect_preferred(topic, number):
        error, message = ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
    return {"partition_id": number, "error_code": error, "error_message": message}
