"""Types of the messages of `offsets.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api, RecordType

class LegacyOffsetCommitKey(TypedDict):
    group: str
    topic: str
    partition: int

class LegacyOffsetCommitValue(TypedDict):
    offset: int
    metadata: str
    commitTimestamp: int

LEGACY_OFFSET_COMMIT_RECORD: Final[RecordType[LegacyOffsetCommitKey, LegacyOffsetCommitValue]]

class OffsetCommitKey(TypedDict):
    group: str
    topic: str
    partition: int

class OffsetCommitValue(TypedDict):
    offset: int
    leaderEpoch: NotRequired[int]
    metadata: str
    commitTimestamp: int
    expireTimestamp: NotRequired[int]
    topicId: NotRequired[UUID]

OFFSET_COMMIT_RECORD: Final[RecordType[OffsetCommitKey, OffsetCommitValue]]

class OffsetCommitRequestTopicPartition:
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None

class OffsetCommitRequestTopic:
    name: str
    topic_id: UUID | None
    partitions: tuple[OffsetCommitRequestTopicPartition, ...]

class OffsetCommitRequest:
    group_id: str
    generation_id_or_member_epoch: int
    member_id: str
    retention_time_ms: int
    group_instance_id: str | None
    topics: tuple[OffsetCommitRequestTopic, ...]

class OffsetCommitRequestTopicPartitionFields(TypedDict):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: NotRequired[int]
    committed_metadata: str | None

class OffsetCommitRequestTopicFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[OffsetCommitRequestTopicPartitionFields]

class OffsetCommitRequestFields(TypedDict):
    group_id: str
    generation_id_or_member_epoch: NotRequired[int]
    member_id: str
    retention_time_ms: NotRequired[int]
    group_instance_id: NotRequired[str | None]
    topics: Collection[OffsetCommitRequestTopicFields]

class OffsetCommitResponseTopicPartition:
    partition_index: int
    error_code: int

class OffsetCommitResponseTopic:
    name: str
    topic_id: UUID | None
    partitions: tuple[OffsetCommitResponseTopicPartition, ...]

class OffsetCommitResponse:
    throttle_time_ms: int
    topics: tuple[OffsetCommitResponseTopic, ...]

class OffsetCommitResponseTopicPartitionFields(TypedDict):
    partition_index: int
    error_code: int

class OffsetCommitResponseTopicFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[OffsetCommitResponseTopicPartitionFields]

class OffsetCommitResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[OffsetCommitResponseTopicFields]

OFFSET_COMMIT: Final[
    Api[OffsetCommitRequest, OffsetCommitResponse, OffsetCommitRequestFields, OffsetCommitResponseFields]
]
OFFSET_COMMIT_BY_ID: Final[
    Api[OffsetCommitRequest, OffsetCommitResponse, OffsetCommitRequestFields, OffsetCommitResponseFields]
]

class OffsetFetchRequestTopic:
    name: str
    partition_indexes: tuple[int, ...]

class OffsetFetchRequestGroupTopic:
    name: str
    topic_id: UUID | None
    partition_indexes: tuple[int, ...]

class OffsetFetchRequestGroup:
    group_id: str
    member_id: str | None
    member_epoch: int
    topics: tuple[OffsetFetchRequestGroupTopic, ...] | None

class OffsetFetchRequest:
    group_id: str
    topics: tuple[OffsetFetchRequestTopic, ...] | None
    groups: tuple[OffsetFetchRequestGroup, ...]
    require_stable: bool

class OffsetFetchRequestTopicFields(TypedDict):
    name: str
    partition_indexes: Collection[int]

class OffsetFetchRequestGroupTopicFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partition_indexes: Collection[int]

class OffsetFetchRequestGroupFields(TypedDict):
    group_id: str
    member_id: NotRequired[str | None]
    member_epoch: NotRequired[int]
    topics: Collection[OffsetFetchRequestGroupTopicFields] | None

class OffsetFetchRequestFields(TypedDict):
    group_id: NotRequired[str]
    topics: NotRequired[Collection[OffsetFetchRequestTopicFields] | None]
    groups: NotRequired[Collection[OffsetFetchRequestGroupFields]]
    require_stable: NotRequired[bool]

class OffsetFetchResponseTopicPartition:
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int

class OffsetFetchResponseTopic:
    name: str
    partitions: tuple[OffsetFetchResponseTopicPartition, ...]

class OffsetFetchResponseGroupTopicPartition:
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int

class OffsetFetchResponseGroupTopic:
    name: str
    topic_id: UUID | None
    partitions: tuple[OffsetFetchResponseGroupTopicPartition, ...]

class OffsetFetchResponseGroup:
    group_id: str
    topics: tuple[OffsetFetchResponseGroupTopic, ...]
    error_code: int

class OffsetFetchResponse:
    throttle_time_ms: int
    topics: tuple[OffsetFetchResponseTopic, ...]
    error_code: int
    groups: tuple[OffsetFetchResponseGroup, ...]

class OffsetFetchResponseTopicPartitionFields(TypedDict):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: NotRequired[int]
    metadata: str | None
    error_code: int

class OffsetFetchResponseTopicFields(TypedDict):
    name: str
    partitions: Collection[OffsetFetchResponseTopicPartitionFields]

class OffsetFetchResponseGroupTopicPartitionFields(TypedDict):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: NotRequired[int]
    metadata: str | None
    error_code: int

class OffsetFetchResponseGroupTopicFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[OffsetFetchResponseGroupTopicPartitionFields]

class OffsetFetchResponseGroupFields(TypedDict):
    group_id: str
    topics: Collection[OffsetFetchResponseGroupTopicFields]
    error_code: NotRequired[int]

class OffsetFetchResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: NotRequired[Collection[OffsetFetchResponseTopicFields]]
    error_code: NotRequired[int]
    groups: NotRequired[Collection[OffsetFetchResponseGroupFields]]

OFFSET_FETCH: Final[
    Api[OffsetFetchRequest, OffsetFetchResponse, OffsetFetchRequestFields, OffsetFetchResponseFields]
]

class OffsetDeleteRequestTopicPartition:
    partition_index: int

class OffsetDeleteRequestTopic:
    name: str
    partitions: tuple[OffsetDeleteRequestTopicPartition, ...]

class OffsetDeleteRequest:
    group_id: str
    topics: tuple[OffsetDeleteRequestTopic, ...]

class OffsetDeleteRequestTopicPartitionFields(TypedDict):
    partition_index: int

class OffsetDeleteRequestTopicFields(TypedDict):
    name: str
    partitions: Collection[OffsetDeleteRequestTopicPartitionFields]

class OffsetDeleteRequestFields(TypedDict):
    group_id: str
    topics: Collection[OffsetDeleteRequestTopicFields]

class OffsetDeleteResponseTopicPartition:
    partition_index: int
    error_code: int

class OffsetDeleteResponseTopic:
    name: str
    partitions: tuple[OffsetDeleteResponseTopicPartition, ...]

class OffsetDeleteResponse:
    error_code: int
    throttle_time_ms: int
    topics: tuple[OffsetDeleteResponseTopic, ...]

class OffsetDeleteResponseTopicPartitionFields(TypedDict):
    partition_index: int
    error_code: int

class OffsetDeleteResponseTopicFields(TypedDict):
    name: str
    partitions: Collection[OffsetDeleteResponseTopicPartitionFields]

class OffsetDeleteResponseFields(TypedDict):
    error_code: int
    throttle_time_ms: NotRequired[int]
    topics: Collection[OffsetDeleteResponseTopicFields]

OFFSET_DELETE: Final[
    Api[OffsetDeleteRequest, OffsetDeleteResponse, OffsetDeleteRequestFields, OffsetDeleteResponseFields]
]

class ListOffsetsRequestTopicPartition:
    partition_index: int
    current_leader_epoch: int
    timestamp: int

class ListOffsetsRequestTopic:
    name: str
    partitions: tuple[ListOffsetsRequestTopicPartition, ...]

class ListOffsetsRequest:
    replica_id: int
    isolation_level: int
    topics: tuple[ListOffsetsRequestTopic, ...]
    timeout_ms: int

class ListOffsetsRequestTopicPartitionFields(TypedDict):
    partition_index: int
    current_leader_epoch: NotRequired[int]
    timestamp: int

class ListOffsetsRequestTopicFields(TypedDict):
    name: str
    partitions: Collection[ListOffsetsRequestTopicPartitionFields]

class ListOffsetsRequestFields(TypedDict):
    replica_id: int
    isolation_level: NotRequired[int]
    topics: Collection[ListOffsetsRequestTopicFields]
    timeout_ms: NotRequired[int]

class ListOffsetsResponseTopicPartition:
    partition_index: int
    error_code: int
    timestamp: int
    offset: int
    leader_epoch: int

class ListOffsetsResponseTopic:
    name: str
    partitions: tuple[ListOffsetsResponseTopicPartition, ...]

class ListOffsetsResponse:
    throttle_time_ms: int
    topics: tuple[ListOffsetsResponseTopic, ...]

class ListOffsetsResponseTopicPartitionFields(TypedDict):
    partition_index: int
    error_code: int
    timestamp: NotRequired[int]
    offset: NotRequired[int]
    leader_epoch: NotRequired[int]

class ListOffsetsResponseTopicFields(TypedDict):
    name: str
    partitions: Collection[ListOffsetsResponseTopicPartitionFields]

class ListOffsetsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[ListOffsetsResponseTopicFields]

LIST_OFFSETS: Final[
    Api[ListOffsetsRequest, ListOffsetsResponse, ListOffsetsRequestFields, ListOffsetsResponseFields]
]
