"""The brokers and topics of a cluster as one broker reports them, and where partitions and groups are served."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from wire.client.address import Address
from wire.client.connection import Connection
from wire.client.errors import batches, refused
from wire.client.steps import Deadline, Replies, Steps
from wire.errors import ErrorCode, Failure, outcome, refusal
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.groups import FIND_COORDINATOR

if TYPE_CHECKING:
    from wire.messages.schemas.cluster import MetadataResponseTopicPartition
    from wire.messages.schemas.groups import FindCoordinatorResponse, FindCoordinatorResponseCoordinator

TopicPartition: TypeAlias = tuple[str, int]

OFFSETS_TOPIC = "__consumer_offsets"
_FIRST_WITH_NULL_TOPICS = 1
_GROUP = 0
_FIRST_FINDING_SEVERAL = 4
_FOUND_PER_REQUEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvertisedBroker:
    node_id: int
    address: Address
    rack: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMetadata:
    """One topic; `partitions` are those of the response, by index. `topic_id` is None before Kafka 2.8."""

    name: str
    topic_id: UUID | None
    partitions: tuple[MetadataResponseTopicPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMetadata:
    """The cluster as one broker sees it. `failed` contains the topics that were requested by name and have an error."""

    cluster_id: str | None
    brokers: tuple[AdvertisedBroker, ...]
    topics: dict[str, TopicMetadata]
    failed: dict[str, Failure]


def by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    """The numbers of partitions by topic, as most requests contain them; both in ascending order."""
    topics = groupby(sorted(set(partitions)), key=itemgetter(0))
    return [(topic, [number for _, number in numbers]) for topic, numbers in topics]


def topic_entries(
    partitions: Iterable[TopicPartition], name: str, entry: Callable[[TopicPartition], dict[str, object]]
) -> list[dict[str, object]]:
    """The topics of a request, with an entry for each partition; `name` is the field with the topic's name."""
    return [
        {name: topic, "partitions": [entry((topic, number)) for number in numbers]}
        for topic, numbers in by_topic(partitions)
    ]


def fetch_metadata(
    topics: Sequence[str] | None, connection: Connection, deadline: Deadline
) -> Steps[ClusterMetadata]:
    """Request brokers and `topics`; None means all. The request never creates a topic. Raises KafkaError."""
    yield from connection.open(deadline)
    named: list[dict[str, object]] | None
    if topics is None:
        # Version 0 has no null: an empty list means all topics.
        named = None if connection.version(METADATA) >= _FIRST_WITH_NULL_TOPICS else []
    else:
        named = [{"topic_id": None, "name": topic} for topic in topics]
    request = {
        "topics": named,
        "allow_auto_topic_creation": False,
        "include_cluster_authorized_operations": False,
        "include_topic_authorized_operations": False,
    }
    (response,) = yield from connection.ask(METADATA, [request], deadline)
    if response.error_code:
        raise refused(connection.address, METADATA.name, response.error_code)
    brokers = tuple(
        AdvertisedBroker(node_id=broker.node_id, address=Address(broker.host, broker.port), rack=broker.rack)
        for broker in response.brokers
    )
    answered = {topic.name: topic for topic in response.topics if topic.name is not None}
    left_out = Failure(message=f"{connection.address} left it out of its answer to {METADATA.name}")
    return ClusterMetadata(
        cluster_id=response.cluster_id,
        brokers=brokers,
        topics={
            name: TopicMetadata(
                name=name,
                topic_id=topic.topic_id,
                partitions=tuple(sorted(topic.partitions, key=attrgetter("partition_index"))),
            )
            for name, topic in answered.items()
            if not topic.error_code
        },
        failed={name: refusal(topic.error_code) for name, topic in answered.items() if topic.error_code}
        | {topic: left_out for topic in topics or () if topic not in answered},
    )


def leaders_of(metadata: ClusterMetadata) -> dict[TopicPartition, Address]:
    addresses = {broker.node_id: broker.address for broker in metadata.brokers}
    return {
        (topic.name, partition.partition_index): addresses[partition.leader_id]
        for topic in metadata.topics.values()
        for partition in topic.partitions
        if partition.leader_id in addresses
    }


def no_leader(metadata: ClusterMetadata, topic: str, index: int) -> Failure:
    if topic in metadata.failed:
        return metadata.failed[topic]
    if topic in metadata.topics and index < len(metadata.topics[topic].partitions):
        alive = {broker.node_id for broker in metadata.brokers}
        message = f"the partition has no leader. {_remedy(metadata.topics[topic].partitions[index], alive)}"
        return _failure(ErrorCode.LEADER_NOT_AVAILABLE, message)
    return _failure(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic} has no partition {index}")


