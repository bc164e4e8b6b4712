"""CreateTopics, CreatePartitions and DeleteTopics."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from coordinator.engine.topics import TopicInfo
from coordinator.errors import InvalidSetting, RequestRefused
from coordinator.server.apis.configs import created
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.placement import Replicas
from coordinator.server.topics import Topics, check_distinct, check_name
from wire.errors import ErrorCode

if TYPE_CHECKING:
    from wire.messages.schemas.admin import (
        CreatePartitionsRequest,
        CreatePartitionsRequestTopic,
        CreateTopicsRequest,
        CreateTopicsRequestTopic,
        DeleteTopicsRequest,
    )


MOST_PARTITIONS = 10_000
"""New partitions per request. Each is one record of the controller, which writes at most this many at once."""


TOO_MANY = "Unable to perform excessively large batch operation."


_MANUAL = "The manual partition assignment includes"


def check_placed(replicas: Sequence[Replicas], known: Container[int], factor: int | None = None) -> None:
    """Validate the brokers of each partition; `factor`: the replication factor, None: as the first partition.

    Source: ReplicationControlManager.validateManualPartitionAssignment. :raises RequestRefused:
    """
    for brokers in replicas:
        why = _replica_problem(brokers, known)
        if why is None and factor not in (None, len(brokers)):
            why = (
                f"a partition with {len(brokers)} replica(s), but this is not consistent with previous partitions, "
                f"which have {factor} replica(s)."
            )
        if why is not None:
            raise RequestRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"{_MANUAL} {why}")
        factor = len(brokers)


def _replica_problem(brokers: Replicas, known: Container[int]) -> str | None:
    if not brokers:
        return "an empty replica list."
    for broker in sorted(brokers):
        if broker not in known:
            return f"broker {broker}, but no such broker is registered."
        if brokers.count(broker) > 1:
            return f"the broker {broker} more than once."
    return None


UNSET = -1


TWICE = "Duplicate topic name."


FAR_TOO_MANY = "Excessively large number of partitions per request."


_BY_HAND = "A manual partition assignment was specified, but"


async def create_topics(exchange: Exchange[CreateTopicsRequest]) -> AnswerFields:
    """CreateTopics v2–v7: returns the new topic's configs since v5 (KIP-525)."""
    request, cluster = exchange.request, exchange.cluster
    named = Counter(topic.name for topic in request.topics)
    creatable = [topic for topic in request.topics if named[topic.name] == 1]
    excess = _excess(cluster, creatable)
    if excess is not None:
        return {
            "topics": [_refused(topic.name, ErrorCode.POLICY_VIOLATION, excess) for topic in request.topics]
        }
    async with cluster.topics.changing:
        # As on a broker, topics of one request are not checked for collisions with each other.
        before = cluster.topics.image.topics
        collisions = {topic.name: cluster.topics.collision(topic.name) for topic in creatable}
        made = await asyncio.to_thread(
            lambda: [
                _create(cluster, topic, before, collisions, request.validate_only) for topic in creatable
            ]
        )
        cluster.topics_changed()
    twice = [name for name, count in named.items() if count > 1]
    return {"topics": [*made, *(_refused(name, ErrorCode.INVALID_REQUEST, TWICE) for name in twice)]}


async def create_missing(cluster: Cluster, names: Sequence[str]) -> None:
    """Create topics with the broker's defaults, skipping refused ones."""
    if not names:
        return
    async with cluster.topics.changing:
        for name in names:
            with suppress(RequestRefused):
                check_distinct(name, cluster.topics.collision(name))
                await asyncio.to_thread(cluster.topics.create, name, cluster.settings.num_partitions)
        cluster.topics_changed()


def _excess(cluster: Cluster, topics: Sequence[CreateTopicsRequestTopic]) -> str | None:
    """The error if the request has too many partitions in total."""
    partitions = sum(max(0, _count(cluster, topic)) for topic in topics)
    if partitions > MOST_PARTITIONS:
        return FAR_TOO_MANY
    return TOO_MANY if partitions + len(topics) > MOST_PARTITIONS else None


def _count(cluster: Cluster, requested: CreateTopicsRequestTopic) -> int:
    """The number of partitions; -1 uses the broker's default, a manual assignment is counted."""
    if requested.assignments:
        return len(requested.assignments)
    if requested.num_partitions == UNSET:
        return cluster.settings.num_partitions
    return requested.num_partitions


