"""Types of the messages of `share_groups.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection, Sequence
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api, RecordType

class ShareGroupMemberMetadataKey(TypedDict):
    groupId: str
    memberId: str

class ShareGroupMemberMetadataValue(TypedDict):
    rackId: str | None
    clientId: str
    clientHost: str
    subscribedTopicNames: Sequence[str]

SHARE_GROUP_MEMBER_METADATA: Final[RecordType[ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue]]

class ShareGroupMetadataKey(TypedDict):
    groupId: str

class ShareGroupMetadataValue(TypedDict):
    epoch: int
    metadataHash: int

SHARE_GROUP_METADATA: Final[RecordType[ShareGroupMetadataKey, ShareGroupMetadataValue]]

class ShareGroupTargetAssignmentMetadataKey(TypedDict):
    groupId: str

class ShareGroupTargetAssignmentMetadataValue(TypedDict):
    assignmentEpoch: int
    assignmentTimestamp: NotRequired[int]

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA: Final[
    RecordType[ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue]
]

class ShareGroupTargetAssignmentMemberKey(TypedDict):
    groupId: str
    memberId: str

class ShareGroupTargetAssignmentMemberValueTopicPartition(TypedDict):
    topicId: UUID
    partitions: Sequence[int]

class ShareGroupTargetAssignmentMemberValue(TypedDict):
    topicPartitions: Sequence[ShareGroupTargetAssignmentMemberValueTopicPartition]

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER: Final[
    RecordType[ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue]
]

class ShareGroupCurrentMemberAssignmentKey(TypedDict):
    groupId: str
    memberId: str

class ShareGroupCurrentMemberAssignmentValueAssignedPartition(TypedDict):
    topicId: UUID
    partitions: Sequence[int]

class ShareGroupCurrentMemberAssignmentValue(TypedDict):
    memberEpoch: int
    previousMemberEpoch: int
    state: int
    assignedPartitions: Sequence[ShareGroupCurrentMemberAssignmentValueAssignedPartition]

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final[
    RecordType[ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue]
]

class ShareGroupStatePartitionMetadataKey(TypedDict):
    groupId: str

class ShareGroupStatePartitionMetadataValueInitializingTopic(TypedDict):
    topicId: UUID
    topicName: str
    partitions: Sequence[int]

class ShareGroupStatePartitionMetadataValueDeletingTopic(TypedDict):
    topicId: UUID
    topicName: str

class ShareGroupStatePartitionMetadataValue(TypedDict):
    initializingTopics: Sequence[ShareGroupStatePartitionMetadataValueInitializingTopic]
    initializedTopics: Sequence[ShareGroupStatePartitionMetadataValueInitializingTopic]
    deletingTopics: Sequence[ShareGroupStatePartitionMetadataValueDeletingTopic]

SHARE_GROUP_STATE_PARTITION_METADATA: Final[
    RecordType[ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue]
]

class ShareGroupDescribeRequest:
    group_ids: tuple[str, ...]
    include_authorized_operations: bool

class ShareGroupDescribeRequestFields(TypedDict):
    group_ids: Collection[str]
    include_authorized_operations: bool

class ShareGroupDescribeResponseGroupMemberAssignmentTopicPartition:
    topic_id: UUID | None
    topic_name: str
    partitions: tuple[int, ...]

class ShareGroupDescribeResponseGroupMemberAssignment:
    topic_partitions: tuple[ShareGroupDescribeResponseGroupMemberAssignmentTopicPartition, ...]

class ShareGroupDescribeResponseGroupMember:
    member_id: str
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    assignment: ShareGroupDescribeResponseGroupMemberAssignment

class ShareGroupDescribeResponseGroup:
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: tuple[ShareGroupDescribeResponseGroupMember, ...]
    authorized_operations: int

class ShareGroupDescribeResponse:
    throttle_time_ms: int
    groups: tuple[ShareGroupDescribeResponseGroup, ...]

class ShareGroupDescribeResponseGroupMemberAssignmentTopicPartitionFields(TypedDict):
    topic_id: UUID | None
    topic_name: str
    partitions: Collection[int]

class ShareGroupDescribeResponseGroupMemberAssignmentFields(TypedDict):
    topic_partitions: Collection[ShareGroupDescribeResponseGroupMemberAssignmentTopicPartitionFields]

class ShareGroupDescribeResponseGroupMemberFields(TypedDict):
    member_id: str
    rack_id: NotRequired[str | None]
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: Collection[str]
    assignment: ShareGroupDescribeResponseGroupMemberAssignmentFields

class ShareGroupDescribeResponseGroupFields(TypedDict):
    error_code: int
    error_message: NotRequired[str | None]
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: Collection[ShareGroupDescribeResponseGroupMemberFields]
    authorized_operations: NotRequired[int]

class ShareGroupDescribeResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    groups: Collection[ShareGroupDescribeResponseGroupFields]

SHARE_GROUP_DESCRIBE: Final[
    Api[
        ShareGroupDescribeRequest,
        ShareGroupDescribeResponse,
        ShareGroupDescribeRequestFields,
        ShareGroupDescribeResponseFields,
    ]
]

class ShareGroupHeartbeatRequest:
    group_id: str
    member_id: str
    member_epoch: int
    rack_id: str | None
    subscribed_topic_names: tuple[str, ...] | None

class ShareGroupHeartbeatRequestFields(TypedDict):
    group_id: str
    member_id: str
    member_epoch: int
    rack_id: NotRequired[str | None]
    subscribed_topic_names: NotRequired[Collection[str] | None]

class ShareGroupHeartbeatResponseAssignmentTopicPartition:
    topic_id: UUID | None
    partitions: tuple[int, ...]

class ShareGroupHeartbeatResponseAssignment:
    topic_partitions: tuple[ShareGroupHeartbeatResponseAssignmentTopicPartition, ...]

class ShareGroupHeartbeatResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: ShareGroupHeartbeatResponseAssignment | None

class ShareGroupHeartbeatResponseAssignmentTopicPartitionFields(TypedDict):
    topic_id: UUID | None
    partitions: Collection[int]

class ShareGroupHeartbeatResponseAssignmentFields(TypedDict):
    topic_partitions: Collection[ShareGroupHeartbeatResponseAssignmentTopicPartitionFields]

class ShareGroupHeartbeatResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]
    member_id: NotRequired[str | None]
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: NotRequired[ShareGroupHeartbeatResponseAssignmentFields | None]

SHARE_GROUP_HEARTBEAT: Final[
    Api[
        ShareGroupHeartbeatRequest,
        ShareGroupHeartbeatResponse,
        ShareGroupHeartbeatRequestFields,
        ShareGroupHeartbeatResponseFields,
    ]
]

class DescribeShareGroupOffsetsRequestGroupTopic:
    topic_name: str
    partitions: tuple[int, ...]

class DescribeShareGroupOffsetsRequestGroup:
    group_id: str
    topics: tuple[DescribeShareGroupOffsetsRequestGroupTopic, ...] | None

class DescribeShareGroupOffsetsRequest:
    groups: tuple[DescribeShareGroupOffsetsRequestGroup, ...]

class DescribeShareGroupOffsetsRequestGroupTopicFields(TypedDict):
    topic_name: str
    partitions: Collection[int]

class DescribeShareGroupOffsetsRequestGroupFields(TypedDict):
    group_id: str
    topics: Collection[DescribeShareGroupOffsetsRequestGroupTopicFields] | None

class DescribeShareGroupOffsetsRequestFields(TypedDict):
    groups: Collection[DescribeShareGroupOffsetsRequestGroupFields]

class DescribeShareGroupOffsetsResponseGroupTopicPartition:
    partition_index: int
    start_offset: int
    leader_epoch: int
    lag: int
    error_code: int
    error_message: str | None

class DescribeShareGroupOffsetsResponseGroupTopic:
    topic_name: str
    topic_id: UUID | None
    partitions: tuple[DescribeShareGroupOffsetsResponseGroupTopicPartition, ...]

class DescribeShareGroupOffsetsResponseGroup:
    group_id: str
    topics: tuple[DescribeShareGroupOffsetsResponseGroupTopic, ...]
    error_code: int
    error_message: str | None

class DescribeShareGroupOffsetsResponse:
    throttle_time_ms: int
    groups: tuple[DescribeShareGroupOffsetsResponseGroup, ...]

class DescribeShareGroupOffsetsResponseGroupTopicPartitionFields(TypedDict):
    partition_index: int
    start_offset: int
    leader_epoch: int
    lag: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]

class DescribeShareGroupOffsetsResponseGroupTopicFields(TypedDict):
    topic_name: str
    topic_id: UUID | None
    partitions: Collection[DescribeShareGroupOffsetsResponseGroupTopicPartitionFields]

class DescribeShareGroupOffsetsResponseGroupFields(TypedDict):
    group_id: str
    topics: Collection[DescribeShareGroupOffsetsResponseGroupTopicFields]
    error_code: int
    error_message: NotRequired[str | None]

class DescribeShareGroupOffsetsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    groups: Collection[DescribeShareGroupOffsetsResponseGroupFields]

DESCRIBE_SHARE_GROUP_OFFSETS: Final[
    Api[
        DescribeShareGroupOffsetsRequest,
        DescribeShareGroupOffsetsResponse,
        DescribeShareGroupOffsetsRequestFields,
        DescribeShareGroupOffsetsResponseFields,
    ]
]

class AlterShareGroupOffsetsRequestTopicPartition:
    partition_index: int
    start_offset: int

class AlterShareGroupOffsetsRequestTopic:
    topic_name: str
    partitions: tuple[AlterShareGroupOffsetsRequestTopicPartition, ...]

class AlterShareGroupOffsetsRequest:
    group_id: str
    topics: tuple[AlterShareGroupOffsetsRequestTopic, ...]

class AlterShareGroupOffsetsRequestTopicPartitionFields(TypedDict):
    partition_index: int
    start_offset: int

class AlterShareGroupOffsetsRequestTopicFields(TypedDict):
    topic_name: str
    partitions: Collection[AlterShareGroupOffsetsRequestTopicPartitionFields]

class AlterShareGroupOffsetsRequestFields(TypedDict):
    group_id: str
    topics: Collection[AlterShareGroupOffsetsRequestTopicFields]

class AlterShareGroupOffsetsResponseResponsePartition:
    partition_index: int
    error_code: int
    error_message: str | None

class AlterShareGroupOffsetsResponseResponse:
    topic_name: str
    topic_id: UUID | None
    partitions: tuple[AlterShareGroupOffsetsResponseResponsePartition, ...]

class AlterShareGroupOffsetsResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    responses: tuple[AlterShareGroupOffsetsResponseResponse, ...]

class AlterShareGroupOffsetsResponseResponsePartitionFields(TypedDict):
    partition_index: int
    error_code: int
    error_message: NotRequired[str | None]

class AlterShareGroupOffsetsResponseResponseFields(TypedDict):
    topic_name: str
    topic_id: UUID | None
    partitions: Collection[AlterShareGroupOffsetsResponseResponsePartitionFields]

class AlterShareGroupOffsetsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]
    responses: Collection[AlterShareGroupOffsetsResponseResponseFields]

ALTER_SHARE_GROUP_OFFSETS: Final[
    Api[
        AlterShareGroupOffsetsRequest,
        AlterShareGroupOffsetsResponse,
        AlterShareGroupOffsetsRequestFields,
        AlterShareGroupOffsetsResponseFields,
    ]
]

class DeleteShareGroupOffsetsRequestTopic:
    topic_name: str

class DeleteShareGroupOffsetsRequest:
    group_id: str
    topics: tuple[DeleteShareGroupOffsetsRequestTopic, ...]

class DeleteShareGroupOffsetsRequestTopicFields(TypedDict):
    topic_name: str

class DeleteShareGroupOffsetsRequestFields(TypedDict):
    group_id: str
    topics: Collection[DeleteShareGroupOffsetsRequestTopicFields]

class DeleteShareGroupOffsetsResponseResponse:
    topic_name: str
    topic_id: UUID | None
    error_code: int
    error_message: str | None

class DeleteShareGroupOffsetsResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    responses: tuple[DeleteShareGroupOffsetsResponseResponse, ...]

class DeleteShareGroupOffsetsResponseResponseFields(TypedDict):
    topic_name: str
    topic_id: UUID | None
    error_code: int
    error_message: NotRequired[str | None]

class DeleteShareGroupOffsetsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]
    responses: Collection[DeleteShareGroupOffsetsResponseResponseFields]

DELETE_SHARE_GROUP_OFFSETS: Final[
    Api[
        DeleteShareGroupOffsetsRequest,
        DeleteShareGroupOffsetsResponse,
        DeleteShareGroupOffsetsRequestFields,
        DeleteShareGroupOffsetsResponseFields,
    ]
]