def _failure(code: ErrorCode, message: str) -> Failure:
    return Failure(message=message, code=code, name=code.name)


def find_coordinators(groups: Sequence[str], broker: Connection, deadline: Deadline) -> Replies[str, Address]:
    """Ask one broker for the coordinators of `groups` of any type; brokers before 3.0 are asked one group at a time."""
    yield from broker.open(deadline)
    if broker.version(FIND_COORDINATOR) < _FIRST_FINDING_SEVERAL:
        requests = [{"key_type": _GROUP, "key": group} for group in groups]
        responses = yield from broker.ask(FIND_COORDINATOR, requests, deadline)
        return {group: _address(response) for group, response in zip(groups, responses, strict=True)}
    several = [{"key_type": _GROUP, "coordinator_keys": keys} for keys in batches(groups, _FOUND_PER_REQUEST)]
    responses = yield from broker.ask(FIND_COORDINATOR, several, deadline)
    return {entry.key: _address(entry) for response in responses for entry in response.coordinators}


def _address(answer: FindCoordinatorResponse | FindCoordinatorResponseCoordinator) -> Address | Failure:
    return outcome(answer) or Address(answer.host, answer.port)


def offline_coordinators(
    metadata: ClusterMetadata, directories: Mapping[int, Sequence[str]] | None = None
) -> dict[str, Failure]:
    """Why the groups of some partitions cannot be listed; `directories`: known failed log directories."""
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    lost: dict[str, list[int]] = {}
    for partition in topic.partitions if topic else ():
        if partition.leader_id not in alive:
            lost.setdefault(_remedy(partition, alive, directories), []).append(partition.partition_index)
    return {
        f"{OFFSETS_TOPIC}-{', '.join(map(str, partitions))}": _failure(
            ErrorCode.LEADER_NOT_AVAILABLE,
            f"no leader, so its groups are neither listed nor described. {remedy}",
        )
        for remedy, partitions in lost.items()
    }


def brokers_with_failures(metadata: ClusterMetadata) -> set[int]:
    """The brokers that run, but have a replica of a partition of `__consumer_offsets` in a failed log directory."""
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    return {
        replica
        for partition in (topic.partitions if topic else ())
        if partition.leader_id not in alive
        for replica in partition.offline_replicas
    } & alive


def _remedy(
    partition: MetadataResponseTopicPartition,
    alive: Collection[int],
    directories: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """What to do about a partition without a leader: a broker that runs needs no start."""
    offline = [replica for replica in partition.offline_replicas if replica in alive]
    gone = [replica for replica in partition.replica_nodes if replica not in alive]
    some = "one of the brokers" if len(gone) > 1 else "broker"
    advice = [f"Start {some} {', '.join(map(str, gone))}."] if gone else []
    for broker in offline:
        paths = (directories or {}).get(broker)
        where = f" ({', '.join(paths)})" if paths else ""
        advice.append(
            f"{'Or repair' if gone else 'Repair'} the failed log directory of broker {broker}{where}, and restart "
            "the broker: its log shows the error."
        )
    if not advice:
        advice.append(
            "The brokers with its replicas run: wait for the election of a leader; if none follows, no replica is in "
            "sync (kafka-topics.sh --describe --unavailable-partitions)."
        )
    return " ".join(advice)


def explained(failed: Mapping[str, Failure], metadata: ClusterMetadata) -> dict[str, Failure]:
    """The failures by group; a coordinator that is not available is explained by the partition without a leader."""
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    causes = dict(failed)
    for group, failure in failed.items():
        if failure.code != ErrorCode.COORDINATOR_NOT_AVAILABLE or topic is None or not topic.partitions:
            continue
        partition = topic.partitions[partition_of(group, len(topic.partitions))]
        if partition.leader_id not in alive:
            causes[group] = replace(
                failure,
                message=f"no coordinator: {OFFSETS_TOPIC}-{partition.partition_index} has no leader. "
                f"{_remedy(partition, alive).removesuffix('.')} ({failure.name}).",
            )
    return causes


def partition_of(group: str, count: int) -> int:
    """The group's partition: Java's hash of the group id, without the sign (GroupCoordinatorService.partitionFor)."""
    units, code = group.encode("utf-16-be", "surrogatepass"), 0
    for (unit,) in struct.iter_unpack(">H", units):
        code = (31 * code + unit) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return (0 if signed == -(1 << 31) else abs(signed)) % count
