"""Metadata: brokers, controller, and topics with their partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from coordinator.wire.address import Address
from coordinator.wire.answers import Failure, error_name, refusal
from coordinator.wire.apis import METADATA
from coordinator.wire.connection import Connection
from coordinator.wire.deadline import Deadline
from coordinator.wire.errors import KafkaError
from coordinator.wire.steps import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker as the cluster advertises it."""

    node_id: int
    address: Address
    rack: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition. `leader` is a node id, -1 without one; `failure` is None unless the broker reports one."""

    index: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One topic; `partitions` ascend by index. `topic_id` is None below Kafka 2.8."""

    name: str
    topic_id: UUID | None
    internal: bool
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMetadata:
    """What one broker knows of the cluster. `failed` holds the topics asked for by name that have none."""

    cluster_id: str | None
    controller_id: int
    brokers: tuple[Broker, ...]
    topics: dict[str, Topic]
    failed: dict[str, Failure]


def fetch_metadata(
    connection: Connection, topics: Sequence[str] | None, deadline: Deadline
) -> Steps[ClusterMetadata]:
    """Ask for brokers and `topics`; None means all topics. No topic is ever created by asking.

    :raises KafkaError: when the broker refuses the whole request
    """
    yield from connection.open(deadline)
    version = connection.version(METADATA)
    schema = METADATA.request_schema(version)
    fields: dict[str, Any] = {"topics": _topics(schema, topics, version)}
    if version >= 4:
        fields["allow_auto_topic_creation"] = False
    if version >= 8:
        fields["include_topic_authorized_operations"] = False
    if 8 <= version <= 10:
        fields["include_cluster_authorized_operations"] = False
    (response,) = yield from connection.exchange(METADATA, [schema.MetadataRequest(**fields)], deadline)
    code = getattr(response, "error_code", 0)
    if code:
        raise KafkaError(
            str(connection.address), int(code), error_name(code), f"Metadata was refused: {error_name(code)}"
        )
    return _metadata(response)


def _topics(schema: Any, topics: Sequence[str] | None, version: int) -> tuple[Any, ...] | None:
    if topics is None:
        return None if version >= 1 else ()
    extra = {"topic_id": None} if version >= 10 else {}
    return tuple(schema.MetadataRequestTopic(name=topic, **extra) for topic in topics)


def _metadata(response: Any) -> ClusterMetadata:
    brokers = tuple(
        Broker(
            node_id=broker.node_id,
            address=Address(broker.host, broker.port),
            rack=getattr(broker, "rack", None),
        )
        for broker in response.brokers
    )
    return ClusterMetadata(
        cluster_id=getattr(response, "cluster_id", None),
        controller_id=getattr(response, "controller_id", -1),
        brokers=brokers,
        topics={topic.name: _topic(topic) for topic in response.topics if not topic.error_code},
        failed={str(topic.name): refusal(topic.error_code) for topic in response.topics if topic.error_code},
    )


def _topic(topic: Any) -> Topic:
    partitions = sorted(topic.partitions, key=lambda partition: int(partition.partition_index))
    return Topic(
        name=topic.name,
        topic_id=getattr(topic, "topic_id", None),
        internal=getattr(topic, "is_internal", False),
        partitions=tuple(_partition(partition) for partition in partitions),
    )


def _partition(partition: Any) -> Partition:
    return Partition(
        index=partition.partition_index,
        leader=partition.leader_id,
        leader_epoch=getattr(partition, "leader_epoch", -1),
        replicas=partition.replica_nodes,
        in_sync=partition.isr_nodes,
        failure=refusal(partition.error_code) if partition.error_code else None,
    )
