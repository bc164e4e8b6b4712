"""Requests as the coordinator takes them: what the wire carries, without its encoding.

A version is there only where Kafka's answer depends on it; None stands for a null of the wire. Reasons, which a broker
writes to its log, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import UUID

TopicPartitions: TypeAlias = Mapping[UUID, tuple[int, ...]]
"""Partition numbers by topic id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinProtocol:
    """An assignor of a joining member, with its metadata for it."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroup:
    """JoinGroup v0–v9. In v0, which has one timeout for both, the session timeout is the rebalance timeout, too."""

    group: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member: str
    instance: str | None
    protocol_type: str
    protocols: tuple[JoinProtocol, ...]
    version: int = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroup:
    """SyncGroup v0–v5; protocol type and name are null below v5."""

    group: str
    generation: int
    member: str
    instance: str | None
    protocol_type: str | None
    protocol: str | None
    assignments: tuple[tuple[str, bytes], ...]
    version: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Heartbeat v0–v4."""

    group: str
    generation: int
    member: str
    instance: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingMember:
    """A member of a LeaveGroup."""

    member: str
    instance: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroup:
    """LeaveGroup v0–v5; below v3 exactly one member."""

    group: str
    members: tuple[LeavingMember, ...]
    version: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMetadata:
    """Bytes that client-side assignors tell each other; -1 is the version of what a classic member's assignor said."""

    version: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAssignor:
    """A client-side assignor that a member has (KIP-848), and the versions of metadata that it can read."""

    name: str
    minimum_version: int = 0
    maximum_version: int = 0
    reason: int = 0
    metadata: ClientMetadata = ClientMetadata()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupHeartbeat:
    """ConsumerGroupHeartbeat v0–v1; None is "unchanged since the last heartbeat"."""

    group: str
    member: str
    epoch: int
    instance: str | None = None
    rack: str | None = None
    rebalance_timeout_ms: int = -1
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: TopicPartitions | None = None
    client_assignors: tuple[ClientAssignor, ...] | None = None
    """Preferred first. Kafka never gave them a wire form: they come from within the process."""
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareAssignment:
    """KIP-848's ConsumerGroupPrepareAssignment, which never got a wire form: what is the group to be assigned?"""

    group: str
    member: str
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallAssignment:
    """KIP-848's ConsumerGroupInstallAssignment: a computed assignment. `error`, in the assignor's own numbers, is 0 or
    why it could not compute one; all members are told."""

    group: str
    member: str
    epoch: int
    group_epoch: int
    assignments: Mapping[str, TopicPartitions]
    metadata: Mapping[str, ClientMetadata] = field(default_factory=dict)
    error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """An offset to commit; `topic_id` is None below v10. Expires after `retention_ms` where given (v2–v4)."""

    topic: str
    topic_id: UUID | None
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str | None = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommit:
    """OffsetCommit v2–v10."""

    group: str
    generation_or_epoch: int
    member: str
    instance: str | None
    offsets: tuple[Offset, ...]
    retention_ms: int | None = None
    version: int = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedGroup:
    """One group of an OffsetFetch; `topics` None is all, keyed by name or, from v10 on, by id."""

    group: str
    member: str | None = None
    epoch: int = -1
    topics: tuple[tuple[str | UUID, tuple[int, ...]], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetch:
    """OffsetFetch v1–v10; below v8 exactly one group."""

    groups: tuple[FetchedGroup, ...]
    require_stable: bool = False
    version: int = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDelete:
    """OffsetDelete v0."""

    group: str
    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroups:
    """ListGroups v0–v5; empty filters let everything pass."""

    states: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeGroups:
    """DescribeGroups v0–v6."""

    groups: tuple[str, ...]
    version: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribe:
    """ConsumerGroupDescribe v0–v1."""

    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroups:
    """DeleteGroups v0–v2."""

    groups: tuple[str, ...]


Request: TypeAlias = (
    JoinGroup
    | SyncGroup
    | Heartbeat
    | LeaveGroup
    | ConsumerGroupHeartbeat
    | PrepareAssignment
    | InstallAssignment
    | OffsetCommit
    | OffsetFetch
    | OffsetDelete
    | ListGroups
    | DescribeGroups
    | ConsumerGroupDescribe
    | DeleteGroups
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request, who sent it, when, and what to answer it by."""

    ticket: int
    """Names the call in `Result.answers`; the caller chooses it and never uses it twice."""
    request: Request
    now_ms: int
    client_id: str
    """Empty where the wire says null."""
    host: str
    """As Kafka shows it: `/127.0.0.1`."""
    fresh_id: UUID
    """A random id for a member that this call may create."""
