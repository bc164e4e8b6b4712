"""A cluster's brokers, topics with their partitions, and groups; and the requests that list them.

A broker that left the cluster is in no list of brokers, so it cannot be asked for its groups. Their absence shows in
the partitions of `__consumer_offsets` without a leader.

A described group is a part of the broker's response, with Kafka's names. A group of another type than requested, or
one that does not exist, fails with GROUP_ID_NOT_FOUND. Brokers before 4.0 describe a classic group that does not exist
as Dead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from wire.client.address import Address
from wire.client.connection import Connection
from wire.client.errors import batches, refused
from wire.client.steps import Deadline, Steps
from wire.errors import ErrorCode, Failure, refusal
from wire.messages.definition import Api
from wire.messages.schemas.admin import DESCRIBE_LOG_DIRS
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.topics import DELETE_TOPICS

if TYPE_CHECKING:
    from wire.messages.schemas.cluster import MetadataResponseTopic, MetadataResponseTopicPartition
    from wire.messages.schemas.groups import (
        FindCoordinatorResponse,
        FindCoordinatorResponseCoordinator,
        ListGroupsResponseGroup,
    )

TopicPartition: TypeAlias = tuple[str, int]

OFFSETS_TOPIC = "__consumer_offsets"
_FIRST_WITH_NULL_TOPICS = 1
_GROUP = 0
_FIRST_FINDING_SEVERAL = 4
_FIRST_DELETING_BY_ID = 6
_FOUND_PER_REQUEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker as the cluster advertises it."""

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
    brokers: tuple[Broker, ...]
    topics: dict[str, TopicMetadata]
    failed: dict[str, Failure]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroups:
    """The groups of all brokers, by id in ascending order, and where groups are missing.

    `failed`: brokers (``host:port``) that did not answer, and partitions of `__consumer_offsets` without a leader.
    """

    groups: tuple[ListGroupsResponseGroup, ...]
    failed: dict[str, Failure]


def fetch_metadata(
    topics: Sequence[str] | None, connection: Connection, deadline: Deadline
) -> Steps[ClusterMetadata]:
    """Request brokers and `topics`; None means all topics. The request never creates a topic.

    :raises KafkaError: the broker refuses the whole request
    """
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
        Broker(node_id=broker.node_id, address=Address(broker.host, broker.port), rack=broker.rack)
        for broker in response.brokers
    )
    answered = {topic.name: topic for topic in response.topics if topic.name is not None}
    left_out = Failure(message=f"{connection.address} left it out of its answer to {METADATA.name}")
    return ClusterMetadata(
        cluster_id=response.cluster_id,
        brokers=brokers,
        topics={name: _topic(name, topic) for name, topic in answered.items() if not topic.error_code},
        failed={name: refusal(topic.error_code) for name, topic in answered.items() if topic.error_code}
        | {topic: left_out for topic in topics or () if topic not in answered},
    )


def _topic(name: str, topic: MetadataResponseTopic) -> TopicMetadata:
    partitions = sorted(topic.partitions, key=attrgetter("partition_index"))
    return TopicMetadata(name=name, topic_id=topic.topic_id, partitions=tuple(partitions))


def leaders_of(metadata: ClusterMetadata) -> dict[TopicPartition, Address]:
    """The leader of every partition that has one."""
    addresses = {broker.node_id: broker.address for broker in metadata.brokers}
    return {
        (topic.name, partition.partition_index): addresses[partition.leader_id]
        for topic in metadata.topics.values()
        for partition in topic.partitions
        if partition.leader_id in addresses
    }


