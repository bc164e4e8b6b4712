"""Types of the messages of `topics.py`. Written by tests/wire/messages/message_types.py."""

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
