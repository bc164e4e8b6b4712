"""Admin requests: partitions page by page, log directories, quotas, SCRAM users, resources with configs, features."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress

from coordinator.configs.features import Features, FeatureUpdate, UpgradeType
from coordinator.server.apis.cluster import described_partition
from coordinator.server.apis.configs import OF_BROKER, OF_BROKER_LOGGER, OF_CLIENT_METRICS, OF_GROUP, OF_TOPIC
from coordinator.server.apis.fields import NO_OPERATIONS, ZERO_ID, judged
from coordinator.server.apis.permissions import not_described, requires_operation
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.topics import missing
from coordinator.store.partition_files import INTERNAL_TOPICS
from wire.acls import Operation, ResourceType
from wire.errors import ErrorCode
from wire.messages.schemas import admin as schemas
from wire.messages.schemas import cluster as cluster_schemas

MOST_PARTITIONS = 2_000  # a client's limit can only be lower (`max.request.partition.size.limit`)


NO_ELIGIBLE_LEADERS = {"eligible_leader_replicas": (), "last_known_elr": ()}


async def describe_topic_partitions(
    exchange: Exchange[schemas.DescribeTopicPartitionsRequest],
) -> AnswerFields:
    """DescribeTopicPartitions v0 (KIP-966): topics by name, a limited number of partitions per answer."""
    request, cluster = exchange.request, exchange.cluster
    cursor = request.cursor
    if cursor is not None and cursor.partition_index < 0:
        return {"topics": [_nameless(cursor.topic_name, ErrorCode.INVALID_REQUEST)], "next_cursor": None}
    every = cluster.topics.image.topics
    names = sorted(
        {one.name for one in request.topics} or (name for name in every if not exchange.hides(name))
    )
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
    room = max(1, min(request.response_partition_limit, MOST_PARTITIONS))
    topics, following = [], None
    for name in names:
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        known = None if exchange.hides(name) else every.get(name)
        if room == 0:
            following = {"topic_name": name, "partition_index": 0}
            break
        if known is None:
            if request.topics:
                topics.append(_missing(exchange, name))
            continue
        numbers = range(first, min(known.partitions, first + room))
        shown = {
            "error_code": ErrorCode.NONE,
            "name": name,
            "topic_id": known.id,
            "is_internal": name in INTERNAL_TOPICS,
            "partitions": [
                {**described_partition(cluster, known, number), **NO_ELIGIBLE_LEADERS} for number in numbers
            ],
            "topic_authorized_operations": exchange.operations(ResourceType.TOPIC, name),
        }
        topics.append(shown)
        room -= len(numbers)
        if numbers and numbers.stop < known.partitions:
            following = {"topic_name": name, "partition_index": numbers.stop}
            break
    return {"topics": topics, "next_cursor": following}


def _missing(exchange: Exchange, name: str) -> AnswerFields:
    operations = exchange.operations(ResourceType.TOPIC, name)
    if exchange.hides(name):
        return _nameless(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return {**_nameless(name, missing(name).code), "topic_authorized_operations": operations}


def _nameless(name: str, error: int) -> AnswerFields:
    unknown = {"topic_id": ZERO_ID, "is_internal": False, "partitions": ()}
    return {"error_code": error, "name": name, **unknown, "topic_authorized_operations": NO_OPERATIONS}


@requires_operation(Operation.DESCRIBE, results=())
async def describe_log_dirs(exchange: Exchange[schemas.DescribeLogDirsRequest]) -> AnswerFields:
    """DescribeLogDirs v1–v5: sizes of this broker's partitions; disk space v4 (KIP-827), cordoned v5 (KIP-1066)."""
    directory = exchange.cluster.log_directory
    total = usable = -1
    with suppress(OSError):
        if directory is not None:
            total, _, usable = shutil.disk_usage(directory)
    result = {
        "error_code": ErrorCode.NONE,
        "log_dir": "memory" if directory is None else str(directory),
        "topics": list(_sizes(exchange)),
        "total_bytes": total,
        "usable_bytes": usable,
        "is_cordoned": False,
    }
    return {"error_code": ErrorCode.NONE, "results": [result]}


def _sizes(exchange: Exchange[schemas.DescribeLogDirsRequest]) -> Iterator[AnswerFields]:
    cluster, requested = exchange.cluster, exchange.request.topics
    partitions_by_topic = None if requested is None else {one.topic: set(one.partitions) for one in requested}
    for name, topic in cluster.topics.image.topics.items():
        if partitions_by_topic is None or name in partitions_by_topic:
            numbers = [
                number
                for number in range(topic.partitions)
                if (partitions_by_topic is None or number in partitions_by_topic[name])
                and exchange.broker.node_id in cluster.placement.replicas(name, number)
            ]
            if numbers:
                found = [(number, cluster.partitions.find(topic.id, number)) for number in numbers]
                yield {
                    "name": name,
                    "partitions": [
                        {
                            "partition_index": number,
                            "partition_size": 0 if partition is None else partition.size,
                            "offset_lag": 0,
                            "is_future_key": False,
                        }
                        for number, partition in found
                    ],
                }


