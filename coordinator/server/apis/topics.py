"""CreateTopics, CreatePartitions and DeleteTopics."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias
from uuid import UUID

from coordinator.errors import InvalidSetting, RequestRefused
from coordinator.server.apis.configs import created
from coordinator.server.apis.fields import judged
from coordinator.server.apis.permissions import hiding_configs, keeping, not_created, not_deleted, not_grown
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.placement import Replicas
from coordinator.server.topics import Topics, check_distinct, check_name
from wire.errors import ErrorCode
from wire.messages.schemas import admin as schemas

MOST_PARTITIONS = 10_000  # new ones per request: the controller writes at most this many records at once
TOO_MANY = "Unable to perform excessively large batch operation."
TOO_MANY_MORE = "Excessively large number of additional partitions per request."
UNSET = -1
TWICE = "Duplicate topic name."
DELETES_BY_ID = 6
TopicKey: TypeAlias = tuple[str | None, UUID | None]  # a name or an id


def check_placed(replicas: Sequence[Replicas], known: Container[int], factor: int | None = None) -> None:
    """validateManualPartitionAssignment; `factor` None: as the first. Raises RequestRefused."""
    for brokers in replicas:
        why = _replica_problem(brokers, known)
        if why is None and factor not in (None, len(brokers)):
            why = (
                f"a partition with {len(brokers)} replica(s), but this is not consistent with previous partitions, "
                f"which have {factor} replica(s)."
            )
        if why is not None:
            raise RequestRefused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment includes {why}"
            )
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


@keeping("topics", "topics", not_created)
@hiding_configs
async def create_topics(exchange: Exchange[schemas.CreateTopicsRequest]) -> AnswerFields:
    """CreateTopics v2–v7: returns the new topic's configs since v5 (KIP-525)."""
    request, cluster = exchange.request, exchange.cluster
    named = Counter(topic.name for topic in request.topics)
    creatable = [topic for topic in request.topics if named[topic.name] == 1]
    partitions = sum(max(0, _count(cluster, topic)) for topic in creatable)
    if partitions + len(creatable) > MOST_PARTITIONS:
        far_too_many = "Excessively large number of partitions per request."
        why = far_too_many if partitions > MOST_PARTITIONS else TOO_MANY
        return {"topics": [_refused(topic.name, ErrorCode.POLICY_VIOLATION, why) for topic in request.topics]}
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
    if not names:
        return
    async with cluster.topics.changing:
        for name in names:
            with suppress(RequestRefused):
                check_distinct(name, cluster.topics.collision(name))
                await asyncio.to_thread(cluster.topics.create, name, cluster.settings.num_partitions)
        cluster.topics_changed()


def _count(cluster: Cluster, requested: schemas.CreateTopicsRequestTopic) -> int:
    """The number of partitions; -1 uses the broker's default, a manual assignment is counted."""
    count = len(requested.assignments) or requested.num_partitions
    return cluster.settings.num_partitions if count == UNSET else count


def _create(
    cluster: Cluster,
    requested: schemas.CreateTopicsRequestTopic,
    before: Collection[str],
    collisions: Mapping[str, str | None],
    dry_run: bool,
) -> AnswerFields:
    try:
        check_name(requested.name)
        if requested.name not in before:
            check_distinct(requested.name, collisions[requested.name])
        is_new = requested.name not in cluster.topics.image.topics
        replicas = _placed(cluster, requested) if is_new else ()
        settings = _own_settings(cluster, requested)
        # The configs are stored first: a topic never exists without them.
        stores = bool(settings) and not dry_run and is_new
        if stores:
            cluster.configs.set_topic(requested.name, settings)
        try:
            topic = cluster.topics.create(
                requested.name, _count(cluster, requested), replicas=replicas, dry_run=dry_run
            )
        except RequestRefused:
            if stores:
                cluster.configs.set_topic(requested.name, {})
            raise
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


def _own_settings(cluster: Cluster, requested: schemas.CreateTopicsRequestTopic) -> dict[str, str]:
    """The new topic's configs. Raises RequestRefused."""
    settings = {one.name: one.value for one in requested.configs if one.value is not None}
    nulls = [one.name for one in requested.configs if one.value is None]
    try:
        if nulls:
            raise InvalidSetting(f"Null value not supported for topic configs: {', '.join(nulls)}")
        cluster.configs.topics.check(settings)
    except InvalidSetting as error:
        raise RequestRefused(ErrorCode.INVALID_CONFIG, str(error)) from None
    return settings


