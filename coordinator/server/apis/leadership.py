"""The leaders of partitions: lookup, reassignments (which finish at once: storage is shared), and elections."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cache, partial
from uuid import UUID

from coordinator.engine.topics import TopicInfo
from coordinator.errors import RequestRefused
from coordinator.partitions.partition import Partition
from coordinator.server.apis.fields import judged, per_partition
from coordinator.server.apis.permissions import not_elected, requires_operation
from coordinator.server.apis.topics import check_placed
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.store.partition_files import INTERNAL_TOPICS
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode
from wire.messages.schemas import admin as admin_schemas
from wire.messages.schemas import log_records as log_records_schemas

_log = logging.getLogger(__name__)

MOVED = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
"""Errors after which the client must use another leader, or refresh the leader epoch."""


def topic_named(
    exchange: Exchange, name: str, topic_id: UUID | None, needs: Operation, *, by_id: bool
) -> TopicInfo:
    """The topic named by name or id. Raises RequestRefused: unknown, or hidden as the caller lacks `needs`."""
    topic = exchange.cluster.topics.find(name, topic_id if by_id else None)
    known = topic.name if topic is not None else None if by_id and topic_id is not None else name
    if known is not None and not exchange.allows(needs, ResourceType.TOPIC, known):
        raise RequestRefused(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if topic is None:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic


def require_ordinary(topic: TopicInfo) -> None:
    """Check that clients may write to a topic or delete its records. Raises RequestRefused: it is an internal topic."""
    if topic.name in INTERNAL_TOPICS:
        raise RequestRefused(ErrorCode.INVALID_TOPIC_EXCEPTION)


def led_partition(exchange: Exchange, topic: TopicInfo, number: int, leader_epoch: int = -1) -> Partition:
    """The partition, if this broker leads it, and the client knows its epoch or none (-1). Raises RequestRefused."""
    partition = exchange.cluster.partitions.find(topic.id, number)
    if partition is None:
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if exchange.cluster.leader_of(topic.name, number) is not exchange.broker:
        raise RequestRefused(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    partition.check_epoch(leader_epoch)
    return partition


def current_leader(
    exchange: Exchange, topic: TopicInfo, number: int
) -> log_records_schemas.ProduceResponseResponsePartitionResponseCurrentLeaderFields:
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


def endpoints(
    exchange: Exchange,
    results: Iterable[
        log_records_schemas.ProduceResponseResponsePartitionResponseFields
        | log_records_schemas.FetchResponseResponsePartitionFields
    ],
) -> list[log_records_schemas.ProduceResponseNodeEndpointFields]:
    brokers = exchange.cluster.brokers
    leaders = (result["current_leader"] for result in results if "current_leader" in result)
    named = dict.fromkeys(leader["leader_id"] for leader in leaders)
    return [
        {"node_id": number, "host": broker.host, "port": broker.port, "rack": broker.rack}
        for number in named
        if (broker := brokers.get(number)) is not None
    ]


@requires_operation(Operation.DESCRIBE, topics=())
async def list_partition_reassignments(_: Exchange) -> AnswerFields:
    """ListPartitionReassignments v0 (KIP-455)."""
    return {"error_code": ErrorCode.NONE, "error_message": None, "topics": ()}


@requires_operation(Operation.ALTER, responses=())
async def alter_partition_reassignments(
    exchange: Exchange[admin_schemas.AlterPartitionReassignmentsRequest],
) -> AnswerFields:
    """AlterPartitionReassignments v0–v1 (KIP-455): sets new replicas; null would cancel a reassignment in progress."""
    request = exchange.request

    def reassigned(
        topic: str, one: admin_schemas.AlterPartitionReassignmentsRequestTopicPartition
    ) -> AnswerFields:
        number = one.partition_index
        return {
            "partition_index": number,
            **judged(partial(_reassign, exchange, topic, number, one.replicas)),
        }

    async with exchange.cluster.topics.changing:
        responses = per_partition(((one.name, one.partitions) for one in request.topics), reassigned)
    change = {"allow_replication_factor_change": request.allow_replication_factor_change}
    return {**change, "error_code": ErrorCode.NONE, "error_message": None, "responses": responses}


def _reassign(
    exchange: Exchange[admin_schemas.AlterPartitionReassignmentsRequest],
    topic: str,
    number: int,
    replicas: Sequence[int] | None,
) -> None:
    cluster = exchange.cluster
    known = cluster.topics.image.topics.get(topic)
    if known is None or not 0 <= number < known.partitions:
        what = f"a topic named {topic}" if known is None else f"partition {topic}:{number}"
        raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find {what}.")
    if replicas is None:
        raise RequestRefused(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    check_placed([tuple(replicas)], cluster.brokers)
    before = len(cluster.placement.replicas(topic, number))
    if not exchange.request.allow_replication_factor_change and len(replicas) != before:
        why = f"The replication factor is changed from {before} to {len(replicas)}"
        raise RequestRefused(ErrorCode.INVALID_REPLICATION_FACTOR, why)
    cluster.reassign(topic, number, tuple(replicas))


PREFERRED, UNCLEAN = 0, 1


@requires_operation(Operation.ALTER, replica_election_results=not_elected)
async def elect_leaders(exchange: Exchange[admin_schemas.ElectLeadersRequest]) -> AnswerFields:
    """ElectLeaders v0–v2 (KIP-183, KIP-460): preferred leaders; every partition has a leader that is in sync."""
    request, cluster = exchange.request, exchange.cluster
    kind = request.election_type if exchange.version > 0 else PREFERRED
    named = request.topic_partitions
    partitions_by_topic: Iterable[tuple[str, Iterable[int]]] = (
        [(topic.name, range(topic.partitions)) for topic in cluster.topics.image.topics.values()]
        if named is None
        else [(one.topic, one.partitions) for one in named]
    )
    top = ErrorCode.NONE if kind in (PREFERRED, UNCLEAN) else ErrorCode.INVALID_REQUEST
    results = []
    for topic, numbers in partitions_by_topic:
        elected = [_elected(cluster, kind, topic, number) for number in numbers]
        unneeded = ErrorCode.ELECTION_NOT_NEEDED
        shown = [one for one in elected if named is not None or one["error_code"] != unneeded]
        results.append({"topic": topic, "partition_result": shown})
    return {"error_code": top, "replica_election_results": results}


def _elected(cluster: Cluster, kind: int, topic: str, number: int) -> AnswerFields:
    error, message = ErrorCode.NONE, None
    known = cluster.topics.image.topics.get(topic)
    if kind not in (PREFERRED, UNCLEAN):
        error, message = ErrorCode.INVALID_REQUEST, f"Unknown election type {kind}"
    elif known is None or not 0 <= number < known.partitions:
        what = f"topic as {topic}" if known is None else f"partition as {topic}-{number}"
        error, message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such {what}"
    elif kind == UNCLEAN or not cluster.elect_preferred(topic, number):
        error, message = ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
    return {"partition_id": number, "error_code": error, "error_message": message}
