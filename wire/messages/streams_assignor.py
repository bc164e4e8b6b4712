"""What StreamsPartitionAssignor puts into the user data of classic members (KIP-429, KIP-441): in a subscription what a
thread's process has, in an assignment what its thread gets. Versions 1 to 11; Kafka 4.4 writes 11, and `upgrade.from`
keeps a member on the version of that release. As in Java's SubscriptionInfo and AssignmentInfo, a subscription of a
newer version is read as far as its two versions, a newer assignment not at all, and bytes after the end are ignored."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias
from uuid import UUID

from wire.java_text import JAVA
from wire.messages.layout import NO_UUID, Decoded, Encoded, Message
from wire.messages.reader import OBJECTS, DecodeError, message_reader
from wire.messages.schemas import streams_assignor as layout
from wire.messages.schemas.streams_assignor import ASSIGNMENT_INFO, SUBSCRIPTION_INFO
from wire.messages.writer import message_writer

NEWEST_VERSION = SUBSCRIPTION_INFO.newest
OLDEST_WITH_NEWEST_KNOWN = 3
"""The first version that contains the newest one that the member, or the whole group, knows."""
OLDEST_WITH_OFFSET_SUMS = 7
OLDEST_WITH_TOPOLOGY_NAMES = 10
IS_ACTIVE = -2
"""The offset sum of a task that ran as active (Task.LATEST_OFFSET)."""
UNKNOWN_OFFSET_SUM = -3
"""The offset sum of a standby task before version 7, which has none (SubscriptionInfo.UNKNOWN_OFFSET_SUM)."""
NO_REBALANCE = (1 << 63) - 1  # Long.MAX_VALUE
_VERSION = struct.Struct(">i")
_VERSIONS = struct.Struct(">ii")


class TaskId(NamedTuple):
    """A subtopology's task for one partition number; ordered as in Java, apart from the names of topologies."""

    subtopology: int
    partition: int
    topology: str | None = None

    def __str__(self) -> str:
        prefix = "" if self.topology is None else f"{self.topology}__"
        return f"{prefix}{self.subtopology}_{self.partition}"