@requires_operation(Operation.DESCRIBE_CONFIGS, entries=None)
async def describe_client_quotas(_: Exchange) -> AnswerFields:
    """DescribeClientQuotas v0–v1: always an empty list."""
    return {"error_code": ErrorCode.NONE, "error_message": "", "entries": ()}


@requires_operation(Operation.DESCRIBE, results=not_described)
async def describe_user_scram_credentials(
    exchange: Exchange[schemas.DescribeUserScramCredentialsRequest],
) -> AnswerFields:
    """DescribeUserScramCredentials v0: users come from the server's file, so there is no credential to describe."""
    results = [
        {
            "user": user.name,
            "error_code": ErrorCode.RESOURCE_NOT_FOUND,
            "error_message": f"Attempt to describe a user credential that does not exist: {user.name}",
            "credential_infos": (),
        }
        for user in exchange.request.users or ()
    ]
    return {"error_code": ErrorCode.NONE, "error_message": "", "results": results}


LISTED = {OF_TOPIC, OF_BROKER, OF_BROKER_LOGGER, OF_CLIENT_METRICS, OF_GROUP}


@requires_operation(Operation.DESCRIBE_CONFIGS, config_resources=())
async def list_config_resources(exchange: Exchange[schemas.ListConfigResourcesRequest]) -> AnswerFields:
    """ListConfigResources v0–v1 (KIP-1142). v0 was ListClientMetricsResources and lists only these."""
    types = set(exchange.request.resource_types or LISTED) if exchange.version > 0 else {OF_CLIENT_METRICS}
    if not types <= LISTED:
        return {"error_code": ErrorCode.UNSUPPORTED_VERSION, "config_resources": ()}
    cluster = exchange.cluster
    brokers = [str(node_id) for node_id in cluster.brokers]
    groups = [group for group, values in cluster.group_settings.items() if values]
    names_by_kind: tuple[tuple[int, Iterable[str]], ...] = (
        (OF_GROUP, groups),
        (OF_BROKER_LOGGER, brokers),
        (OF_BROKER, brokers),
        (OF_TOPIC, cluster.topics.image.topics),
    )
    resources = [
        {"resource_name": name, "resource_type": kind}
        for kind, names in names_by_kind
        if kind in types
        for name in names
    ]
    return {"error_code": ErrorCode.NONE, "config_resources": resources}


SHOWS_MINIMUM_0 = 4
WITH_TYPES = 1
WITHOUT_RESULTS = 2


def feature_fields(features: Features, version: int) -> AnswerFields:
    """The feature fields of ApiVersions: features of minimum 0 are listed since v4; level 0 means not finalized."""
    return {
        "supported_features": [
            {"name": name, "min_version": one.lowest, "max_version": one.highest}
            for name, one in features.supported.items()
            if one.lowest > 0 or version >= SHOWS_MINIMUM_0
        ],
        "finalized_features_epoch": features.epoch,
        "finalized_features": [
            {"name": name, "max_version_level": level, "min_version_level": level}
            for name, level in features.levels.items()
            if level > 0
        ],
    }


@requires_operation(Operation.ALTER, results=())
async def update_features(exchange: Exchange[cluster_schemas.UpdateFeaturesRequest]) -> AnswerFields:
    """UpdateFeatures v0–v2 (KIP-584): update types and dry runs since v1; all updates or none."""
    request, configs = exchange.request, exchange.cluster.configs
    updates = [
        FeatureUpdate(name=one.feature, level=one.max_version_level, type=_type(one, exchange.version))
        for one in request.feature_updates
    ]

    def update() -> None:
        levels = configs.features.check(updates)
        if not (exchange.version >= WITH_TYPES and request.validate_only):
            configs.set_levels(levels)

    error = judged(update)
    shown = updates if not error["error_code"] and exchange.version < WITHOUT_RESULTS else ()
    done = {"error_code": ErrorCode.NONE, "error_message": "NONE"}
    return {**error, "results": [{"feature": update.name, **done} for update in shown]}


def _type(one: cluster_schemas.UpdateFeaturesRequestFeatureUpdate, version: int) -> int:
    if version >= WITH_TYPES:
        return int(one.upgrade_type)
    return UpgradeType.SAFE_DOWNGRADE if one.allow_downgrade else UpgradeType.UPGRADE