def no_leader(metadata: ClusterMetadata, topic: str, index: int) -> Failure:
    """Why a partition has no leader."""
    if topic in metadata.failed:
        return metadata.failed[topic]
    if topic in metadata.topics and index < len(metadata.topics[topic].partitions):
        alive = {broker.node_id for broker in metadata.brokers}
        message = f"the partition has no leader. {_remedy(metadata.topics[topic].partitions[index], alive)}"
        return Failure(
            message=message, code=ErrorCode.LEADER_NOT_AVAILABLE, name=ErrorCode.LEADER_NOT_AVAILABLE.name
        )
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return Failure(message=f"{topic} has no partition {index}", code=unknown, name=unknown.name)


def find_coordinators(
    groups: Sequence[str], connection: Connection, deadline: Deadline
) -> Steps[dict[str, Address | Failure]]:
    """Ask one broker for the coordinators of `groups` of any type; brokers before 3.0 are asked one group at a time."""
    yield from connection.open(deadline)
    if connection.version(FIND_COORDINATOR) < _FIRST_FINDING_SEVERAL:
        requests = [{"key_type": _GROUP, "key": group} for group in groups]
        responses = yield from connection.ask(FIND_COORDINATOR, requests, deadline)
        return {group: _place(response) for group, response in zip(groups, responses, strict=True)}
    several = [{"key_type": _GROUP, "coordinator_keys": keys} for keys in batches(groups, _FOUND_PER_REQUEST)]
    responses = yield from connection.ask(FIND_COORDINATOR, several, deadline)
    return {entry.key: _place(entry) for response in responses for entry in response.coordinators}


def _place(entry: FindCoordinatorResponse | FindCoordinatorResponseCoordinator) -> Address | Failure:
    if entry.error_code:
        return refusal(entry.error_code, entry.error_message)
    return Address(entry.host, entry.port)


def list_groups(
    states: Sequence[str], types: Sequence[str], connection: Connection, deadline: Deadline
) -> Steps[tuple[ListGroupsResponseGroup, ...]]:
    """Ask one broker for its groups in some states and of some types, by Kafka's names; empty means all.

    A listed group has no state before Kafka 2.6 and no type before 3.8; such a broker does not filter by it.
    :raises KafkaError: the broker refuses (14 while it loads its groups)
    """
    request = {"states_filter": states, "types_filter": types}
    (response,) = yield from connection.ask(LIST_GROUPS, [request], deadline)
    if response.error_code:
        raise refused(connection.address, LIST_GROUPS.name, response.error_code)
    return response.groups


def describe(
    api: Api,
    operations: bool,
    nodes: bool,
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, Any | Failure]]:
    """Ask one coordinator for `groups` with the describe request of their type.

    Authorized `operations` and the `nodes` of topologies are requested too, where the request has such a field.

    :raises UnsupportedApi: the broker does not know the request
    """
    key = "groups" if api is DESCRIBE_GROUPS else "group_ids"
    more = {"include_authorized_operations": operations, "include_topology_description": nodes}
    requests = [{key: batch, **more} for batch in batches(groups)]
    responses = yield from connection.ask(api, requests, deadline)
    return {
        group.group_id: refusal(group.error_code, group.error_message) if group.error_code else group
        for response in responses
        for group in response.groups
    }


def delete_groups(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, bool | Failure]]:
    """Ask one coordinator to delete groups of any type that have no members; True for each deleted group."""
    (response,) = yield from connection.ask(DELETE_GROUPS, [{"groups_names": groups}], deadline)
    return {
        result.group_id: refusal(result.error_code, result.error_message) if result.error_code else True
        for result in response.results
    }