def _placed(cluster: Cluster, requested: schemas.CreateTopicsRequestTopic) -> Sequence[Replicas]:
    """Validate a new topic's partitions and replicas, and assign brokers. Raises RequestRefused."""
    factor, partitions = requested.replication_factor, requested.num_partitions
    if requested.assignments:
        return _manually_placed(cluster, requested)
    if factor == 0 or factor < UNSET:
        why = "Replication factor must be larger than 0, or -1 to use the default value."
        raise RequestRefused(ErrorCode.INVALID_REPLICATION_FACTOR, why)
    if partitions == 0 or partitions < UNSET:
        why = "Number of partitions was set to an invalid non-positive value."
        raise RequestRefused(ErrorCode.INVALID_PARTITIONS, why)
    replicas = None if factor == UNSET else factor
    return cluster.topics.place(requested.name, range(_count(cluster, requested)), replicas)


def _manually_placed(cluster: Cluster, requested: schemas.CreateTopicsRequestTopic) -> Sequence[Replicas]:
    for value, what in (
        (requested.replication_factor, "replication factor"),
        (requested.num_partitions, "numPartitions"),
    ):
        if value != UNSET:
            raise RequestRefused(
                ErrorCode.INVALID_REQUEST,
                f"A manual partition assignment was specified, but {what} was not set to -1.",
            )
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


@keeping("topics", "results", not_grown)
async def create_partitions(exchange: Exchange[schemas.CreatePartitionsRequest]) -> AnswerFields:
    """CreatePartitions v0–v3."""
    request, cluster = exchange.request, exchange.cluster
    named = Counter(topic.name for topic in request.topics)
    twice = {"error_code": ErrorCode.INVALID_REQUEST, "error_message": TWICE}
    results: list[AnswerFields] = [{"name": name, **twice} for name, count in named.items() if count > 1]
    room = MOST_PARTITIONS
    async with cluster.topics.changing:
        for topic in request.topics:
            if named[topic.name] == 1:
                before = cluster.topics.image.counts.get(topic.name, 0)
                grown = await asyncio.to_thread(_grow, cluster, topic, before, room, request.validate_only)
                results.append(grown)
                if not grown["error_code"]:
                    room -= topic.count - before
        cluster.topics_changed()
    return {"results": results}


def _grow(
    cluster: Cluster, requested: schemas.CreatePartitionsRequestTopic, before: int, room: int, dry_run: bool
) -> AnswerFields:
    more = requested.count - before

    def grow() -> None:
        if before and more > room:
            raise RequestRefused(ErrorCode.POLICY_VIOLATION, TOO_MANY_MORE)
        replicas = _more_assigned(cluster, requested, more) if before and more > 0 else None
        cluster.topics.grow(requested.name, requested.count, replicas=replicas, dry_run=dry_run)

    return {"name": requested.name, **judged(grow)}


def _more_assigned(
    cluster: Cluster, requested: schemas.CreatePartitionsRequestTopic, more: int
) -> Sequence[Replicas] | None:
    if requested.assignments is None:
        return None
    if len(requested.assignments) != more:
        count = f"only {len(requested.assignments)} assignment(s) were specified."
        why = f"Attempted to add {more} additional partition(s), but {count}"
        raise RequestRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
    replicas = [tuple(one.broker_ids) for one in requested.assignments]
    check_placed(replicas, cluster.brokers, len(cluster.placement.replicas(requested.name, 0)))
    return replicas


@keeping("topics", "responses", not_deleted)
@keeping("topic_names", "responses", not_deleted)
async def delete_topics(exchange: Exchange[schemas.DeleteTopicsRequest]) -> AnswerFields:
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
    topics_by_name = {one: topics.find(*one) for one in requested}
    named = {one.id for (name, _), one in topics_by_name.items() if name is not None and one is not None}
    for (name, topic_id), topic in topics_by_name.items():
        refusal = _refusal(name, topic_id, requested[name, topic_id])
        if refusal is not None:
            yield _deletion(name, topic_id, ErrorCode.INVALID_REQUEST, refusal)
        elif topic is None and topic_id is not None:
            why = "This server does not host this topic ID."
            yield _deletion(name, topic_id, ErrorCode.UNKNOWN_TOPIC_ID, why)
        elif topic is None:
            why = "This server does not host this topic-partition."
            yield _deletion(name, topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, why)
        elif name is not None and (None, topic.id) in requested:
            why = "The provided topic name maps to an ID that was already supplied."
            yield _deletion(name, topic.id, ErrorCode.INVALID_REQUEST, why)
        elif name is not None or topic.id not in named:
            yield {"name": topic.name, "topic_id": topic.id, **judged(partial(topics.delete, topic))}


def _refusal(name: str | None, topic_id: UUID | None, times: int) -> str | None:
    if name is None and topic_id is None:
        return "Neither topic name nor id were specified."
    if name is not None and topic_id is not None:
        return "You may not specify both topic name and topic id."
    if times == 1:
        return None
    return "Duplicate topic id." if name is None else TWICE


def _deletion(name: str | None, topic_id: UUID | None, error: int, message: str | None) -> AnswerFields:
    return {"name": name, "topic_id": topic_id, "error_code": error, "error_message": message}
