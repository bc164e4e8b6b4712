"""Types of the messages of `log_records.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api

class ProduceRequestTopicDataPartitionData:
    index: int
    records: bytes | None

class ProduceRequestTopicData:
    name: str
    topic_id: UUID | None
    partition_data: tuple[ProduceRequestTopicDataPartitionData, ...]

class ProduceRequest:
    transactional_id: str | None
    acks: int
    timeout_ms: int
    topic_data: tuple[ProduceRequestTopicData, ...]

class ProduceRequestTopicDataPartitionDataFields(TypedDict):
    index: int
    records: bytes | bytearray | memoryview | None

class ProduceRequestTopicDataFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partition_data: Collection[ProduceRequestTopicDataPartitionDataFields]

class ProduceRequestFields(TypedDict):
    transactional_id: NotRequired[str | None]
    acks: int
    timeout_ms: int
    topic_data: Collection[ProduceRequestTopicDataFields]

class ProduceResponseResponsePartitionResponseRecordError:
    batch_index: int
    batch_index_error_message: str | None

class ProduceResponseResponsePartitionResponseCurrentLeader:
    leader_id: int
    leader_epoch: int

class ProduceResponseResponsePartitionResponse:
    index: int
    error_code: int
    base_offset: int
    log_append_time_ms: int
    log_start_offset: int
    record_errors: tuple[ProduceResponseResponsePartitionResponseRecordError, ...]
    error_message: str | None
    current_leader: ProduceResponseResponsePartitionResponseCurrentLeader

class ProduceResponseResponse:
    name: str
    topic_id: UUID | None
    partition_responses: tuple[ProduceResponseResponsePartitionResponse, ...]

class ProduceResponseNodeEndpoint:
    node_id: int
    host: str
    port: int
    rack: str | None

class ProduceResponse:
    responses: tuple[ProduceResponseResponse, ...]
    throttle_time_ms: int
    node_endpoints: tuple[ProduceResponseNodeEndpoint, ...]

class ProduceResponseResponsePartitionResponseRecordErrorFields(TypedDict):
    batch_index: int
    batch_index_error_message: NotRequired[str | None]

class ProduceResponseResponsePartitionResponseCurrentLeaderFields(TypedDict):
    leader_id: NotRequired[int]
    leader_epoch: NotRequired[int]

class ProduceResponseResponsePartitionResponseFields(TypedDict):
    index: int
    error_code: int
    base_offset: int
    log_append_time_ms: NotRequired[int]
    log_start_offset: NotRequired[int]
    record_errors: NotRequired[Collection[ProduceResponseResponsePartitionResponseRecordErrorFields]]
    error_message: NotRequired[str | None]
    current_leader: NotRequired[ProduceResponseResponsePartitionResponseCurrentLeaderFields]

class ProduceResponseResponseFields(TypedDict):
    name: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partition_responses: Collection[ProduceResponseResponsePartitionResponseFields]

class ProduceResponseNodeEndpointFields(TypedDict):
    node_id: int
    host: str
    port: int
    rack: NotRequired[str | None]

class ProduceResponseFields(TypedDict):
    responses: Collection[ProduceResponseResponseFields]
    throttle_time_ms: NotRequired[int]
    node_endpoints: NotRequired[Collection[ProduceResponseNodeEndpointFields]]

PRODUCE: Final[Api[ProduceRequest, ProduceResponse, ProduceRequestFields, ProduceResponseFields]]

class FetchRequestReplicaState:
    replica_id: int
    replica_epoch: int

class FetchRequestTopicPartition:
    partition: int
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    partition_max_bytes: int
    replica_directory_id: UUID | None
    high_watermark: int

class FetchRequestTopic:
    topic: str
    topic_id: UUID | None
    partitions: tuple[FetchRequestTopicPartition, ...]

class FetchRequestForgottenTopicsData:
    topic: str
    topic_id: UUID | None
    partitions: tuple[int, ...]

class FetchRequest:
    cluster_id: str | None
    replica_id: int
    replica_state: FetchRequestReplicaState
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: tuple[FetchRequestTopic, ...]
    forgotten_topics_data: tuple[FetchRequestForgottenTopicsData, ...]
    rack_id: str

class FetchRequestReplicaStateFields(TypedDict):
    replica_id: NotRequired[int]
    replica_epoch: NotRequired[int]

class FetchRequestTopicPartitionFields(TypedDict):
    partition: int
    current_leader_epoch: NotRequired[int]
    fetch_offset: int
    last_fetched_epoch: NotRequired[int]
    log_start_offset: NotRequired[int]
    partition_max_bytes: int
    replica_directory_id: NotRequired[UUID | None]
    high_watermark: NotRequired[int]

class FetchRequestTopicFields(TypedDict):
    topic: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[FetchRequestTopicPartitionFields]

class FetchRequestForgottenTopicsDataFields(TypedDict):
    topic: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[int]

class FetchRequestFields(TypedDict):
    cluster_id: NotRequired[str | None]
    replica_id: NotRequired[int]
    replica_state: NotRequired[FetchRequestReplicaStateFields]
    max_wait_ms: int
    min_bytes: int
    max_bytes: NotRequired[int]
    isolation_level: NotRequired[int]
    session_id: NotRequired[int]
    session_epoch: NotRequired[int]
    topics: Collection[FetchRequestTopicFields]
    forgotten_topics_data: NotRequired[Collection[FetchRequestForgottenTopicsDataFields]]
    rack_id: NotRequired[str]

class FetchResponseResponsePartitionDivergingEpoch:
    epoch: int
    end_offset: int

class FetchResponseResponsePartitionCurrentLeader:
    leader_id: int
    leader_epoch: int

class FetchResponseResponsePartitionSnapshotId:
    end_offset: int
    epoch: int

class FetchResponseResponsePartitionAbortedTransaction:
    producer_id: int
    first_offset: int

class FetchResponseResponsePartition:
    partition_index: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    diverging_epoch: FetchResponseResponsePartitionDivergingEpoch
    current_leader: FetchResponseResponsePartitionCurrentLeader
    snapshot_id: FetchResponseResponsePartitionSnapshotId
    aborted_transactions: tuple[FetchResponseResponsePartitionAbortedTransaction, ...] | None
    preferred_read_replica: int
    records: bytes | None

class FetchResponseResponse:
    topic: str
    topic_id: UUID | None
    partitions: tuple[FetchResponseResponsePartition, ...]

class FetchResponseNodeEndpoint:
    node_id: int
    host: str
    port: int
    rack: str | None

class FetchResponse:
    throttle_time_ms: int
    error_code: int
    session_id: int
    responses: tuple[FetchResponseResponse, ...]
    node_endpoints: tuple[FetchResponseNodeEndpoint, ...]

class FetchResponseResponsePartitionDivergingEpochFields(TypedDict):
    epoch: NotRequired[int]
    end_offset: NotRequired[int]

class FetchResponseResponsePartitionCurrentLeaderFields(TypedDict):
    leader_id: NotRequired[int]
    leader_epoch: NotRequired[int]

class FetchResponseResponsePartitionSnapshotIdFields(TypedDict):
    end_offset: NotRequired[int]
    epoch: NotRequired[int]

class FetchResponseResponsePartitionAbortedTransactionFields(TypedDict):
    producer_id: int
    first_offset: int

class FetchResponseResponsePartitionFields(TypedDict):
    partition_index: int
    error_code: int
    high_watermark: int
    last_stable_offset: NotRequired[int]
    log_start_offset: NotRequired[int]
    diverging_epoch: NotRequired[FetchResponseResponsePartitionDivergingEpochFields]
    current_leader: NotRequired[FetchResponseResponsePartitionCurrentLeaderFields]
    snapshot_id: NotRequired[FetchResponseResponsePartitionSnapshotIdFields]
    aborted_transactions: Collection[FetchResponseResponsePartitionAbortedTransactionFields] | None
    preferred_read_replica: NotRequired[int]
    records: bytes | bytearray | memoryview | None

class FetchResponseResponseFields(TypedDict):
    topic: NotRequired[str]
    topic_id: NotRequired[UUID | None]
    partitions: Collection[FetchResponseResponsePartitionFields]

class FetchResponseNodeEndpointFields(TypedDict):
    node_id: int
    host: str
    port: int
    rack: NotRequired[str | None]

class FetchResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: NotRequired[int]
    session_id: NotRequired[int]
    responses: Collection[FetchResponseResponseFields]
    node_endpoints: NotRequired[Collection[FetchResponseNodeEndpointFields]]

FETCH: Final[Api[FetchRequest, FetchResponse, FetchRequestFields, FetchResponseFields]]

class InitProducerIdRequest:
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int
    producer_epoch: int

class InitProducerIdRequestFields(TypedDict):
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: NotRequired[int]
    producer_epoch: NotRequired[int]

class InitProducerIdResponse:
    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int

class InitProducerIdResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    producer_id: NotRequired[int]
    producer_epoch: int

INIT_PRODUCER_ID: Final[
    Api[
        InitProducerIdRequest,
        InitProducerIdResponse,
        InitProducerIdRequestFields,
        InitProducerIdResponseFields,
    ]
]

class DeleteRecordsRequestTopicPartition:
    partition_index: int
    offset: int

class DeleteRecordsRequestTopic:
    name: str
    partitions: tuple[DeleteRecordsRequestTopicPartition, ...]

class DeleteRecordsRequest:
    topics: tuple[DeleteRecordsRequestTopic, ...]
    timeout_ms: int

class DeleteRecordsRequestTopicPartitionFields(TypedDict):
    partition_index: int
    offset: int

class DeleteRecordsRequestTopicFields(TypedDict):
    name: str
    partitions: Collection[DeleteRecordsRequestTopicPartitionFields]

class DeleteRecordsRequestFields(TypedDict):
    topics: Collection[DeleteRecordsRequestTopicFields]
    timeout_ms: int

class DeleteRecordsResponseTopicPartition:
    partition_index: int
    low_watermark: int
    error_code: int

class DeleteRecordsResponseTopic:
    name: str
    partitions: tuple[DeleteRecordsResponseTopicPartition, ...]

class DeleteRecordsResponse:
    throttle_time_ms: int
    topics: tuple[DeleteRecordsResponseTopic, ...]

class DeleteRecordsResponseTopicPartitionFields(TypedDict):
    partition_index: int
    low_watermark: int
    error_code: int

class DeleteRecordsResponseTopicFields(TypedDict):
    name: str
    partitions: Collection[DeleteRecordsResponseTopicPartitionFields]

class DeleteRecordsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[DeleteRecordsResponseTopicFields]

DELETE_RECORDS: Final[
    Api[DeleteRecordsRequest, DeleteRecordsResponse, DeleteRecordsRequestFields, DeleteRecordsResponseFields]
]

class OffsetForLeaderEpochRequestTopicPartition:
    partition: int
    current_leader_epoch: int
    leader_epoch: int

class OffsetForLeaderEpochRequestTopic:
    topic: str
    partitions: tuple[OffsetForLeaderEpochRequestTopicPartition, ...]

class OffsetForLeaderEpochRequest:
    replica_id: int
    topics: tuple[OffsetForLeaderEpochRequestTopic, ...]

class OffsetForLeaderEpochRequestTopicPartitionFields(TypedDict):
    partition: int
    current_leader_epoch: NotRequired[int]
    leader_epoch: int

class OffsetForLeaderEpochRequestTopicFields(TypedDict):
    topic: str
    partitions: Collection[OffsetForLeaderEpochRequestTopicPartitionFields]

class OffsetForLeaderEpochRequestFields(TypedDict):
    replica_id: NotRequired[int]
    topics: Collection[OffsetForLeaderEpochRequestTopicFields]

class OffsetForLeaderEpochResponseTopicPartition:
    error_code: int
    partition: int
    leader_epoch: int
    end_offset: int

class OffsetForLeaderEpochResponseTopic:
    topic: str
    partitions: tuple[OffsetForLeaderEpochResponseTopicPartition, ...]

class OffsetForLeaderEpochResponse:
    throttle_time_ms: int
    topics: tuple[OffsetForLeaderEpochResponseTopic, ...]

class OffsetForLeaderEpochResponseTopicPartitionFields(TypedDict):
    error_code: int
    partition: int
    leader_epoch: NotRequired[int]
    end_offset: NotRequired[int]

class OffsetForLeaderEpochResponseTopicFields(TypedDict):
    topic: str
    partitions: Collection[OffsetForLeaderEpochResponseTopicPartitionFields]

class OffsetForLeaderEpochResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[OffsetForLeaderEpochResponseTopicFields]

OFFSET_FOR_LEADER_EPOCH: Final[
    Api[
        OffsetForLeaderEpochRequest,
        OffsetForLeaderEpochResponse,
        OffsetForLeaderEpochRequestFields,
        OffsetForLeaderEpochResponseFields,
    ]
]
