"""Types of the messages of `streams_assignor.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.layout import Message

class SubscriptionInfoPrevTask:
    topic_group_id: int
    partition: int

class SubscriptionInfoTaskOffsetSumPartitionToOffsetSum:
    partition: int
    offset_sum: int

class SubscriptionInfoTaskOffsetSum:
    topic_group_id: int
    partition: int
    offset_sum: int
    named_topology: str | None
    partition_to_offset_sum: tuple[SubscriptionInfoTaskOffsetSumPartitionToOffsetSum, ...]

class SubscriptionInfoClientTag:
    key: bytes
    value: bytes

class SubscriptionInfo:
    version: int
    latest_supported_version: int
    process_id: UUID | None
    prev_tasks: tuple[SubscriptionInfoPrevTask, ...]
    standby_tasks: tuple[SubscriptionInfoPrevTask, ...]
    user_end_point: bytes
    task_offset_sums: tuple[SubscriptionInfoTaskOffsetSum, ...]
    unique_field: int
    error_code: int
    client_tags: tuple[SubscriptionInfoClientTag, ...]

class SubscriptionInfoPrevTaskFields(TypedDict):
    topic_group_id: int
    partition: int

class SubscriptionInfoTaskOffsetSumPartitionToOffsetSumFields(TypedDict):
    partition: int
    offset_sum: int

class SubscriptionInfoTaskOffsetSumFields(TypedDict):
    topic_group_id: int
    partition: NotRequired[int]
    offset_sum: NotRequired[int]
    named_topology: NotRequired[str | None]
    partition_to_offset_sum: NotRequired[Collection[SubscriptionInfoTaskOffsetSumPartitionToOffsetSumFields]]

class SubscriptionInfoClientTagFields(TypedDict):
    key: bytes | bytearray | memoryview
    value: bytes | bytearray | memoryview

class SubscriptionInfoFields(TypedDict):
    version: int
    latest_supported_version: NotRequired[int]
    process_id: UUID | None
    prev_tasks: NotRequired[Collection[SubscriptionInfoPrevTaskFields]]
    standby_tasks: NotRequired[Collection[SubscriptionInfoPrevTaskFields]]
    user_end_point: NotRequired[bytes | bytearray | memoryview]
    task_offset_sums: NotRequired[Collection[SubscriptionInfoTaskOffsetSumFields]]
    unique_field: NotRequired[int]
    error_code: NotRequired[int]
    client_tags: NotRequired[Collection[SubscriptionInfoClientTagFields]]

SUBSCRIPTION_INFO: Final[Message[SubscriptionInfo, SubscriptionInfoFields]]

class AssignmentInfoActiveTask:
    topic_group_id: int
    partition: int
    named_topology: tuple[int, ...]

class AssignmentInfoStandbyTaskPartition:
    topic: str
    partition: int

class AssignmentInfoStandbyTask:
    topic_group_id: int
    partition: int
    named_topology: tuple[int, ...]
    partitions: tuple[AssignmentInfoStandbyTaskPartition, ...]

class AssignmentInfoPartitionsByHostPartition:
    topic: str
    partition: int

class AssignmentInfoPartitionsByHost:
    host: str
    port: int
    partitions: tuple[AssignmentInfoPartitionsByHostPartition, ...]

class AssignmentInfoTopic:
    index: int
    topic: str

class AssignmentInfoIndexesByHostPartition:
    index: int
    partition: int

class AssignmentInfoIndexesByHost:
    host: str
    port: int
    partitions: tuple[AssignmentInfoIndexesByHostPartition, ...]

class AssignmentInfo:
    version: int
    commonly_supported_version: int
    active_tasks: tuple[AssignmentInfoActiveTask, ...]
    standby_tasks: tuple[AssignmentInfoStandbyTask, ...]
    partitions_by_host: tuple[AssignmentInfoPartitionsByHost, ...]
    topics: tuple[AssignmentInfoTopic, ...]
    indexes_by_host: tuple[AssignmentInfoIndexesByHost, ...]
    standby_indexes_by_host: tuple[AssignmentInfoIndexesByHost, ...]
    error_code: int
    next_rebalance_ms: int

class AssignmentInfoActiveTaskFields(TypedDict):
    topic_group_id: int
    partition: int
    named_topology: NotRequired[Collection[int]]

class AssignmentInfoStandbyTaskPartitionFields(TypedDict):
    topic: str
    partition: int

class AssignmentInfoStandbyTaskFields(TypedDict):
    topic_group_id: int
    partition: int
    named_topology: NotRequired[Collection[int]]
    partitions: Collection[AssignmentInfoStandbyTaskPartitionFields]

class AssignmentInfoPartitionsByHostPartitionFields(TypedDict):
    topic: str
    partition: int

class AssignmentInfoPartitionsByHostFields(TypedDict):
    host: str
    port: int
    partitions: Collection[AssignmentInfoPartitionsByHostPartitionFields]

class AssignmentInfoTopicFields(TypedDict):
    index: int
    topic: str

class AssignmentInfoIndexesByHostPartitionFields(TypedDict):
    index: int
    partition: int

class AssignmentInfoIndexesByHostFields(TypedDict):
    host: str
    port: int
    partitions: Collection[AssignmentInfoIndexesByHostPartitionFields]

class AssignmentInfoFields(TypedDict):
    version: int
    commonly_supported_version: NotRequired[int]
    active_tasks: Collection[AssignmentInfoActiveTaskFields]
    standby_tasks: Collection[AssignmentInfoStandbyTaskFields]
    partitions_by_host: NotRequired[Collection[AssignmentInfoPartitionsByHostFields]]
    topics: NotRequired[Collection[AssignmentInfoTopicFields]]
    indexes_by_host: NotRequired[Collection[AssignmentInfoIndexesByHostFields]]
    standby_indexes_by_host: NotRequired[Collection[AssignmentInfoIndexesByHostFields]]
    error_code: NotRequired[int]
    next_rebalance_ms: NotRequired[int]

ASSIGNMENT_INFO: Final[Message[AssignmentInfo, AssignmentInfoFields]]
