"""Metadata and DescribeCluster: the brokers and the topics."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from coordinator.engine.topics import TopicInfo
from coordinator.server.apis.fields import NO_OPERATIONS, LazyEntries
from coordinator.server.apis.permissions import may_create
from coordinator.server.apis.topics import create_missing
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.placement import NO_LEADER
from coordinator.server.topics import missing
from coordinator.store.partition_files import INTERNAL_TOPICS
from wire.acls import CLUSTER_NAME, Operation, ResourceType
from wire.errors import ErrorCode
from wire.messages.schemas import cluster as schemas

BY_ID = 12
UNKNOWN_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NO_CONTROLLER = -1


async def metadata(exchange: Exchange[schemas.MetadataRequest]) -> AnswerFields:
    """Metadata v0–v13. A missing topic is created while the answer is built, which does not contain it yet."""
    request, cluster = exchange.request, exchange.cluster
    if exchange.version < BY_ID and any(one.name is None or one.topic_id for one in request.topics or ()):
        # v10 and v11 have a field for ids and do not serve them.
        invalid = ErrorCode.INVALID_REQUEST
        missed = [_missing(one.name or "", one.topic_id, invalid) for one in request.topics or ()]
        return {"brokers": (), "controller_id": NO_CONTROLLER, "topics": missed}
    creates = request.allow_auto_topic_creation and cluster.settings.auto_create_topics_enable
    topics = [_shown(exchange, topic, creates=creates) for topic in _topics(exchange)]
    if creates:
        unknown = [one["name"] or "" for one in topics if one["error_code"] == UNKNOWN_TOPIC]
        await create_missing(cluster, unknown)
    return {
        "brokers": [
            {"node_id": broker.node_id, "host": broker.host, "port": broker.port, "rack": broker.rack}
            for broker in cluster.present
        ],
        "cluster_id": cluster.cluster_id,
        "controller_id": cluster.controller.node_id,
        "topics": topics,
        "cluster_authorized_operations": _cluster_operations(exchange),
        "error_code": ErrorCode.NONE,
    }


def _cluster_operations(exchange: Exchange[schemas.MetadataRequest | schemas.DescribeClusterRequest]) -> int:
    if not exchange.request.include_cluster_authorized_operations:
        return NO_OPERATIONS
    if not exchange.allows_cluster(Operation.DESCRIBE):
        return 0
    return exchange.operations(ResourceType.CLUSTER, CLUSTER_NAME)


def _shown(
    exchange: Exchange[schemas.MetadataRequest], topic: schemas.MetadataResponseTopicFields, *, creates: bool
) -> schemas.MetadataResponseTopicFields:
    """The topic with the caller's authorized operations. A missing one is created only if the caller may create it."""
    name, error = topic["name"], topic["error_code"]
    if error == UNKNOWN_TOPIC and creates and not may_create(exchange, name or ""):
        return {**topic, "error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    is_asked = exchange.request.include_topic_authorized_operations
    if name is None or not is_asked or error == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        return topic
    return {**topic, "topic_authorized_operations": exchange.operations(ResourceType.TOPIC, name)}


def _topics(exchange: Exchange[schemas.MetadataRequest]) -> Iterable[schemas.MetadataResponseTopicFields]:
    """The requested topics, or all, as far as the caller may describe them."""
    cluster, request, version = exchange.cluster, exchange.request, exchange.version
    # v0 has no null: an empty list means all topics.
    if request.topics is None or (version == 0 and not request.topics):
        known = cluster.topics.image.topics.values()
        return (_topic(cluster, one) for one in known if not exchange.hides(one.name))
    ids = dict.fromkeys(one.topic_id for one in request.topics if version >= BY_ID and one.topic_id)
    if ids:  # names next to ids are ignored
        return (_of_id(exchange, topic_id) for topic_id in ids)
    return (_of_name(exchange, name) for name in dict.fromkeys(one.name or "" for one in request.topics))


def _of_id(exchange: Exchange, topic_id: UUID) -> schemas.MetadataResponseTopicFields:
    topic = exchange.cluster.topics.image.by_id.get(topic_id)
    if topic is None:
        return _missing(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    if exchange.hides(topic.name):
        return _missing(None, topic_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return _topic(exchange.cluster, topic)


def _of_name(exchange: Exchange, name: str) -> schemas.MetadataResponseTopicFields:
    if exchange.hides(name):
        return _missing(name, None, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    cluster = exchange.cluster
    topic = cluster.topics.image.topics.get(name)
    if topic is not None:
        return _topic(cluster, topic)
    return _missing(name, None, missing(name).code)


def _missing(name: str | None, topic_id: UUID | None, error: int) -> schemas.MetadataResponseTopicFields:
    return {"error_code": error, "name": name, "topic_id": topic_id, "is_internal": False, "partitions": ()}


def _topic(cluster: Cluster, topic: TopicInfo) -> schemas.MetadataResponseTopicFields:
    return {
        "error_code": ErrorCode.NONE,
        "name": topic.name,
        "topic_id": topic.id,
        "is_internal": topic.name in INTERNAL_TOPICS,
        "partitions": LazyEntries(
            lambda number: described_partition(cluster, topic, number), range(topic.partitions)
        ),
    }


def described_partition(
    cluster: Cluster, topic: TopicInfo, number: int
) -> schemas.MetadataResponseTopicPartitionFields:
    placement = cluster.placement.place(topic.name, number)
    return {
        "error_code": ErrorCode.LEADER_NOT_AVAILABLE if placement.leader == NO_LEADER else ErrorCode.NONE,
        "partition_index": number,
        "leader_id": placement.leader,
        "leader_epoch": cluster.partitions.leader_epoch(topic.id, number),
        "replica_nodes": placement.replicas,
        "isr_nodes": placement.in_sync,
        "offline_replicas": placement.offline,
    }


BROKERS, CONTROLLERS = 1, 2


async def describe_cluster(exchange: Exchange[schemas.DescribeClusterRequest]) -> AnswerFields:
    """DescribeCluster v0–v2 (KIP-700). The controller has no separate endpoint (v1, KIP-919)."""
    request, cluster = exchange.request, exchange.cluster
    endpoints = request.endpoint_type
    if endpoints != BROKERS:
        error, why = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoints}"
        if endpoints == CONTROLLERS:
            error, kind = ErrorCode.MISMATCHED_ENDPOINT_TYPE, "an endpoint of type"
            why = f"The request was sent to {kind} BROKER, but we wanted {kind} CONTROLLER"
        refused = {"error_code": error, "error_message": why, "cluster_id": "", "brokers": ()}
        return {**refused, "cluster_authorized_operations": NO_OPERATIONS}
    present = cluster.present
    brokers = [
        {
            "broker_id": one.node_id,
            "host": one.host,
            "port": one.port,
            "rack": one.rack,
            "is_fenced": one not in present,
        }
        for one in (cluster.brokers.values() if request.include_fenced_brokers else present)
    ]
    return {
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "endpoint_type": BROKERS,
        "cluster_id": cluster.cluster_id,
        "controller_id": cluster.controller.node_id,
        "brokers": brokers,
        "cluster_authorized_operations": _cluster_operations(exchange),
    }