def _create(
    cluster: Cluster,
    requested: CreateTopicsRequestTopic,
    before: Collection[str],
    collisions: Mapping[str, str | None],
    dry_run: bool,
) -> AnswerFields:
    try:
        check_name(requested.name)
        if requested.name not in before:
            check_distinct(requested.name, collisions[requested.name])
        replicas = () if requested.name in cluster.topics.image.topics else _placed(cluster, requested)
        settings = _own_settings(cluster, requested)
        topic = _made(cluster, requested, replicas, settings, dry_run)
    except RequestRefused as error:
        return _refused(requested.name, error.code, error.message)
    return {
        "name": topic.name,
        "topic_id": topic.id,
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "topic_config_error_code": ErrorCode.NONE,
        "num_partitions": topic.partitions,
        "replication_factor": len(replicas[0]),
        "configs": created(cluster, settings),
    }


def _own_settings(cluster: Cluster, requested: CreateTopicsRequestTopic) -> dict[str, str]:
    """The new topic's configs. :raises RequestRefused:"""
    settings = {one.name: one.value for one in requested.configs if one.value is not None}
    nulls = [one.name for one in requested.configs if one.value is None]
    try:
        if nulls:
            raise InvalidSetting(f"Null value not supported for topic configs: {', '.join(nulls)}")
        cluster.topic_configs.check(settings)
    except InvalidSetting as error:
        raise RequestRefused(ErrorCode.INVALID_CONFIG, str(error)) from None
    return settings


def _made(
    cluster: Cluster,
    requested: CreateTopicsRequestTopic,
    replicas: Sequence[Replicas],
    settings: Mapping[str, str],
    dry_run: bool,
) -> TopicInfo:
    """Create a topic. Its configs are stored first: a topic never exists without them."""
    is_new = settings and not dry_run and requested.name not in cluster.topics.image.topics
    if is_new:
        cluster.configs.set_topic(requested.name, settings)
    try:
        return cluster.topics.create(
            requested.name, _count(cluster, requested), replicas=replicas, dry_run=dry_run
        )
    except RequestRefused:
        if is_new:
            cluster.configs.set_topic(requested.name, {})
        raise


def _placed(cluster: Cluster, requested: CreateTopicsRequestTopic) -> Sequence[Replicas]:
    """Validate a new topic's partitions and replicas, and assign brokers. :raises RequestRefused:"""
    factor, partitions = requested.replication_factor, requested.num_partitions
    if requested.assignments:
        return _manually_placed(cluster, requested)
    if factor == 0 or factor < UNSET:
        raise RequestRefused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partitions == 0 or partitions < UNSET:
        raise RequestRefused(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
        )
    replicas = None if factor == UNSET else factor
    return cluster.topics.place(requested.name, range(_count(cluster, requested)), replicas)


def _manually_placed(cluster: Cluster, requested: CreateTopicsRequestTopic) -> Sequence[Replicas]:
    for value, what in (
        (requested.replication_factor, "replication factor"),
        (requested.num_partitions, "numPartitions"),
    ):
        if value != UNSET:
            raise RequestRefused(ErrorCode.INVALID_REQUEST, f"{_BY_HAND} {what} was not set to -1.")
    numbers = Counter(one.partition_index for one in requested.assignments)
    for number, count in numbers.items():
        if count > 1:
            why = f"Found multiple manual partition assignments for partition {number}"
            raise RequestRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
    by_number = {one.partition_index: tuple(one.broker_ids) for one in requested.assignments}
    check_placed(list(by_number.values()), cluster.brokers)
    if set(numbers) != set(range(len(numbers))):
        why = "partitions should be a consecutive 0-based integer sequence"
        raise RequestRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
    return [by_number[number] for number in range(len(by_number))]


def _refused(name: str, code: int, message: str | None) -> AnswerFields:
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


async def create_partitions(exchange: Exchange[CreatePartitionsRequest]) -> AnswerFields:
    """CreatePartitions v0–v3."""
    request, cluster = exchange.request, exchange.cluster
    named = Counter(topic.name for topic in request.topics)
    results = [_grown(name, ErrorCode.INVALID_REQUEST, TWICE) for name, count in named.items() if count > 1]
    room = MOST_PARTITIONS
    async with cluster.topics.changing:
        for topic in request.topics:
            if named[topic.name] == 1:
                before = _partitions(cluster, topic.name)
                grown = await asyncio.to_thread(_grow, cluster, topic, before, room, request.validate_only)
                results.append(grown)
                if not grown["error_code"]:
                    room -= topic.count - before
        cluster.topics_changed()
    return {"results": results}