class HostInfo(NamedTuple):
    """An end point for interactive queries (`application.server`)."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


Partitions: TypeAlias = tuple[tuple[str, int], ...]
"""Topics and partition numbers, in the order sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsSubscription:
    """SubscriptionInfo. None: not in this version. Of a version above the newest known, only the versions are read."""

    version: int
    newest_known: int | None = None
    """The newest version that the member's library knows; from version 3 on."""
    process: UUID | None = None
    offset_sums: dict[TaskId, int] = field(default_factory=dict)
    """How far the process has each task that it has state of: `IS_ACTIVE`, or the sum of the changelogs' offsets."""
    end_point: str | None = None  # from version 2; None: none
    unique: int | None = None
    """Alternates to make a subscription differ from the last one, so that the leader rebalances; from version 8."""
    error: int | None = None  # an AssignorError that the thread reports; from version 9
    tags: dict[str, str] | None = None  # from version 11

    @property
    def active(self) -> tuple[TaskId, ...]:
        """The tasks that ran as active before this rebalance."""
        return tuple(task for task, offsets in self.offset_sums.items() if offsets == IS_ACTIVE)

    @property
    def standby(self) -> tuple[TaskId, ...]:
        """The tasks that the process has a copy of, be it old."""
        return tuple(task for task, offsets in self.offset_sums.items() if offsets != IS_ACTIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsAssignment:
    """AssignmentInfo. `None`: not in this version."""

    version: int
    commonly_known: int | None = None
    """The newest version that all members know: to it a member upgrades (version probing); from version 3 on."""
    active: tuple[TaskId, ...] = ()
    """The task of each partition of the assignment, in the order of the partitions there: a task with two partitions
    is listed twice."""
    standby: dict[TaskId, Partitions] = field(default_factory=dict)
    """The standby tasks, warm-ups included, with the partitions that they would read as active ones."""
    by_host: dict[HostInfo, Partitions] | None = None  # from version 2
    standby_by_host: dict[HostInfo, Partitions] | None = None  # from version 6
    error: int | None = None  # an AssignorError; from version 4
    next_rebalance_ms: int | None = None
    """When this member must trigger a probing rebalance, in ms since 1970; `NO_REBALANCE` if not; from version 7."""
    topics: dict[str, int] = field(default_factory=dict)
    """Numbers of the topics of the two maps by host, as sent, from version 5 on; the writer numbers them if empty."""


def read_streams_subscription(data: bytes) -> StreamsSubscription:
    """Read the user data of a subscription. Raises DecodeError: with the field and the byte."""
    version = _version(SUBSCRIPTION_INFO, data)
    if version > NEWEST_VERSION:
        if len(data) < _VERSIONS.size:
            raise DecodeError(f"SubscriptionInfo of version {version} has only {len(data)} bytes")
        return StreamsSubscription(version=version, newest_known=_VERSIONS.unpack_from(data)[1])
    read = _read(SUBSCRIPTION_INFO, data, version)
    if version < OLDEST_WITH_OFFSET_SUMS:
        sums = {TaskId(task.topic_group_id, task.partition): IS_ACTIVE for task in read.prev_tasks}
        for task in read.standby_tasks:
            sums[TaskId(task.topic_group_id, task.partition)] = UNKNOWN_OFFSET_SUM
    elif version < OLDEST_WITH_TOPOLOGY_NAMES:
        sums = {
            TaskId(subtopology.topic_group_id, task.partition): task.offset_sum
            for subtopology in read.task_offset_sums
            for task in subtopology.partition_to_offset_sum
        }
    else:
        sums = {
            TaskId(task.topic_group_id, task.partition, task.named_topology): task.offset_sum
            for task in read.task_offset_sums
        }
    return StreamsSubscription(
        version=version,
        newest_known=read.latest_supported_version if version >= OLDEST_WITH_NEWEST_KNOWN else None,
        process=read.process_id or NO_UUID,
        offset_sums=sums,
        end_point=_text(read.user_end_point) or None,
        unique=read.unique_field if version >= 8 else None,
        error=read.error_code if version >= 9 else None,
        tags={_text(tag.key): _text(tag.value) for tag in read.client_tags} if version >= 11 else None,
    )


def write_streams_subscription(subscription: StreamsSubscription) -> bytes:
    """The bytes of a subscription. Raises ValueError: a value does not fit, or the version is unknown."""
    version, sums = subscription.version, subscription.offset_sums
    offset_sums: list[layout.SubscriptionInfoTaskOffsetSumFields]
    if version < OLDEST_WITH_TOPOLOGY_NAMES:
        by_subtopology: dict[int, list[layout.SubscriptionInfoTaskOffsetSumPartitionToOffsetSumFields]] = {}
        for task, offset_sum in sums.items():
            subtopology = by_subtopology.setdefault(_unnamed(task, version).subtopology, [])
            subtopology.append({"partition": task.partition, "offset_sum": offset_sum})
        offset_sums = [
            {"topic_group_id": number, "partition_to_offset_sum": tasks}
            for number, tasks in by_subtopology.items()
        ]
    else:
        offset_sums = [
            {
                "topic_group_id": task.subtopology,
                "partition": task.partition,
                "offset_sum": offset_sum,
                "named_topology": task.topology,
            }
            for task, offset_sum in sums.items()
        ]
    fields: layout.SubscriptionInfoFields = {
        "version": version,
        "latest_supported_version": -1 if subscription.newest_known is None else subscription.newest_known,
        "process_id": subscription.process or NO_UUID,
        "prev_tasks": _previous(subscription.active),
        "standby_tasks": _previous(subscription.standby),
        "user_end_point": (subscription.end_point or "").encode(),
        "task_offset_sums": offset_sums,
        "unique_field": subscription.unique or 0,
        "error_code": subscription.error or 0,
        "client_tags": [
            {"key": key.encode(), "value": value.encode()} for key, value in (subscription.tags or {}).items()
        ],
    }
    return _written(SUBSCRIPTION_INFO, version, fields)


def read_streams_assignment(data: bytes) -> StreamsAssignment:
    """Read the user data of an assignment. Raises DecodeError: with the field and the byte, or the unknown version."""
    version = _version(ASSIGNMENT_INFO, data)
    if version > NEWEST_VERSION:
        raise DecodeError(f"AssignmentInfo has version {version}; the newest known is {NEWEST_VERSION}")
    read = _read(ASSIGNMENT_INFO, data, version)
    topics = {topic.index: topic.topic for topic in read.topics}
    return StreamsAssignment(
        version=version,
        commonly_known=read.commonly_supported_version if version >= OLDEST_WITH_NEWEST_KNOWN else None,
        active=tuple(_assigned_task(task) for task in read.active_tasks),
        standby={_assigned_task(task): _partitions(task.partitions) for task in read.standby_tasks},
        by_host=_hosts(version, read, topics),
        standby_by_host=_by_host(read.standby_indexes_by_host, topics) if version >= 6 else None,
        error=read.error_code if version >= 4 else None,
        next_rebalance_ms=read.next_rebalance_ms if version >= 7 else None,
        topics={topic: index for index, topic in topics.items()},
    )


def write_streams_assignment(assignment: StreamsAssignment) -> bytes:
    """The bytes of an assignment. Raises ValueError: a value does not fit, or the version is unknown."""
    version = assignment.version
    by_host, standby_by_host = assignment.by_host or {}, assignment.standby_by_host or {}
    topics = assignment.topics or _numbered((*by_host.values(), *standby_by_host.values()))
    next_rebalance_ms = assignment.next_rebalance_ms
    fields: layout.AssignmentInfoFields = {
        "version": version,
        "commonly_supported_version": -1 if assignment.commonly_known is None else assignment.commonly_known,
        "active_tasks": [
            {
                "topic_group_id": task.subtopology,
                "partition": task.partition,
                "named_topology": _name_units(task, version),
            }
            for task in assignment.active
        ],
        "standby_tasks": [
            {
                "topic_group_id": task.subtopology,
                "partition": task.partition,
                "named_topology": _name_units(task, version),
                "partitions": _partition_fields(partitions),
            }
            for task, partitions in assignment.standby.items()
        ],
        "partitions_by_host": [
            {"host": host.host, "port": host.port, "partitions": _partition_fields(partitions)}
            for host, partitions in by_host.items()
        ],
        "topics": [{"index": index, "topic": topic} for topic, index in topics.items()],
        "indexes_by_host": _indexed(by_host, topics),
        "standby_indexes_by_host": _indexed(standby_by_host, topics),
        "error_code": assignment.error or 0,
        "next_rebalance_ms": NO_REBALANCE if next_rebalance_ms is None else next_rebalance_ms,
    }
    return _written(ASSIGNMENT_INFO, version, fields)


def _version(of: Message, data: bytes) -> int:
    if len(data) < _VERSION.size:
        raise DecodeError(f"{of.name} has {len(data)} bytes, too few for a version")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 1:
        raise DecodeError(f"{of.name} has no version {version}")
    return version


def _read(of: Message[Decoded], data: bytes, version: int) -> Decoded:
    read: Decoded = message_reader(of, version, OBJECTS)(data, 0)[0]
    return read


def _written(of: Message[object, Encoded], version: int, fields: Encoded) -> bytes:
    if not 1 <= version <= of.newest:
        raise ValueError(f"{of.name} has no version {version}")
    out = bytearray()
    message_writer(of, version)(out, fields)
    return bytes(out)


def _text(data: bytes) -> str:
    return data.decode("utf-8", JAVA)


def _assigned_task(task: layout.AssignmentInfoActiveTask | layout.AssignmentInfoStandbyTask) -> TaskId:
    units = task.named_topology
    name = struct.pack(f">{len(units)}H", *units).decode("utf-16-be", "replace")
    return TaskId(task.topic_group_id, task.partition, name or None)


def _name_units(task: TaskId, version: int) -> tuple[int, ...]:
    if version < OLDEST_WITH_TOPOLOGY_NAMES:
        _unnamed(task, version)
    name = (task.topology or "").encode("utf-16-be")
    return struct.unpack(f">{len(name) // 2}H", name)


def _unnamed(task: TaskId, version: int) -> TaskId:
    if task.topology is not None:
        raise ValueError(f"version {version} has no names of topologies, as {task} does")
    return task


def _previous(tasks: Iterable[TaskId]) -> list[layout.SubscriptionInfoPrevTaskFields]:
    return [{"topic_group_id": task.subtopology, "partition": task.partition} for task in tasks]


def _partitions(
    partitions: Iterable[
        layout.AssignmentInfoStandbyTaskPartition | layout.AssignmentInfoPartitionsByHostPartition
    ],
) -> Partitions:
    return tuple((partition.topic, partition.partition) for partition in partitions)


def _partition_fields(partitions: Partitions) -> list[layout.AssignmentInfoStandbyTaskPartitionFields]:
    return [{"topic": topic, "partition": partition} for topic, partition in partitions]


def _hosts(
    version: int, read: layout.AssignmentInfo, topics: Mapping[int, str]
) -> dict[HostInfo, Partitions] | None:
    if version >= 5:
        return _by_host(read.indexes_by_host, topics)
    if version == 1:
        return None
    return {HostInfo(host.host, host.port): _partitions(host.partitions) for host in read.partitions_by_host}


def _by_host(
    hosts: Iterable[layout.AssignmentInfoIndexesByHost], topics: Mapping[int, str]
) -> dict[HostInfo, Partitions]:
    try:
        return {
            HostInfo(host.host, host.port): tuple(
                (topics[partition.index], partition.partition) for partition in host.partitions
            )
            for host in hosts
        }
    except KeyError as unknown:
        raise DecodeError(f"AssignmentInfo.topics has no number {unknown}") from None


def _numbered(hosts: Iterable[Partitions]) -> dict[str, int]:
    """Numbers for the topics, in the order of their first partitions."""
    names = dict.fromkeys(topic for partitions in hosts for topic, _ in partitions)
    return {topic: index for index, topic in enumerate(names)}


def _indexed(
    hosts: Mapping[HostInfo, Partitions], topics: Mapping[str, int]
) -> list[layout.AssignmentInfoIndexesByHostFields]:
    try:
        return [
            {
                "host": host.host,
                "port": host.port,
                "partitions": [{"index": topics[topic], "partition": number} for topic, number in partitions],
            }
            for host, partitions in hosts.items()
        ]
    except KeyError as unnumbered:
        raise ValueError(f"topic {unnumbered} has no number in `topics`") from None
