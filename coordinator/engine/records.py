"""The records of the coordinator's log about groups and offsets, independent of their encoding."""

from collections.abc import Mapping
from dataclasses import field, replace
from enum import IntEnum
from typing import Generic, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from coordinator.engine.topics import TopicInfo
from wire.values import dataclass

TopicPartitions: TypeAlias = Mapping[UUID, tuple[int, ...]]
"""Partition numbers by topic id."""

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupRecord(Generic[V]):
    """A record of a group; its value is None if the record deletes the key."""

    group: str
    value: V | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemberRecord(_GroupRecord[V]):
    member: str


class StoredOffset(NamedTuple):
    """Value of key 1; times in ms since 1970. A named tuple: most records are offsets, and it is created faster."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int | None = None
    topic_id: UUID | None = None


class OffsetRecord(NamedTuple):
    """Keys 0 and 1. A named tuple, like its value."""

    group: str
    topic: str
    partition: int
    value: StoredOffset | None  # None: the record deletes the key


class ClassicMemberValue(NamedTuple):
    """A member in the value of key 2. A named tuple: members are created and compared in each generation."""

    member: str
    instance: str | None
    client_id: str
    host: str
    rebalance_timeout_ms: int  # -1 in records before version 1, which have only one timeout
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicGroupValue:
    """Value of key 2. An Empty group has no protocol, no leader and no members."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_since_ms: int
    members: tuple[ClassicMemberValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicGroupRecord(_GroupRecord[ClassicGroupValue]):
    """Key 2: GroupMetadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupValue:
    """Value of key 3."""

    epoch: int
    metadata_hash: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupRecord(_GroupRecord[ConsumerGroupValue]):
    """Key 3: ConsumerGroupMetadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMetadataRecord(_GroupRecord[tuple[TopicInfo, ...]]):
    """Key 4: ConsumerGroupPartitionMetadata, of brokers before 4.1; since then the hash in key 3 replaces it."""


class JoinProtocol(NamedTuple):
    """An assignor of a classic member, with the member's metadata for it."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicMemberMetadata:
    """The classic metadata of a member that uses the classic protocol in a consumer group."""

    session_timeout_ms: int
    protocols: tuple[JoinProtocol, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMetadata:
    """Metadata that client-side assignors exchange; version -1 is a classic member's user data."""

    version: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAssignor:
    """A client-side assignor of a member (KIP-848), and the metadata versions that it can read."""

    name: str
    minimum_version: int = 0
    maximum_version: int = 0
    reason: int = 0
    metadata: ClientMetadata = ClientMetadata()


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A client-side assignor's metadata and error for a member, in addition to its partitions."""

    error: int = 0  # Why there is no assignment, a code of the assignor; 0: there is an assignment
    metadata: ClientMetadata | None = None


NO_PAYLOAD = Payload()
"""The payload of the coordinator's assignors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMemberValue:
    """Value of key 5. Kafka's value has no client-side assignors: see `coordinator.store.client_side`."""

    instance: str | None = None
    rack: str | None = None
    client_id: str = ""
    host: str = ""
    topics: tuple[str, ...] = ()
    regex: str = ""
    rebalance_timeout_ms: int = -1
    assignor: str | None = None
    classic: ClassicMemberMetadata | None = None
    client_assignors: tuple[ClientAssignor, ...] = ()  # Preferred first


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMemberRecord(_MemberRecord[ConsumerMemberValue]):
    """Key 5: ConsumerGroupMemberMetadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEpochValue:
    """Value of key 6."""

    epoch: int
    assigned_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEpochRecord(_GroupRecord[TargetEpochValue]):
    """Key 6: ConsumerGroupTargetAssignmentMetadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetMemberRecord(_MemberRecord[TopicPartitions]):
    """Key 7: ConsumerGroupTargetAssignmentMember."""

    payload: Payload = NO_PAYLOAD


class MemberState(IntEnum):
    """Member states as in key 8."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentAssignmentValue:
    """Value of key 8. Partitions have the epoch at which they were assigned (4.3, KIP-1251)."""

    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: TopicPartitions = field(default_factory=dict)
    revoking: TopicPartitions = field(default_factory=dict)
    assigned_epochs: dict[tuple[UUID, int], int] = field(default_factory=dict)
    payload: Payload = NO_PAYLOAD
    """The assignor's metadata for the member, from the target that it has reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentAssignmentRecord(_MemberRecord[CurrentAssignmentValue]):
    """Key 8: ConsumerGroupCurrentMemberAssignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexValue:
    """Value of key 16."""

    topics: tuple[str, ...]
    version: int
    resolved_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexRecord(_GroupRecord[RegexValue]):
    """Key 16: ConsumerGroupRegularExpression."""

    regex: str


Written: TypeAlias = tuple[str, tuple[bytes, bytes | None]]
"""The group of a record, and its key and value as in the log; the value of a tombstone is None."""

ConsumerRecord: TypeAlias = (
    ConsumerGroupRecord
    | PartitionMetadataRecord
    | ConsumerMemberRecord
    | TargetEpochRecord
    | TargetMemberRecord
    | CurrentAssignmentRecord
    | RegexRecord
)
"""A record of a consumer group."""

Record: TypeAlias = OffsetRecord | ClassicGroupRecord | ConsumerRecord


def in_group(record: Record, group: str) -> Record:
    """The same record of another group."""
    return record._replace(group=group) if isinstance(record, OffsetRecord) else replace(record, group=group)
