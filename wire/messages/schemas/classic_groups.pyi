"""Types of the messages of `classic_groups.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection, Sequence
from typing import Final, NotRequired, TypedDict

from wire.messages.definition import Api, RecordType
from wire.messages.layout import Message

class GroupMetadataKey(TypedDict):
    group: str

class GroupMetadataValueMember(TypedDict):
    memberId: str
    groupInstanceId: NotRequired[str | None]
    clientId: str
    clientHost: str
    rebalanceTimeout: NotRequired[int]
    sessionTimeout: int
    subscription: bytes
    assignment: bytes

class GroupMetadataValue(TypedDict):
    protocolType: str
    generation: int
    protocol: str | None
    leader: str | None
    currentStateTimestamp: NotRequired[int]
    members: Sequence[GroupMetadataValueMember]

GROUP_METADATA: Final[RecordType[GroupMetadataKey, GroupMetadataValue]]

class ConsumerProtocolSubscriptionOwnedPartition:
    topic: str
    partitions: tuple[int, ...]

class ConsumerProtocolSubscription:
    topics: tuple[str, ...]
    user_data: bytes | None
    owned_partitions: tuple[ConsumerProtocolSubscriptionOwnedPartition, ...]
    generation_id: int
    rack_id: str | None

class ConsumerProtocolSubscriptionOwnedPartitionFields(TypedDict):
    topic: str
    partitions: Collection[int]

class ConsumerProtocolSubscriptionFields(TypedDict):
    topics: Collection[str]
    user_data: bytes | bytearray | memoryview | None
    owned_partitions: NotRequired[Collection[ConsumerProtocolSubscriptionOwnedPartitionFields]]
    generation_id: NotRequired[int]
    rack_id: NotRequired[str | None]

SUBSCRIPTION: Final[Message[ConsumerProtocolSubscription, ConsumerProtocolSubscriptionFields]]

class ConsumerProtocolAssignmentAssignedPartition:
    topic: str
    partitions: tuple[int, ...]

class ConsumerProtocolAssignment:
    assigned_partitions: tuple[ConsumerProtocolAssignmentAssignedPartition, ...]
    user_data: bytes | None

class ConsumerProtocolAssignmentAssignedPartitionFields(TypedDict):
    topic: str
    partitions: Collection[int]

class ConsumerProtocolAssignmentFields(TypedDict):
    assigned_partitions: Collection[ConsumerProtocolAssignmentAssignedPartitionFields]
    user_data: bytes | bytearray | memoryview | None

ASSIGNMENT: Final[Message[ConsumerProtocolAssignment, ConsumerProtocolAssignmentFields]]

class JoinGroupRequestProtocol:
    name: str
    metadata: bytes

class JoinGroupRequest:
    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: tuple[JoinGroupRequestProtocol, ...]
    reason: str | None

class JoinGroupRequestProtocolFields(TypedDict):
    name: str
    metadata: bytes | bytearray | memoryview

class JoinGroupRequestFields(TypedDict):
    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: NotRequired[int]
    member_id: str
    group_instance_id: NotRequired[str | None]
    protocol_type: str
    protocols: Collection[JoinGroupRequestProtocolFields]
    reason: NotRequired[str | None]

class JoinGroupResponseMember:
    member_id: str
    group_instance_id: str | None
    metadata: bytes

class JoinGroupResponse:
    throttle_time_ms: int
    error_code: int
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    leader: str
    skip_assignment: bool
    member_id: str
    members: tuple[JoinGroupResponseMember, ...]

class JoinGroupResponseMemberFields(TypedDict):
    member_id: str
    group_instance_id: NotRequired[str | None]
    metadata: bytes | bytearray | memoryview

class JoinGroupResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    generation_id: NotRequired[int]
    protocol_type: NotRequired[str | None]
    protocol_name: str | None
    leader: str
    skip_assignment: NotRequired[bool]
    member_id: str
    members: Collection[JoinGroupResponseMemberFields]

JOIN_GROUP: Final[Api[JoinGroupRequest, JoinGroupResponse, JoinGroupRequestFields, JoinGroupResponseFields]]

class SyncGroupRequestAssignment:
    member_id: str
    assignment: bytes

class SyncGroupRequest:
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: tuple[SyncGroupRequestAssignment, ...]

class SyncGroupRequestAssignmentFields(TypedDict):
    member_id: str
    assignment: bytes | bytearray | memoryview

class SyncGroupRequestFields(TypedDict):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: NotRequired[str | None]
    protocol_type: NotRequired[str | None]
    protocol_name: NotRequired[str | None]
    assignments: Collection[SyncGroupRequestAssignmentFields]

class SyncGroupResponse:
    throttle_time_ms: int
    error_code: int
    protocol_type: str | None
    protocol_name: str | None
    assignment: bytes

class SyncGroupResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    protocol_type: NotRequired[str | None]
    protocol_name: NotRequired[str | None]
    assignment: bytes | bytearray | memoryview

SYNC_GROUP: Final[Api[SyncGroupRequest, SyncGroupResponse, SyncGroupRequestFields, SyncGroupResponseFields]]

class HeartbeatRequest:
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None

class HeartbeatRequestFields(TypedDict):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: NotRequired[str | None]

class HeartbeatResponse:
    throttle_time_ms: int
    error_code: int

class HeartbeatResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int

HEARTBEAT: Final[Api[HeartbeatRequest, HeartbeatResponse, HeartbeatRequestFields, HeartbeatResponseFields]]

class LeaveGroupRequestMember:
    member_id: str
    group_instance_id: str | None
    reason: str | None

class LeaveGroupRequest:
    group_id: str
    member_id: str
    members: tuple[LeaveGroupRequestMember, ...]

class LeaveGroupRequestMemberFields(TypedDict):
    member_id: str
    group_instance_id: NotRequired[str | None]
    reason: NotRequired[str | None]

class LeaveGroupRequestFields(TypedDict):
    group_id: str
    member_id: NotRequired[str]
    members: NotRequired[Collection[LeaveGroupRequestMemberFields]]

class LeaveGroupResponseMember:
    member_id: str
    group_instance_id: str | None
    error_code: int

class LeaveGroupResponse:
    throttle_time_ms: int
    error_code: int
    members: tuple[LeaveGroupResponseMember, ...]

class LeaveGroupResponseMemberFields(TypedDict):
    member_id: str
    group_instance_id: str | None
    error_code: int

class LeaveGroupResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    members: NotRequired[Collection[LeaveGroupResponseMemberFields]]

LEAVE_GROUP: Final[
    Api[LeaveGroupRequest, LeaveGroupResponse, LeaveGroupRequestFields, LeaveGroupResponseFields]
]

class DescribeGroupsRequest:
    groups: tuple[str, ...]
    include_authorized_operations: bool

class DescribeGroupsRequestFields(TypedDict):
    groups: Collection[str]
    include_authorized_operations: NotRequired[bool]

class DescribeGroupsResponseGroupMember:
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes

class DescribeGroupsResponseGroup:
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: tuple[DescribeGroupsResponseGroupMember, ...]
    authorized_operations: int

class DescribeGroupsResponse:
    throttle_time_ms: int
    groups: tuple[DescribeGroupsResponseGroup, ...]

class DescribeGroupsResponseGroupMemberFields(TypedDict):
    member_id: str
    group_instance_id: NotRequired[str | None]
    client_id: str
    client_host: str
    member_metadata: bytes | bytearray | memoryview
    member_assignment: bytes | bytearray | memoryview

class DescribeGroupsResponseGroupFields(TypedDict):
    error_code: int
    error_message: NotRequired[str | None]
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: Collection[DescribeGroupsResponseGroupMemberFields]
    authorized_operations: NotRequired[int]

class DescribeGroupsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    groups: Collection[DescribeGroupsResponseGroupFields]

DESCRIBE_GROUPS: Final[
    Api[
        DescribeGroupsRequest,
        DescribeGroupsResponse,
        DescribeGroupsRequestFields,
        DescribeGroupsResponseFields,
    ]
]
