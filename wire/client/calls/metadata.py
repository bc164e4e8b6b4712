"""Metadata: brokers, controller, and topics with their partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from wire.client.address import Address
from wire.client.answers import Failure, error_name, refusal
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.errors import KafkaError
from wire.client.steps import Steps
from wire.messages.apis import METADATA
from wire.messages.encode import write_text, write_uvarint
from wire.messages.plain import (
    BOOL,
    ERROR_CODE,
    INT32,
    INT32S,
    NULLABLE_TEXT,
    TEXT,
    UUID_OR_NONE,
    many,
    named,
    read_answer,
)
from wire.messages.plain_request import PlainRequest

PLAIN_VERSIONS = (12, 13)
"""Read and written without kio's classes: what brokers since 3.1 speak."""

_FIRST_WITH_ERROR = 13
_NO_ID = bytes(16)
_ANSWER = {
    "throttle_time": INT32,
    "brokers": many(named(node_id=INT32, host=TEXT, port=INT32, rack=NULLABLE_TEXT)),
    "cluster_id": NULLABLE_TEXT,
    "controller_id": INT32,
    "topics": many(
        named(
            error_code=ERROR_CODE,
            name=NULLABLE_TEXT,
            topic_id=UUID_OR_NONE,
            is_internal=BOOL,
            partitions=many(
                named(
                    error_code=ERROR_CODE,
                    partition_index=INT32,
                    leader_id=INT32,
                    leader_epoch=INT32,
                    replica_nodes=INT32S,
                    isr_nodes=INT32S,
                    offline_replicas=INT32S,
                )
            ),
            topic_authorized_operations=INT32,
        )
    ),
}


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
    if version in PLAIN_VERSIONS:
        plain = metadata_request(version, topics)
        (response,) = yield from connection.exchange(
            METADATA, [plain], deadline, lambda answer: read_metadata(version, answer)
        )
        return _checked(connection, response)
    schema = METADATA.request_schema(version)
    fields: dict[str, Any] = {"topics": _topics(schema, topics, version)}
    if version >= 4:
        fields["allow_auto_topic_creation"] = False
    if version >= 8:
        fields["include_topic_authorized_operations"] = False
    if 8 <= version <= 10:
        fields["include_cluster_authorized_operations"] = False
    (response,) = yield from connection.exchange(METADATA, [schema.MetadataRequest(**fields)], deadline)
    return _checked(connection, response)


def metadata_request(version: int, topics: Sequence[str] | None) -> PlainRequest:
    """In one of the `PLAIN_VERSIONS`."""

    def write(out: bytearray) -> None:
        write_uvarint(out, 0 if topics is None else len(topics) + 1)
        for topic in topics or ():
            out += _NO_ID
            write_text(out, topic)
            out.append(0)
        out += b"\0\0\0"  # creates no topic, asks for no authorized operations, no tagged fields

    return PlainRequest(version=version, write=write)


def read_metadata(version: int, answer: bytes) -> tuple[Any, int]:
    """An answer in one of the `PLAIN_VERSIONS`, with the fields of kio's.

    :raises DecodeError: when the bytes do not hold it
    """
    late = {"error_code": ERROR_CODE} if version >= _FIRST_WITH_ERROR else {}
    return read_answer(named(**_ANSWER, **late), answer)


def _checked(connection: Connection, response: Any) -> ClusterMetadata:
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
