"""Types of the messages of `admin.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api

class CreateTopicsRequestTopicAssignment:
    partition_index: int
    broker_ids: tuple[int, ...]

class CreateTopicsRequestTopicConfig:
    name: str
    value: str | None

class CreateTopicsRequestTopic:
    name: str
    num_partitions: int
    replication_factor: int
    assignments: tuple[CreateTopicsRequestTopicAssignment, ...]
    configs: tuple[CreateTopicsRequestTopicConfig, ...]

class CreateTopicsRequest:
    topics: tuple[CreateTopicsRequestTopic, ...]
    timeout_ms: int
    validate_only: bool

class CreateTopicsRequestTopicAssignmentFields(TypedDict):
    partition_index: int
    broker_ids: Collection[int]

class CreateTopicsRequestTopicConfigFields(TypedDict):
    name: str
    value: str | None

class CreateTopicsRequestTopicFields(TypedDict):
    name: str
    num_partitions: int
    replication_factor: int
    assignments: Collection[CreateTopicsRequestTopicAssignmentFields]
    configs: Collection[CreateTopicsRequestTopicConfigFields]

class CreateTopicsRequestFields(TypedDict):
    topics: Collection[CreateTopicsRequestTopicFields]
    timeout_ms: NotRequired[int]
    validate_only: NotRequired[bool]

class CreateTopicsResponseTopicConfig:
    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool

class CreateTopicsResponseTopic:
    name: str
    topic_id: UUID | None
    error_code: int
    error_message: str | None
    topic_config_error_code: int
    num_partitions: int
    replication_factor: int
    configs: tuple[CreateTopicsResponseTopicConfig, ...] | None

class CreateTopicsResponse:
    throttle_time_ms: int
    topics: tuple[CreateTopicsResponseTopic, ...]

class CreateTopicsResponseTopicConfigFields(TypedDict):
    name: str
    value: str | None
    read_only: bool
    config_source: NotRequired[int]
    is_sensitive: bool

class CreateTopicsResponseTopicFields(TypedDict):
    name: str
    topic_id: NotRequired[UUID | None]
    error_code: int
    error_message: str | None
    topic_config_error_code: NotRequired[int]
    num_partitions: NotRequired[int]
    replication_factor: NotRequired[int]
    configs: NotRequired[Collection[CreateTopicsResponseTopicConfigFields] | None]

class CreateTopicsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[CreateTopicsResponseTopicFields]

CREATE_TOPICS: Final[
    Api[CreateTopicsRequest, CreateTopicsResponse, CreateTopicsRequestFields, CreateTopicsResponseFields]
]

class DeleteTopicsRequestTopic:
    name: str | None
    topic_id: UUID | None

class DeleteTopicsRequest:
    topic_names: tuple[str, ...]
    topics: tuple[DeleteTopicsRequestTopic, ...]
    timeout_ms: int

class DeleteTopicsRequestTopicFields(TypedDict):
    name: NotRequired[str | None]
    topic_id: UUID | None

class DeleteTopicsRequestFields(TypedDict):
    topic_names: NotRequired[Collection[str]]
    topics: NotRequired[Collection[DeleteTopicsRequestTopicFields]]
    timeout_ms: int

class DeleteTopicsResponseResponse:
    name: str | None
    topic_id: UUID | None
    error_code: int
    error_message: str | None

class DeleteTopicsResponse:
    throttle_time_ms: int
    responses: tuple[DeleteTopicsResponseResponse, ...]

class DeleteTopicsResponseResponseFields(TypedDict):
    name: str | None
    topic_id: NotRequired[UUID | None]
    error_code: int
    error_message: NotRequired[str | None]

class DeleteTopicsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    responses: Collection[DeleteTopicsResponseResponseFields]

DELETE_TOPICS: Final[
    Api[DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicsRequestFields, DeleteTopicsResponseFields]
]

class CreatePartitionsRequestTopicAssignment:
    broker_ids: tuple[int, ...]

class CreatePartitionsRequestTopic:
    name: str
    count: int
    assignments: tuple[CreatePartitionsRequestTopicAssignment, ...] | None

class CreatePartitionsRequest:
    topics: tuple[CreatePartitionsRequestTopic, ...]
    timeout_ms: int
    validate_only: bool

class CreatePartitionsRequestTopicAssignmentFields(TypedDict):
    broker_ids: Collection[int]

class CreatePartitionsRequestTopicFields(TypedDict):
    name: str
    count: int
    assignments: Collection[CreatePartitionsRequestTopicAssignmentFields] | None

class CreatePartitionsRequestFields(TypedDict):
    topics: Collection[CreatePartitionsRequestTopicFields]
    timeout_ms: int
    validate_only: bool

class CreatePartitionsResponseResult:
    name: str
    error_code: int
    error_message: str | None

class CreatePartitionsResponse:
    throttle_time_ms: int
    results: tuple[CreatePartitionsResponseResult, ...]

class CreatePartitionsResponseResultFields(TypedDict):
    name: str
    error_code: int
    error_message: NotRequired[str | None]

class CreatePartitionsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    results: Collection[CreatePartitionsResponseResultFields]

CREATE_PARTITIONS: Final[
    Api[
        CreatePartitionsRequest,
        CreatePartitionsResponse,
        CreatePartitionsRequestFields,
        CreatePartitionsResponseFields,
    ]
]

class DescribeLogDirsRequestTopic:
    topic: str
    partitions: tuple[int, ...]

class DescribeLogDirsRequest:
    topics: tuple[DescribeLogDirsRequestTopic, ...] | None

class DescribeLogDirsRequestTopicFields(TypedDict):
    topic: str
    partitions: Collection[int]

class DescribeLogDirsRequestFields(TypedDict):
    topics: Collection[DescribeLogDirsRequestTopicFields] | None

class DescribeLogDirsResponseResultTopicPartition:
    partition_index: int
    partition_size: int
    offset_lag: int
    is_future_key: bool

class DescribeLogDirsResponseResultTopic:
    name: str
    partitions: tuple[DescribeLogDirsResponseResultTopicPartition, ...]

class DescribeLogDirsResponseResult:
    error_code: int
    log_dir: str
    topics: tuple[DescribeLogDirsResponseResultTopic, ...]
    total_bytes: int
    usable_bytes: int
    is_cordoned: bool

class DescribeLogDirsResponse:
    throttle_time_ms: int
    error_code: int
    results: tuple[DescribeLogDirsResponseResult, ...]

class DescribeLogDirsResponseResultTopicPartitionFields(TypedDict):
    partition_index: int
    partition_size: int
    offset_lag: int
    is_future_key: bool

class DescribeLogDirsResponseResultTopicFields(TypedDict):
    name: str
    partitions: Collection[DescribeLogDirsResponseResultTopicPartitionFields]

class DescribeLogDirsResponseResultFields(TypedDict):
    error_code: int
    log_dir: str
    topics: Collection[DescribeLogDirsResponseResultTopicFields]
    total_bytes: NotRequired[int]
    usable_bytes: NotRequired[int]
    is_cordoned: NotRequired[bool]

class DescribeLogDirsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: NotRequired[int]
    results: Collection[DescribeLogDirsResponseResultFields]

DESCRIBE_LOG_DIRS: Final[
    Api[
        DescribeLogDirsRequest,
        DescribeLogDirsResponse,
        DescribeLogDirsRequestFields,
        DescribeLogDirsResponseFields,
    ]
]

class ElectLeadersRequestTopicPartition:
    topic: str
    partitions: tuple[int, ...]

class ElectLeadersRequest:
    election_type: int
    topic_partitions: tuple[ElectLeadersRequestTopicPartition, ...] | None
    timeout_ms: int

class ElectLeadersRequestTopicPartitionFields(TypedDict):
    topic: str
    partitions: Collection[int]

class ElectLeadersRequestFields(TypedDict):
    election_type: NotRequired[int]
    topic_partitions: Collection[ElectLeadersRequestTopicPartitionFields] | None
    timeout_ms: NotRequired[int]

class ElectLeadersResponseReplicaElectionResultPartitionResult:
    partition_id: int
    error_code: int
    error_message: str | None

class ElectLeadersResponseReplicaElectionResult:
    topic: str
    partition_result: tuple[ElectLeadersResponseReplicaElectionResultPartitionResult, ...]

class ElectLeadersResponse:
    throttle_time_ms: int
    error_code: int
    replica_election_results: tuple[ElectLeadersResponseReplicaElectionResult, ...]

class ElectLeadersResponseReplicaElectionResultPartitionResultFields(TypedDict):
    partition_id: int
    error_code: int
    error_message: str | None

class ElectLeadersResponseReplicaElectionResultFields(TypedDict):
    topic: str
    partition_result: Collection[ElectLeadersResponseReplicaElectionResultPartitionResultFields]

class ElectLeadersResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: NotRequired[int]
    replica_election_results: Collection[ElectLeadersResponseReplicaElectionResultFields]

ELECT_LEADERS: Final[
    Api[ElectLeadersRequest, ElectLeadersResponse, ElectLeadersRequestFields, ElectLeadersResponseFields]
]

class AlterPartitionReassignmentsRequestTopicPartition:
    partition_index: int
    replicas: tuple[int, ...] | None

class AlterPartitionReassignmentsRequestTopic:
    name: str
    partitions: tuple[AlterPartitionReassignmentsRequestTopicPartition, ...]

class AlterPartitionReassignmentsRequest:
    timeout_ms: int
    allow_replication_factor_change: bool
    topics: tuple[AlterPartitionReassignmentsRequestTopic, ...]

class AlterPartitionReassignmentsRequestTopicPartitionFields(TypedDict):
    partition_index: int
    replicas: NotRequired[Collection[int] | None]

class AlterPartitionReassignmentsRequestTopicFields(TypedDict):
    name: str
    partitions: Collection[AlterPartitionReassignmentsRequestTopicPartitionFields]

class AlterPartitionReassignmentsRequestFields(TypedDict):
    timeout_ms: NotRequired[int]
    allow_replication_factor_change: NotRequired[bool]
    topics: Collection[AlterPartitionReassignmentsRequestTopicFields]

class AlterPartitionReassignmentsResponseResponsePartition:
    partition_index: int
    error_code: int
    error_message: str | None

class AlterPartitionReassignmentsResponseResponse:
    name: str
    partitions: tuple[AlterPartitionReassignmentsResponseResponsePartition, ...]

class AlterPartitionReassignmentsResponse:
    throttle_time_ms: int
    allow_replication_factor_change: bool
    error_code: int
    error_message: str | None
    responses: tuple[AlterPartitionReassignmentsResponseResponse, ...]

class AlterPartitionReassignmentsResponseResponsePartitionFields(TypedDict):
    partition_index: int
    error_code: int
    error_message: str | None

class AlterPartitionReassignmentsResponseResponseFields(TypedDict):
    name: str
    partitions: Collection[AlterPartitionReassignmentsResponseResponsePartitionFields]

class AlterPartitionReassignmentsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    allow_replication_factor_change: NotRequired[bool]
    error_code: int
    error_message: str | None
    responses: Collection[AlterPartitionReassignmentsResponseResponseFields]

ALTER_PARTITION_REASSIGNMENTS: Final[
    Api[
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
        AlterPartitionReassignmentsRequestFields,
        AlterPartitionReassignmentsResponseFields,
    ]
]

class ListPartitionReassignmentsRequestTopic:
    name: str
    partition_indexes: tuple[int, ...]

class ListPartitionReassignmentsRequest:
    timeout_ms: int
    topics: tuple[ListPartitionReassignmentsRequestTopic, ...] | None

class ListPartitionReassignmentsRequestTopicFields(TypedDict):
    name: str
    partition_indexes: Collection[int]

class ListPartitionReassignmentsRequestFields(TypedDict):
    timeout_ms: NotRequired[int]
    topics: NotRequired[Collection[ListPartitionReassignmentsRequestTopicFields] | None]

class ListPartitionReassignmentsResponseTopicPartition:
    partition_index: int
    replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]

class ListPartitionReassignmentsResponseTopic:
    name: str
    partitions: tuple[ListPartitionReassignmentsResponseTopicPartition, ...]

class ListPartitionReassignmentsResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    topics: tuple[ListPartitionReassignmentsResponseTopic, ...]

class ListPartitionReassignmentsResponseTopicPartitionFields(TypedDict):
    partition_index: int
    replicas: Collection[int]
    adding_replicas: Collection[int]
    removing_replicas: Collection[int]

class ListPartitionReassignmentsResponseTopicFields(TypedDict):
    name: str
    partitions: Collection[ListPartitionReassignmentsResponseTopicPartitionFields]

class ListPartitionReassignmentsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: str | None
    topics: Collection[ListPartitionReassignmentsResponseTopicFields]

LIST_PARTITION_REASSIGNMENTS: Final[
    Api[
        ListPartitionReassignmentsRequest,
        ListPartitionReassignmentsResponse,
        ListPartitionReassignmentsRequestFields,
        ListPartitionReassignmentsResponseFields,
    ]
]

class DescribeClientQuotasRequestComponent:
    entity_type: str
    match_type: int
    match: str | None

class DescribeClientQuotasRequest:
    components: tuple[DescribeClientQuotasRequestComponent, ...]
    strict: bool

class DescribeClientQuotasRequestComponentFields(TypedDict):
    entity_type: str
    match_type: int
    match: str | None

class DescribeClientQuotasRequestFields(TypedDict):
    components: Collection[DescribeClientQuotasRequestComponentFields]
    strict: bool

class DescribeClientQuotasResponseEntryEntity:
    entity_type: str
    entity_name: str | None

class DescribeClientQuotasResponseEntryValue:
    key: str
    value: float

class DescribeClientQuotasResponseEntry:
    entity: tuple[DescribeClientQuotasResponseEntryEntity, ...]
    values: tuple[DescribeClientQuotasResponseEntryValue, ...]

class DescribeClientQuotasResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    entries: tuple[DescribeClientQuotasResponseEntry, ...] | None

class DescribeClientQuotasResponseEntryEntityFields(TypedDict):
    entity_type: str
    entity_name: str | None

class DescribeClientQuotasResponseEntryValueFields(TypedDict):
    key: str
    value: float

class DescribeClientQuotasResponseEntryFields(TypedDict):
    entity: Collection[DescribeClientQuotasResponseEntryEntityFields]
    values: Collection[DescribeClientQuotasResponseEntryValueFields]

class DescribeClientQuotasResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: str | None
    entries: Collection[DescribeClientQuotasResponseEntryFields] | None

DESCRIBE_CLIENT_QUOTAS: Final[
    Api[
        DescribeClientQuotasRequest,
        DescribeClientQuotasResponse,
        DescribeClientQuotasRequestFields,
        DescribeClientQuotasResponseFields,
    ]
]

class DescribeUserScramCredentialsRequestUser:
    name: str

class DescribeUserScramCredentialsRequest:
    users: tuple[DescribeUserScramCredentialsRequestUser, ...] | None

class DescribeUserScramCredentialsRequestUserFields(TypedDict):
    name: str

class DescribeUserScramCredentialsRequestFields(TypedDict):
    users: Collection[DescribeUserScramCredentialsRequestUserFields] | None

class DescribeUserScramCredentialsResponseResultCredentialInfo:
    mechanism: int
    iterations: int

class DescribeUserScramCredentialsResponseResult:
    user: str
    error_code: int
    error_message: str | None
    credential_infos: tuple[DescribeUserScramCredentialsResponseResultCredentialInfo, ...]

class DescribeUserScramCredentialsResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: tuple[DescribeUserScramCredentialsResponseResult, ...]

class DescribeUserScramCredentialsResponseResultCredentialInfoFields(TypedDict):
    mechanism: int
    iterations: int

class DescribeUserScramCredentialsResponseResultFields(TypedDict):
    user: str
    error_code: int
    error_message: str | None
    credential_infos: Collection[DescribeUserScramCredentialsResponseResultCredentialInfoFields]

class DescribeUserScramCredentialsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: str | None
    results: Collection[DescribeUserScramCredentialsResponseResultFields]

DESCRIBE_USER_SCRAM_CREDENTIALS: Final[
    Api[
        DescribeUserScramCredentialsRequest,
        DescribeUserScramCredentialsResponse,
        DescribeUserScramCredentialsRequestFields,
        DescribeUserScramCredentialsResponseFields,
    ]
]

class ListConfigResourcesRequest:
    resource_types: tuple[int, ...]

class ListConfigResourcesRequestFields(TypedDict):
    resource_types: NotRequired[Collection[int]]

class ListConfigResourcesResponseConfigResource:
    resource_name: str
    resource_type: int

class ListConfigResourcesResponse:
    throttle_time_ms: int
    error_code: int
    config_resources: tuple[ListConfigResourcesResponseConfigResource, ...]

class ListConfigResourcesResponseConfigResourceFields(TypedDict):
    resource_name: str
    resource_type: NotRequired[int]

class ListConfigResourcesResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    config_resources: Collection[ListConfigResourcesResponseConfigResourceFields]

LIST_CONFIG_RESOURCES: Final[
    Api[
        ListConfigResourcesRequest,
        ListConfigResourcesResponse,
        ListConfigResourcesRequestFields,
        ListConfigResourcesResponseFields,
    ]
]

class DescribeTopicPartitionsRequestTopic:
    name: str

class DescribeTopicPartitionsRequestCursor:
    topic_name: str
    partition_index: int

class DescribeTopicPartitionsRequest:
    topics: tuple[DescribeTopicPartitionsRequestTopic, ...]
    response_partition_limit: int
    cursor: DescribeTopicPartitionsRequestCursor | None

class DescribeTopicPartitionsRequestTopicFields(TypedDict):
    name: str

class DescribeTopicPartitionsRequestCursorFields(TypedDict):
    topic_name: str
    partition_index: int

class DescribeTopicPartitionsRequestFields(TypedDict):
    topics: Collection[DescribeTopicPartitionsRequestTopicFields]
    response_partition_limit: NotRequired[int]
    cursor: NotRequired[DescribeTopicPartitionsRequestCursorFields | None]

class DescribeTopicPartitionsResponseTopicPartition:
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: tuple[int, ...]
    isr_nodes: tuple[int, ...]
    eligible_leader_replicas: tuple[int, ...] | None
    last_known_elr: tuple[int, ...] | None
    offline_replicas: tuple[int, ...]

class DescribeTopicPartitionsResponseTopic:
    error_code: int
    name: str | None
    topic_id: UUID | None
    is_internal: bool
    partitions: tuple[DescribeTopicPartitionsResponseTopicPartition, ...]
    topic_authorized_operations: int

class DescribeTopicPartitionsResponseNextCursor:
    topic_name: str
    partition_index: int

class DescribeTopicPartitionsResponse:
    throttle_time_ms: int
    topics: tuple[DescribeTopicPartitionsResponseTopic, ...]
    next_cursor: DescribeTopicPartitionsResponseNextCursor | None

class DescribeTopicPartitionsResponseTopicPartitionFields(TypedDict):
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: NotRequired[int]
    replica_nodes: Collection[int]
    isr_nodes: Collection[int]
    eligible_leader_replicas: NotRequired[Collection[int] | None]
    last_known_elr: NotRequired[Collection[int] | None]
    offline_replicas: Collection[int]

class DescribeTopicPartitionsResponseTopicFields(TypedDict):
    error_code: int
    name: str | None
    topic_id: UUID | None
    is_internal: NotRequired[bool]
    partitions: Collection[DescribeTopicPartitionsResponseTopicPartitionFields]
    topic_authorized_operations: NotRequired[int]

class DescribeTopicPartitionsResponseNextCursorFields(TypedDict):
    topic_name: str
    partition_index: int

class DescribeTopicPartitionsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    topics: Collection[DescribeTopicPartitionsResponseTopicFields]
    next_cursor: NotRequired[DescribeTopicPartitionsResponseNextCursorFields | None]

DESCRIBE_TOPIC_PARTITIONS: Final[
    Api[
        DescribeTopicPartitionsRequest,
        DescribeTopicPartitionsResponse,
        DescribeTopicPartitionsRequestFields,
        DescribeTopicPartitionsResponseFields,
    ]
]