def delete_topics(
    topic_ids: Mapping[str, UUID | None], connection: Connection, names: Sequence[str], deadline: Deadline
) -> Steps[dict[str, bool | Failure]]:
    """Ask a broker to delete topics; True for each that is gone, also if it did not exist.

    A topic whose id is known is deleted only if it has this id, by brokers from Kafka 2.8.
    """
    ids = {name: topic_id for name in names if (topic_id := topic_ids[name]) is not None}
    yield from connection.open(deadline)
    if connection.version(DELETE_TOPICS) < _FIRST_DELETING_BY_ID:
        ids = {}
    request = {
        "topics": [
            {"name": None, "topic_id": ids[name]} if name in ids else {"name": name, "topic_id": UUID(int=0)}
            for name in names
        ],
        "topic_names": names,
        "timeout_ms": int(deadline.remaining_ms()),
    }
    (response,) = yield from connection.ask(DELETE_TOPICS, [request], deadline)
    by_id: dict[UUID | None, str] = {topic_id: name for name, topic_id in ids.items()}
    gone = (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return {
        result.name or by_id.get(result.topic_id, ""): True
        if result.error_code in gone
        else refusal(result.error_code, result.error_message)
        for result in response.responses
    }


def offline_coordinators(
    metadata: ClusterMetadata, directories: Mapping[int, Sequence[str]] | None = None
) -> dict[str, Failure]:
    """Why the groups of some partitions (`__consumer_offsets-1, 4`) cannot be listed. Empty if this user may not
    describe the topic: then it is unknown. `directories`: the known failed log directories of brokers.
    """
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    lost: dict[str, list[int]] = {}
    for partition in topic.partitions if topic else ():
        if partition.leader_id not in alive:
            lost.setdefault(_remedy(partition, alive, directories), []).append(partition.partition_index)
    return {
        f"{OFFSETS_TOPIC}-{', '.join(map(str, partitions))}": Failure(
            message=f"no leader, so its groups are neither listed nor described. {remedy}",
            code=ErrorCode.LEADER_NOT_AVAILABLE,
            name=ErrorCode.LEADER_NOT_AVAILABLE.name,
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


def failed_directories(
    connection: Connection, nodes: Sequence[str], deadline: Deadline
) -> Steps[dict[str, tuple[str, ...] | Failure]]:
    """Ask one broker, given by its node id, for its log directories that have failed.

    Without the permission to describe the cluster there are none.
    """
    (response,) = yield from connection.ask(DESCRIBE_LOG_DIRS, [{"topics": []}], deadline)
    failed = tuple(entry.log_dir for entry in response.results if entry.error_code)
    return dict.fromkeys(nodes, failed)


def _remedy(
    partition: MetadataResponseTopicPartition,
    alive: Collection[int],
    directories: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """What to do about a partition without a leader: a broker that runs needs no start."""
    offline = [replica for replica in partition.offline_replicas if replica in alive]
    gone = [replica for replica in partition.replica_nodes if replica not in alive]
    advice = [f"Start {_one_of(gone)}."] if gone else []
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


def _one_of(brokers: Sequence[int]) -> str:
    """`broker 3`, `one of the brokers 2, 3`."""
    if len(brokers) == 1:
        return f"broker {brokers[0]}"
    return f"one of the brokers {', '.join(map(str, brokers))}"


def explained(failed: Mapping[str, Failure], metadata: ClusterMetadata) -> dict[str, Failure]:
    """The failures by group; a coordinator that is not available is explained by the partition without a leader."""
    topic = metadata.topics.get(OFFSETS_TOPIC)
    alive = {broker.node_id for broker in metadata.brokers}
    found: dict[str, Failure] = {}
    for group, failure in failed.items():
        found[group] = failure
        if failure.code != ErrorCode.COORDINATOR_NOT_AVAILABLE or topic is None or not topic.partitions:
            continue
        partition = topic.partitions[partition_of(group, len(topic.partitions))]
        if partition.leader_id not in alive:
            found[group] = replace(
                failure,
                message=f"no coordinator: {OFFSETS_TOPIC}-{partition.partition_index} has no leader. "
                f"{_remedy(partition, alive).removesuffix('.')} ({failure.name}).",
            )
    return found


def partition_of(group: str, count: int) -> int:
    """The group's partition: Java's hash of the group id, without the sign (GroupCoordinatorService.partitionFor)."""
    code = 0
    units = group.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return (0 if signed == -(1 << 31) else abs(signed)) % count