def _partitions(cluster: Cluster, name: str) -> int:
    """The number of partitions; 0 if there is no such topic."""
    topic = cluster.topics.image.topics.get(name)
    return 0 if topic is None else topic.partitions


def _grow(
    cluster: Cluster, requested: CreatePartitionsRequestTopic, before: int, room: int, dry_run: bool
) -> AnswerFields:
    more = requested.count - before
    replicas = None
    try:
        if before and more > 0:
            if more > room:
                raise RequestRefused(ErrorCode.POLICY_VIOLATION, TOO_MANY)
            replicas = _more_assigned(cluster, requested, more)
        cluster.topics.grow(requested.name, requested.count, replicas=replicas, dry_run=dry_run)
    except RequestRefused as error:
        return _grown(requested.name, error.code, error.message)
    return _grown(requested.name, ErrorCode.NONE, None)


def _more_assigned(
    cluster: Cluster, requested: CreatePartitionsRequestTopic, more: int
) -> Sequence[Replicas] | None:
    if requested.assignments is None:
        return None
    if len(requested.assignments) != more:
        raise RequestRefused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {more} additional partition(s), but only {len(requested.assignments)} "
            "assignment(s) were specified.",
        )
    replicas = [tuple(one.broker_ids) for one in requested.assignments]
    check_placed(replicas, cluster.brokers, len(cluster.placement.replicas(requested.name, 0)))
    return replicas


def _grown(name: str, code: int, message: str | None) -> AnswerFields:
    return {"name": name, "error_code": code, "error_message": message}


DELETES_BY_ID = 6
NO_SUCH_NAME = "This server does not host this topic-partition."
NO_SUCH_ID = "This server does not host this topic ID."
NEITHER = "Neither topic name nor id were specified."
BOTH = "You may not specify both topic name and topic id."
NAME_TWICE = "Duplicate topic name."
ID_TWICE = "Duplicate topic id."
NAME_AND_ID = "The provided topic name maps to an ID that was already supplied."

TopicKey: TypeAlias = tuple[str | None, UUID | None]
"""A name or an id."""


async def delete_topics(exchange: Exchange[DeleteTopicsRequest]) -> AnswerFields:
    """DeleteTopics v1–v6: by id since v6 (KIP-516)."""
    request, topics = exchange.request, exchange.cluster.topics
    if exchange.version >= DELETES_BY_ID:
        requested: Iterable[TopicKey] = ((topic.name, topic.topic_id) for topic in request.topics)
    else:
        requested = ((name, None) for name in request.topic_names)
    async with topics.changing:
        results = await asyncio.to_thread(lambda: list(_delete(topics, Counter(requested))))
        exchange.cluster.topics_changed()
    return {"responses": results}


def _delete(topics: Topics, requested: Counter[TopicKey]) -> Iterator[AnswerFields]:
    """Delete the topics that are named exactly once."""
    topics_by_name = {one: topics.find(*one) for one in requested}
    named = {
        topic.id for (name, _), topic in topics_by_name.items() if name is not None and topic is not None
    }
    for (name, topic_id), topic in topics_by_name.items():
        refusal = _refusal(name, topic_id, requested[name, topic_id])
        if refusal is not None:
            yield _deletion(name, topic_id, ErrorCode.INVALID_REQUEST, refusal)
        elif topic is None and topic_id is not None:
            yield _deletion(name, topic_id, ErrorCode.UNKNOWN_TOPIC_ID, NO_SUCH_ID)
        elif topic is None:
            yield _deletion(name, topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_NAME)
        elif name is not None and (None, topic.id) in requested:
            yield _deletion(name, topic.id, ErrorCode.INVALID_REQUEST, NAME_AND_ID)
        elif name is not None or topic.id not in named:
            yield _deleted(topics, topic)


def _deleted(topics: Topics, topic: TopicInfo) -> AnswerFields:
    try:
        topics.delete(topic)
    except RequestRefused as error:
        return _deletion(topic.name, topic.id, error.code, error.message)
    return _deletion(topic.name, topic.id, ErrorCode.NONE, None)


def _refusal(name: str | None, topic_id: UUID | None, times: int) -> str | None:
    """The error of an invalid request, regardless of which topics exist."""
    if name is None and topic_id is None:
        return NEITHER
    if name is not None and topic_id is not None:
        return BOTH
    if times == 1:
        return None
    return ID_TWICE if name is None else NAME_TWICE


def _deletion(name: str | None, topic_id: UUID | None, error: int, message: str | None) -> AnswerFields:
    return {"name": name, "topic_id": topic_id, "error_code": error, "error_message": message}
