"""Types of the messages of `client_assignment.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api

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
