"""Metadata: brokers, controller, and topics with their partitions; and which groups nobody coordinates.

A broker that has left the cluster is in no list of brokers, so it is not asked for its groups: they are known by the
partitions of `__consumer_offsets` without a leader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any
from uuid import UUID

from wire.client.address import Address
from wire.client.connection import Connection
from wire.client.errors import refused
from wire.client.steps import Deadline, Steps
from wire.errors import ErrorCode, Failure, refusal
from wire.messages.schemas.cluster import METADATA

OFFSETS_TOPIC = "__consumer_offsets"
_FIRST_WITH_NULL_TOPICS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker as the cluster advertises it."""

    node_id: int
    address: Address
    rack: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMetadata:
    """One topic; its `partitions` are those of the answer, by index. `topic_id` is None below Kafka 2.8."""

    name: str
    topic_id: UUID | None
    partitions: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMetadata:
    """What one broker knows of the cluster. `failed` holds the topics asked for by name that have none."""

    cluster_id: str | None
    brokers: tuple[Broker, ...]
    topics: dict[str, TopicMetadata]
    failed: dict[str, Failure]


def fetch_metadata(
    topics: Sequence[str] | None, connection: Connection, deadline: Deadline
) -> Steps[ClusterMetadata]:
    """Ask for brokers and `topics`; None means all topics. No topic is ever created by asking.

    :raises KafkaError: when the broker refuses the whole request
    """
    yield from connection.open(deadline)
    named: list[dict[str, Any]] | None
    if topics is None:
        # Before there was a null, an empty list was all topics.
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
        Broker(node_id=broker.node_id, address=Address(broker.host, broker.port), rack=broker.rack)
        for broker in response.brokers
    )
    return ClusterMetadata(
        cluster_id=response.cluster_id,
        brokers=brokers,
        topics={topic.name: _topic(topic) for topic in response.topics if not topic.error_code},
        failed={str(topic.name): refusal(topic.error_code) for topic in response.topics if topic.error_code},
    )


def _topic(topic: Any) -> TopicMetadata:
    partitions = sorted(topic.partitions, key=attrgetter("partition_index"))
    return TopicMetadata(name=topic.name, topic_id=topic.topic_id, partitions=tuple(partitions))


def offline_coordinators(metadata: ClusterMetadata) -> dict[str, Failure]:
    """By partitions (`__consumer_offsets-1, 4`), why their groups cannot be listed. Empty where this user may not
    see the topic: then nothing is known.
    """
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    lost: dict[tuple[int, ...], list[int]] = {}
    for partition in topic.partitions if topic else ():
        if partition.leader_id not in alive:
            lost.setdefault(tuple(sorted(partition.replica_nodes)), []).append(partition.partition_index)
    return {
        f"{OFFSETS_TOPIC}-{', '.join(map(str, partitions))}": Failure(
            message="no leader, so groups that live there are neither listed nor described. Bring "
            f"{_named([replica for replica in replicas if replica not in alive] or list(replicas))} back.",
            code=ErrorCode.LEADER_NOT_AVAILABLE,
            name=ErrorCode.LEADER_NOT_AVAILABLE.name,
        )
        for replicas, partitions in sorted(lost.items())
    }


def named_brokers(partition: Any, alive: Collection[int]) -> str:
    """Who would lead a partition that nobody leads: `broker 3`, `one of the brokers 2, 3`."""
    return _named(
        [each for each in partition.replica_nodes if each not in alive] or list(partition.replica_nodes)
    )


def _named(brokers: Sequence[int]) -> str:
    if len(brokers) == 1:
        return f"broker {brokers[0]}"
    return f"one of the brokers {', '.join(map(str, brokers))}"


def explained(failed: Mapping[str, Failure], metadata: ClusterMetadata) -> dict[str, Failure]:
    """Failures by group; where a group's coordinator is not available, with the partition that has no leader."""
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    found: dict[str, Failure] = {}
    for group, failure in failed.items():
        found[group] = failure
        if failure.code != ErrorCode.COORDINATOR_NOT_AVAILABLE or topic is None or not topic.partitions:
            continue
        partition = topic.partitions[_partition_of(group, len(topic.partitions))]
        if partition.leader_id not in alive:
            found[group] = replace(
                failure,
                message=f"no coordinator: {OFFSETS_TOPIC}-{partition.partition_index} has no leader. Bring "
                f"{named_brokers(partition, alive)} back ({failure.name}).",
            )
    return found


def _partition_of(group: str, count: int) -> int:
    """Where Kafka keeps a group: Java's hash of its id, without the sign (GroupCoordinatorService.partitionFor)."""
    code = 0
    units = group.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return (0 if signed == -(1 << 31) else abs(signed)) % count
