"""Answers of the coordinator: what the wire carries back, without its encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from coordinator.engine.calls import ClientAssignor, ClientMetadata, TopicPartitions
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedMember:
    """A member in the leader's list; metadata are those for the chosen protocol."""

    member: str
    instance: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupAnswer:
    """A refusal has generation -1, leader "" and no protocol."""

    error: ErrorCode = ErrorCode.NONE
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    member: str = ""
    members: tuple[JoinedMember, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupAnswer:
    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatAnswer:
    error: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupAnswer:
    """`members`: member id, instance id and error of each that was to leave."""

    error: ErrorCode = ErrorCode.NONE
    members: tuple[tuple[str, str | None, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupHeartbeatAnswer:
    """`assignment` None: unchanged."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    member: str | None = None
    epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: TopicPartitions | None = None
    should_compute: bool = False
    """The member is to compute the group's assignment with a client-side assignor."""
    metadata: ClientMetadata | None = None
    """What a client-side assignor has to say to the member, with an assignment."""
    assignment_error: int = 0
    """Why a client-side assignor could not compute an assignment, in its own numbers, with an assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMember:
    """A member as a client-side assignor sees it; `target` is the one that it has now."""

    member: str
    epoch: int
    instance: str | None
    rack: str | None
    topics: tuple[UUID, ...]
    assignor: ClientAssignor
    target: TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareAssignmentAnswer:
    """The group at an epoch. `topics`: id, name and number of partitions."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    group_epoch: int = 0
    assignor: str = ""
    members: tuple[PreparedMember, ...] = ()
    topics: tuple[tuple[UUID, str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallAssignmentAnswer:
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitAnswer:
    """Topic name, topic id, partition and error, in the order of the request."""

    partitions: tuple[tuple[str, UUID | None, int, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedOffset:
    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""
    error: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedGroupAnswer:
    """Offsets by topic (name or id, as asked) and partition."""

    group: str
    error: ErrorCode = ErrorCode.NONE
    topics: tuple[tuple[str | UUID, tuple[tuple[int, FetchedOffset], ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchAnswer:
    groups: tuple[FetchedGroupAnswer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDeleteAnswer:
    error: ErrorCode = ErrorCode.NONE
    partitions: tuple[tuple[str, int, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    group: str
    protocol_type: str
    state: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroupsAnswer:
    groups: tuple[ListedGroup, ...] = ()
    error: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedMember:
    member: str
    instance: str | None
    client_id: str
    host: str
    metadata: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup:
    """An error has a message from v6 on, and is answered as state Dead without error below."""

    group: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[DescribedMember, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeGroupsAnswer:
    groups: tuple[DescribedGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedConsumer:
    """A member of a consumer group. `classic` is memberType 0; `regex` "" is none."""

    member: str
    instance: str | None
    rack: str | None
    epoch: int
    client_id: str
    host: str
    topics: tuple[str, ...]
    regex: str
    assignment: Mapping[UUID, tuple[int, ...]]
    target: Mapping[UUID, tuple[int, ...]]
    classic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedConsumerGroup:
    group: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: tuple[DescribedConsumer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribeAnswer:
    groups: tuple[DescribedConsumerGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroupsAnswer:
    groups: tuple[tuple[str, ErrorCode], ...] = ()


Answer: TypeAlias = (
    JoinGroupAnswer
    | SyncGroupAnswer
    | HeartbeatAnswer
    | LeaveGroupAnswer
    | ConsumerGroupHeartbeatAnswer
    | PrepareAssignmentAnswer
    | InstallAssignmentAnswer
    | OffsetCommitAnswer
    | OffsetFetchAnswer
    | OffsetDeleteAnswer
    | ListGroupsAnswer
    | DescribeGroupsAnswer
    | ConsumerGroupDescribeAnswer
    | DeleteGroupsAnswer
)
