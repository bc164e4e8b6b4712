"""Types of the messages of `consumer_groups.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection, Sequence
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api, RecordType

class ConsumerGroupMetadataKey(TypedDict):
    groupId: str

class ConsumerGroupMetadataValue(TypedDict):
    epoch: int
    metadataHash: NotRequired[int]

CONSUMER_GROUP_METADATA: Final[RecordType[ConsumerGroupMetadataKey, ConsumerGroupMetadataValue]]

class ConsumerGroupPartitionMetadataKey(TypedDict):
    groupId: str

class ConsumerGroupPartitionMetadataValueTopicPartitionMetadata(TypedDict):
    partition: int
    racks: Sequence[str]

class ConsumerGroupPartitionMetadataValueTopic(TypedDict):
    topicId: UUID
    topicName: str
    numPartitions: int
    partitionMetadata: Sequence[ConsumerGroupPartitionMetadataValueTopicPartitionMetadata]

class ConsumerGroupPartitionMetadataValue(TypedDict):
    topics: Sequence[ConsumerGroupPartitionMetadataValueTopic]

CONSUMER_GROUP_PARTITION_METADATA: Final[
    RecordType[ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue]
]

class ConsumerGroupMemberMetadataKey(TypedDict):
    groupId: str
    memberId: str

class ConsumerGroupMemberMetadataValueClassicMemberMetadataSupportedProtocol(TypedDict):
    name: str
    metadata: bytes

class ConsumerGroupMemberMetadataValueClassicMemberMetadata(TypedDict):
    sessionTimeoutMs: int
    supportedProtocols: Sequence[ConsumerGroupMemberMetadataValueClassicMemberMetadataSupportedProtocol]

class ConsumerGroupMemberMetadataValue(TypedDict):
    instanceId: str | None
    rackId: str | None
    clientId: str
    clientHost: str
    subscribedTopicNames: Sequence[str]
    subscribedTopicRegex: str | None
    rebalanceTimeoutMs: int
    serverAssignor: str | None
    classicMemberMetadata: NotRequired[ConsumerGroupMemberMetadataValueClassicMemberMetadata | None]

CONSUMER_GROUP_MEMBER_METADATA: Final[
    RecordType[ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue]
]

class ConsumerGroupTargetAssignmentMetadataKey(TypedDict):
    groupId: str

class ConsumerGroupTargetAssignmentMetadataValue(TypedDict):
    assignmentEpoch: int
    assignmentTimestamp: NotRequired[int]

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA: Final[
    RecordType[ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue]
]

class ConsumerGroupTargetAssignmentMemberKey(TypedDict):
    groupId: str
    memberId: str

class ConsumerGroupTargetAssignmentMemberValueTopicPartition(TypedDict):
    topicId: UUID
    partitions: Sequence[int]

class ConsumerGroupTargetAssignmentMemberValue(TypedDict):
    topicPartitions: Sequence[ConsumerGroupTargetAssignmentMemberValueTopicPartition]

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER: Final[
    RecordType[ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue]
]

class ConsumerGroupCurrentMemberAssignmentKey(TypedDict):
    groupId: str
    memberId: str

class ConsumerGroupCurrentMemberAssignmentValueAssignedPartition(TypedDict):
    topicId: UUID
    partitions: Sequence[int]
    assignmentEpochs: NotRequired[Sequence[int] | None]

class ConsumerGroupCurrentMemberAssignmentValue(TypedDict):
    memberEpoch: int
    previousMemberEpoch: int
    state: int
    assignedPartitions: Sequence[ConsumerGroupCurrentMemberAssignmentValueAssignedPartition]
    partitionsPendingRevocation: Sequence[ConsumerGroupCurrentMemberAssignmentValueAssignedPartition]

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final[
    RecordType[ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue]
]

class ConsumerGroupRegularExpressionKey(TypedDict):
    groupId: str
    regularExpression: str

class ConsumerGroupRegularExpressionValue(TypedDict):
    topics: Sequence[str]
    version: int
    timestamp: int

CONSUMER_GROUP_REGULAR_EXPRESSION: Final[
    RecordType[ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue]
]

class ConsumerGroupHeartbeatRequestTopicPartition:
    topic_id: UUID | None
    partitions: tuple[int, ...]

class ConsumerGroupHeartbeatRequestClientAssignor:
    name: str
    minimum_version: int
    maximum_version: int
    reason: int
    metadata_version: int
    metadata_bytes: bytes

class ConsumerGroupHeartbeatRequest:
    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    subscribed_topic_names: tuple[str, ...] | None
    subscribed_topic_regex: str | None
    server_assignor: str | None
    topic_partitions: tuple[ConsumerGroupHeartbeatRequestTopicPartition, ...] | None
    client_assignors: tuple[ConsumerGroupHeartbeatRequestClientAssignor, ...] | None

class ConsumerGroupHeartbeatRequestTopicPartitionFields(TypedDict):
    topic_id: UUID | None
    partitions: Collection[int]

class ConsumerGroupHeartbeatRequestClientAssignorFields(TypedDict):
    name: str
    minimum_version: int
    maximum_version: int
    reason: int
    metadata_version: int
    metadata_bytes: bytes | bytearray | memoryview

class ConsumerGroupHeartbeatRequestFields(TypedDict):
    group_id: str
    member_id: str
    member_epoch: int
    instance_id: NotRequired[str | None]
    rack_id: NotRequired[str | None]
    rebalance_timeout_ms: NotRequired[int]
    subscribed_topic_names: NotRequired[Collection[str] | None]
    subscribed_topic_regex: NotRequired[str | None]
    server_assignor: NotRequired[str | None]
    topic_partitions: Collection[ConsumerGroupHeartbeatRequestTopicPartitionFields] | None
    client_assignors: NotRequired[Collection[ConsumerGroupHeartbeatRequestClientAssignorFields] | None]

class ConsumerGroupHeartbeatResponseAssignmentTopicPartition:
    topic_id: UUID | None
    partitions: tuple[int, ...]

class ConsumerGroupHeartbeatResponseAssignment:
    topic_partitions: tuple[ConsumerGroupHeartbeatResponseAssignmentTopicPartition, ...]
    error: int
    metadata_version: int
    metadata_bytes: bytes | None

class ConsumerGroupHeartbeatResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    should_compute_assignment: bool
    assignment: ConsumerGroupHeartbeatResponseAssignment | None

class ConsumerGroupHeartbeatResponseAssignmentTopicPartitionFields(TypedDict):
    topic_id: UUID | None
    partitions: Collection[int]

class ConsumerGroupHeartbeatResponseAssignmentFields(TypedDict):
    topic_partitions: Collection[ConsumerGroupHeartbeatResponseAssignmentTopicPartitionFields]
    error: NotRequired[int]
    metadata_version: NotRequired[int]
    metadata_bytes: NotRequired[bytes | bytearray | memoryview | None]

class ConsumerGroupHeartbeatResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]
    member_id: NotRequired[str | None]
    member_epoch: int
    heartbeat_interval_ms: int
    should_compute_assignment: NotRequired[bool]
    assignment: NotRequired[ConsumerGroupHeartbeatResponseAssignmentFields | None]

CONSUMER_GROUP_HEARTBEAT: Final[
    Api[
        ConsumerGroupHeartbeatRequest,
        ConsumerGroupHeartbeatResponse,
        ConsumerGroupHeartbeatRequestFields,
        ConsumerGroupHeartbeatResponseFields,
    ]
]

class ConsumerGroupDescribeRequest:
    group_ids: tuple[str, ...]
    include_authorized_operations: bool

class ConsumerGroupDescribeRequestFields(TypedDict):
    group_ids: Collection[str]
    include_authorized_operations: bool

class ConsumerGroupDescribeResponseGroupMemberAssignmentTopicPartition:
    topic_id: UUID | None
    topic_name: str
    partitions: tuple[int, ...]

class ConsumerGroupDescribeResponseGroupMemberAssignment:
    topic_partitions: tuple[ConsumerGroupDescribeResponseGroupMemberAssignmentTopicPartition, ...]
    error: int
    metadata_version: int
    metadata_bytes: bytes | None

class ConsumerGroupDescribeResponseGroupMember:
    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    assignment: ConsumerGroupDescribeResponseGroupMemberAssignment
    target_assignment: ConsumerGroupDescribeResponseGroupMemberAssignment
    member_type: int

class ConsumerGroupDescribeResponseGroup:
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: tuple[ConsumerGroupDescribeResponseGroupMember, ...]
    authorized_operations: int

class ConsumerGroupDescribeResponse:
    throttle_time_ms: int
    groups: tuple[ConsumerGroupDescribeResponseGroup, ...]

class ConsumerGroupDescribeResponseGroupMemberAssignmentTopicPartitionFields(TypedDict):
    topic_id: UUID | None
    topic_name: str
    partitions: Collection[int]

class ConsumerGroupDescribeResponseGroupMemberAssignmentFields(TypedDict):
    topic_partitions: Collection[ConsumerGroupDescribeResponseGroupMemberAssignmentTopicPartitionFields]
    error: NotRequired[int]
    metadata_version: NotRequired[int]
    metadata_bytes: NotRequired[bytes | bytearray | memoryview | None]

class ConsumerGroupDescribeResponseGroupMemberFields(TypedDict):
    member_id: str
    instance_id: NotRequired[str | None]
    rack_id: NotRequired[str | None]
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: Collection[str]
    subscribed_topic_regex: NotRequired[str | None]
    assignment: ConsumerGroupDescribeResponseGroupMemberAssignmentFields
    target_assignment: ConsumerGroupDescribeResponseGroupMemberAssignmentFields
    member_type: NotRequired[int]

class ConsumerGroupDescribeResponseGroupFields(TypedDict):
    error_code: int
    error_message: NotRequired[str | None]
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: Collection[ConsumerGroupDescribeResponseGroupMemberFields]
    authorized_operations: NotRequired[int]

class ConsumerGroupDescribeResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    groups: Collection[ConsumerGroupDescribeResponseGroupFields]

CONSUMER_GROUP_DESCRIBE: Final[
    Api[
        ConsumerGroupDescribeRequest,
        ConsumerGroupDescribeResponse,
        ConsumerGroupDescribeRequestFields,
        ConsumerGroupDescribeResponseFields,
    ]
]

class ConsumerGroupPrepareAssignmentRequest:
    group_id: str
    member_id: str
    member_epoch: int

class ConsumerGroupPrepareAssignmentRequestFields(TypedDict):
    group_id: str
    member_id: str
    member_epoch: int

class ConsumerGroupPrepareAssignmentResponseMemberAssignor:
    reason: int
    metadata_version: int
    metadata_bytes: bytes

class ConsumerGroupPrepareAssignmentResponseMemberTopicPartition:
    topic_id: UUID | None
    partitions: tuple[int, ...]

class ConsumerGroupPrepareAssignmentResponseMember:
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    subscribed_topic_ids: tuple[UUID, ...]
    assignor: ConsumerGroupPrepareAssignmentResponseMemberAssignor
    topic_partitions: tuple[ConsumerGroupPrepareAssignmentResponseMemberTopicPartition, ...]

class ConsumerGroupPrepareAssignmentResponseTopic:
    topic_id: UUID | None
    topic_name: str
    num_partitions: int

class ConsumerGroupPrepareAssignmentResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    group_epoch: int
    assignor_name: str
    members: tuple[ConsumerGroupPrepareAssignmentResponseMember, ...]
    topics: tuple[ConsumerGroupPrepareAssignmentResponseTopic, ...]

class ConsumerGroupPrepareAssignmentResponseMemberAssignorFields(TypedDict):
    reason: int
    metadata_version: int
    metadata_bytes: bytes | bytearray | memoryview

class ConsumerGroupPrepareAssignmentResponseMemberTopicPartitionFields(TypedDict):
    topic_id: UUID | None
    partitions: Collection[int]

class ConsumerGroupPrepareAssignmentResponseMemberFields(TypedDict):
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    subscribed_topic_ids: Collection[UUID]
    assignor: ConsumerGroupPrepareAssignmentResponseMemberAssignorFields
    topic_partitions: Collection[ConsumerGroupPrepareAssignmentResponseMemberTopicPartitionFields]

class ConsumerGroupPrepareAssignmentResponseTopicFields(TypedDict):
    topic_id: UUID | None
    topic_name: str
    num_partitions: int

class ConsumerGroupPrepareAssignmentResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]
    group_epoch: int
    assignor_name: str
    members: Collection[ConsumerGroupPrepareAssignmentResponseMemberFields]
    topics: Collection[ConsumerGroupPrepareAssignmentResponseTopicFields]

CONSUMER_GROUP_PREPARE_ASSIGNMENT: Final[
    Api[
        ConsumerGroupPrepareAssignmentRequest,
        ConsumerGroupPrepareAssignmentResponse,
        ConsumerGroupPrepareAssignmentRequestFields,
        ConsumerGroupPrepareAssignmentResponseFields,
    ]
]

class ConsumerGroupInstallAssignmentRequestMemberPartition:
    topic_id: UUID | None
    partitions: tuple[int, ...]

class ConsumerGroupInstallAssignmentRequestMember:
    member_id: str
    partitions: tuple[ConsumerGroupInstallAssignmentRequestMemberPartition, ...]
    metadata_version: int
    metadata_bytes: bytes | None

class ConsumerGroupInstallAssignmentRequest:
    group_id: str
    member_id: str
    member_epoch: int
    group_epoch: int
    error: int
    members: tuple[ConsumerGroupInstallAssignmentRequestMember, ...]

class ConsumerGroupInstallAssignmentRequestMemberPartitionFields(TypedDict):
    topic_id: UUID | None
    partitions: Collection[int]

class ConsumerGroupInstallAssignmentRequestMemberFields(TypedDict):
    member_id: str
    partitions: Collection[ConsumerGroupInstallAssignmentRequestMemberPartitionFields]
    metadata_version: int
    metadata_bytes: bytes | bytearray | memoryview | None

class ConsumerGroupInstallAssignmentRequestFields(TypedDict):
    group_id: str
    member_id: str
    member_epoch: int
    group_epoch: int
    error: int
    members: Collection[ConsumerGroupInstallAssignmentRequestMemberFields]

class ConsumerGroupInstallAssignmentResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None

class ConsumerGroupInstallAssignmentResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]

CONSUMER_GROUP_INSTALL_ASSIGNMENT: Final[
    Api[
        ConsumerGroupInstallAssignmentRequest,
        ConsumerGroupInstallAssignmentResponse,
        ConsumerGroupInstallAssignmentRequestFields,
        ConsumerGroupInstallAssignmentResponseFields,
    ]
]
