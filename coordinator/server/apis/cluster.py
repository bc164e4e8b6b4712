"""Metadata and DescribeCluster: the brokers and the topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
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

if TYPE_CHECKING:
    from wire.messages.schemas.cluster import (
        DescribeClusterRequest,
        MetadataRequest,
        MetadataRequestTopic,
        MetadataResponseTopicFields,
        MetadataResponseTopicPartitionFields,
    )


BY_ID = 12
UNKNOWN_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NO_CONTROLLER = -1


async def metadata(exchange: Exchange[MetadataRequest]) -> AnswerFields:
    """Metadata v0–v13: an empty topic list v1, topic ids v10 (KIP-516), lookup by id v12, a top-level error v13.

    A missing topic is created while the answer is built, which does not contain it yet (AutoTopicCreationManager).
    """
    request, cluster = exchange.request, exchange.cluster
    if exchange.version < BY_ID and any(_is_by_id(requested) for requested in request.topics or ()):
        return _refused(request)
    creates = request.allow_auto_topic_creation and cluster.settings.auto_create_topics_enable
    topics = [_shown(exchange, topic, creates=creates) for topic in _topics(exchange)]
    if creates:
        await create_missing(
            cluster, [topic["name"] or "" for topic in topics if topic["error_code"] == UNKNOWN_TOPIC]
        )
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


def _cluster_operations(exchange: Exchange[MetadataRequest | DescribeClusterRequest]) -> int:
    """The caller's authorized operations on the cluster, none if it may not describe it."""
    if not exchange.request.include_cluster_authorized_operations:
        return NO_OPERATIONS
    if not exchange.allows(Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return 0
    return exchange.operations(ResourceType.CLUSTER, CLUSTER_NAME)


def _shown(
    exchange: Exchange[MetadataRequest], topic: MetadataResponseTopicFields, *, creates: bool
) -> MetadataResponseTopicFields:
    """The topic with the caller's authorized operations. A missing one is created only if the caller may create it."""
    name, error = topic["name"], topic["error_code"]
    if error == UNKNOWN_TOPIC and creates and not may_create(exchange, name or ""):
        return {**topic, "error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    is_asked = exchange.request.include_topic_authorized_operations
    if name is None or not is_asked or error == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        return topic
    return {**topic, "topic_authorized_operations": exchange.operations(ResourceType.TOPIC, name)}


def _is_by_id(requested: MetadataRequestTopic) -> bool:
    return requested.name is None or requested.topic_id is not None


def _refused(request: MetadataRequest) -> AnswerFields:
    """The refusal of a request by id: v10 and v11 have a field for ids and do not serve them."""
    return {
        "brokers": (),
        "controller_id": NO_CONTROLLER,
        "topics": [
            _missing(requested.name or "", requested.topic_id, ErrorCode.INVALID_REQUEST)
            for requested in request.topics or ()
        ],
    }


def _topics(exchange: Exchange[MetadataRequest]) -> Iterable[MetadataResponseTopicFields]:
    """The requested topics, or all, as far as the caller may describe them."""
    cluster, request, version = exchange.cluster, exchange.request, exchange.version
    # v0 has no null: an empty list means all topics.
    if request.topics is None or (version == 0 and not request.topics):
        return (
            _topic(cluster, one)
            for one in cluster.topics.image.topics.values()
            if exchange.allows(Operation.DESCRIBE, ResourceType.TOPIC, one.name)
        )
    ids = dict.fromkeys(
        requested.topic_id for requested in request.topics if version >= BY_ID and requested.topic_id
    )
    if ids:  # names next to ids are ignored
        return (_of_id(exchange, topic_id) for topic_id in ids)
    return (
        _of_name(exchange, name)
        for name in dict.fromkeys(requested.name or "" for requested in request.topics)
    )


def _of_id(exchange: Exchange, topic_id: UUID) -> MetadataResponseTopicFields:
    topic = exchange.cluster.topics.image.by_id.get(topic_id)
    if topic is None:
        return _missing(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    if not exchange.allows(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
        return _missing(None, topic_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return _topic(exchange.cluster, topic)


def _of_name(exchange: Exchange, name: str) -> MetadataResponseTopicFields:
    if not exchange.allows(Operation.DESCRIBE, ResourceType.TOPIC, name):
        return _missing(name, None, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    cluster = exchange.cluster
    topic = cluster.topics.image.topics.get(name)
    if topic is not None:
        return _topic(cluster, topic)
    return _missing(name, None, missing(name).code)


def _missing(name: str | None, topic_id: UUID | None, error: int) -> MetadataResponseTopicFields:
    return {"error_code": error, "name": name, "topic_id": topic_id, "is_internal": False, "partitions": ()}


def _topic(cluster: Cluster, topic: TopicInfo) -> MetadataResponseTopicFields:
    return {
        "error_code": ErrorCode.NONE,
        "name": topic.name,
        "topic_id": topic.id,
        "is_internal": topic.name in INTERNAL_TOPICS,
        "partitions": LazyEntries(
            lambda number: described_partition(cluster, topic, number),
            range(topic.partitions),
        ),
    }


def described_partition(
    cluster: Cluster, topic: TopicInfo, number: int
) -> MetadataResponseTopicPartitionFields:
    """The Metadata fields of an existing partition."""
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


async def describe_cluster(exchange: Exchange[DescribeClusterRequest]) -> AnswerFields:
    """DescribeCluster v0–v2 (KIP-700). The controller has no separate endpoint (v1, KIP-919)."""
    request, cluster = exchange.request, exchange.cluster
    endpoints = request.endpoint_type
    if endpoints != BROKERS:
        return _wrong_endpoint(endpoints)
    present = cluster.present
    brokers = [
        {
            "broker_id": broker.node_id,
            "host": broker.host,
            "port": broker.port,
            "rack": broker.rack,
            "is_fenced": broker not in present,
        }
        for broker in (cluster.brokers.values() if request.include_fenced_brokers else present)
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


def _wrong_endpoint(endpoints: int) -> AnswerFields:
    if endpoints == CONTROLLERS:
        error = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        why = (
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        )
    else:
        error, why = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoints}"
    return {
        "error_code": error,
        "error_message": why,
        "cluster_id": "",
        "brokers": (),
        "cluster_authorized_operations": NO_OPERATIONS,
    }
