"""The brokers, and the topics that there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from coordinator.engine.topics import TopicInfo
from coordinator.server.apis.fields import NO_OPERATIONS, Each
from coordinator.server.apis.topics import create_missing
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange
from coordinator.server.placement import NOBODY
from coordinator.server.topics import TopicRefused, check_name
from coordinator.store.partition_files import OFFSETS_TOPIC
from wire.errors import ErrorCode

BY_ID = 12
NOT_THERE = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NOWHERE = -1
TOPIC_OPERATIONS = sum(1 << number for number in (3, 4, 5, 6, 7, 8, 10, 11))
CLUSTER_OPERATIONS = sum(1 << number for number in (5, 7, 8, 9, 10, 11, 12))


async def metadata(exchange: Exchange) -> Mapping[str, Any]:
    """Metadata v0–v13: no topics v1, ids v10 (KIP-516), by id v12, a top-level error v13.

    A topic that is not there is made when the answer, which does not have it yet, is made (AutoTopicCreationManager).
    """
    request, cluster = exchange.request, exchange.cluster
    if exchange.version < BY_ID and any(_is_by_id(asked) for asked in request.topics or ()):
        return _refused(request)
    operations = TOPIC_OPERATIONS if request.include_topic_authorized_operations else NO_OPERATIONS
    topics = [
        {**one, "topic_authorized_operations": operations}
        for one in _topics(cluster, request, exchange.version)
    ]
    if request.allow_auto_topic_creation and cluster.settings.auto_create_topics_enable:
        await create_missing(cluster, [one["name"] for one in topics if one["error_code"] == NOT_THERE])
    return {
        "brokers": [
            {"node_id": broker.node_id, "host": broker.host, "port": broker.port, "rack": broker.rack}
            for broker in cluster.present
        ],
        "cluster_id": cluster.cluster_id,
        "controller_id": cluster.controller.node_id,
        "topics": topics,
        "cluster_authorized_operations": CLUSTER_OPERATIONS
        if request.include_cluster_authorized_operations
        else NO_OPERATIONS,
        "error_code": ErrorCode.NONE,
    }


def _is_by_id(asked: Any) -> bool:
    return asked.name is None or asked.topic_id is not None


def _refused(request: Any) -> Mapping[str, Any]:
    """v10 and v11 have a place for ids, and answer none."""
    return {
        "brokers": (),
        "controller_id": NOWHERE,
        "topics": [
            _missing(asked.name or "", asked.topic_id, ErrorCode.INVALID_REQUEST) for asked in request.topics
        ],
    }


def _topics(cluster: Cluster, request: Any, version: int) -> Iterable[Mapping[str, Any]]:
    # v0 has no null: an empty list is all topics.
    if request.topics is None or (version == 0 and not request.topics):
        return (_topic(cluster, one) for one in cluster.topics.image.topics.values())
    ids = dict.fromkeys(asked.topic_id for asked in request.topics if version >= BY_ID and asked.topic_id)
    if ids:  # names beside them are not looked at
        return (_of_id(cluster, topic_id) for topic_id in ids)
    return (_of_name(cluster, name) for name in dict.fromkeys(asked.name or "" for asked in request.topics))


def _of_id(cluster: Cluster, topic_id: UUID) -> Mapping[str, Any]:
    found = cluster.topics.image.by_id.get(topic_id)
    return _missing(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID) if found is None else _topic(cluster, found)


def _of_name(cluster: Cluster, name: str) -> Mapping[str, Any]:
    found = cluster.topics.image.topics.get(name)
    if found is not None:
        return _topic(cluster, found)
    try:
        check_name(name)
    except TopicRefused as error:
        return _missing(name, None, error.code)
    return _missing(name, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _missing(name: str | None, topic_id: Any, error: int) -> Mapping[str, Any]:
    return {"error_code": error, "name": name, "topic_id": topic_id, "is_internal": False, "partitions": ()}


def _topic(cluster: Cluster, topic: TopicInfo) -> Mapping[str, Any]:
    return {
        "error_code": ErrorCode.NONE,
        "name": topic.name,
        "topic_id": topic.id,
        "is_internal": topic.name == OFFSETS_TOPIC,
        "partitions": Each(
            lambda number: _partition(cluster, topic, number),
            range(topic.partitions),
        ),
    }


def _partition(cluster: Cluster, topic: TopicInfo, number: int) -> Mapping[str, Any]:
    place = cluster.placement.place(topic.name, number)
    return {
        "error_code": ErrorCode.LEADER_NOT_AVAILABLE if place.leader == NOBODY else ErrorCode.NONE,
        "partition_index": number,
        "leader_id": place.leader,
        "leader_epoch": cluster.partitions.leader_epoch(topic.id, number),
        "replica_nodes": place.replicas,
        "isr_nodes": place.in_sync,
        "offline_replicas": place.offline,
    }


BROKERS, CONTROLLERS = 1, 2


async def describe_cluster(exchange: Exchange) -> Mapping[str, Any]:
    """DescribeCluster v0–v2 (KIP-700). The controller has no endpoint of its own (v1, KIP-919)."""
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
    asked = request.include_cluster_authorized_operations
    return {
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "endpoint_type": BROKERS,
        "cluster_id": cluster.cluster_id,
        "controller_id": cluster.controller.node_id,
        "brokers": brokers,
        "cluster_authorized_operations": CLUSTER_OPERATIONS if asked else NO_OPERATIONS,
    }


def _wrong_endpoint(endpoints: int) -> Mapping[str, Any]:
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
