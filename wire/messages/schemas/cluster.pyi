"""Types of the messages of `cluster.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api

class ApiVersionsRequest:
    client_software_name: str
    client_software_version: str
    cluster_id: str | None
    node_id: int

class ApiVersionsRequestFields(TypedDict):
    client_software_name: NotRequired[str]
    client_software_version: NotRequired[str]
    cluster_id: NotRequired[str | None]
    node_id: NotRequired[int]

class ApiVersionsResponseApiKey:
    api_key: int
    min_version: int
    max_version: int

class ApiVersionsResponseSupportedFeature:
    name: str
    min_version: int
    max_version: int

class ApiVersionsResponseFinalizedFeature:
    name: str
    max_version_level: int
    min_version_level: int

class ApiVersionsResponse:
    error_code: int
    api_keys: tuple[ApiVersionsResponseApiKey, ...]
    throttle_time_ms: int
    supported_features: tuple[ApiVersionsResponseSupportedFeature, ...]
    finalized_features_epoch: int
    finalized_features: tuple[ApiVersionsResponseFinalizedFeature, ...]
    zk_migration_ready: bool

class ApiVersionsResponseApiKeyFields(TypedDict):
    api_key: int
    min_version: int
    max_version: int

class ApiVersionsResponseSupportedFeatureFields(TypedDict):
    name: str
    min_version: int
    max_version: int

class ApiVersionsResponseFinalizedFeatureFields(TypedDict):
    name: str
    max_version_level: int
    min_version_level: int

class ApiVersionsResponseFields(TypedDict):
    error_code: int
    api_keys: Collection[ApiVersionsResponseApiKeyFields]
    throttle_time_ms: NotRequired[int]
    supported_features: NotRequired[Collection[ApiVersionsResponseSupportedFeatureFields]]
    finalized_features_epoch: NotRequired[int]
    finalized_features: NotRequired[Collection[ApiVersionsResponseFinalizedFeatureFields]]
    zk_migration_ready: NotRequired[bool]

API_VERSIONS: Final[
    Api[ApiVersionsRequest, ApiVersionsResponse, ApiVersionsRequestFields, ApiVersionsResponseFields]
]

class MetadataRequestTopic:
    topic_id: UUID | None
    name: str | None

class MetadataRequest:
    topics: tuple[MetadataRequestTopic, ...] | None
    allow_auto_topic_creation: bool
    include_cluster_authorized_operations: bool
    include_topic_authorized_operations: bool

class MetadataRequestTopicFields(TypedDict):
    topic_id: NotRequired[UUID | None]
    name: str | None

class MetadataRequestFields(TypedDict):
    topics: Collection[MetadataRequestTopicFields] | None
    allow_auto_topic_creation: NotRequired[bool]
    include_cluster_authorized_operations: NotRequired[bool]
    include_topic_authorized_operations: NotRequired[bool]

class MetadataResponseBroker:
    node_id: int
    host: str
    port: int
    rack: str | None

class MetadataResponseTopicPartition:
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: tuple[int, ...]
    isr_nodes: tuple[int, ...]
    offline_replicas: tuple[int, ...]

class MetadataResponseTopic:
    error_code: int
    name: str | None
    topic_id: UUID | None
    is_internal: bool
    partitions: tuple[MetadataResponseTopicPartition, ...]
    topic_authorized_operations: int

class MetadataResponse:
    throttle_time_ms: int
    brokers: tuple[MetadataResponseBroker, ...]
    cluster_id: str | None
    controller_id: int
    topics: tuple[MetadataResponseTopic, ...]
    cluster_authorized_operations: int
    error_code: int

class MetadataResponseBrokerFields(TypedDict):
    node_id: int
    host: str
    port: int
    rack: NotRequired[str | None]

class MetadataResponseTopicPartitionFields(TypedDict):
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: NotRequired[int]
    replica_nodes: Collection[int]
    isr_nodes: Collection[int]
    offline_replicas: NotRequired[Collection[int]]

class MetadataResponseTopicFields(TypedDict):
    error_code: int
    name: str | None
    topic_id: NotRequired[UUID | None]
    is_internal: NotRequired[bool]
    partitions: Collection[MetadataResponseTopicPartitionFields]
    topic_authorized_operations: NotRequired[int]

class MetadataResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    brokers: Collection[MetadataResponseBrokerFields]
    cluster_id: NotRequired[str | None]
    controller_id: NotRequired[int]
    topics: Collection[MetadataResponseTopicFields]
    cluster_authorized_operations: NotRequired[int]
    error_code: NotRequired[int]

METADATA: Final[Api[MetadataRequest, MetadataResponse, MetadataRequestFields, MetadataResponseFields]]

class DescribeClusterRequest:
    include_cluster_authorized_operations: bool
    endpoint_type: int
    include_fenced_brokers: bool

class DescribeClusterRequestFields(TypedDict):
    include_cluster_authorized_operations: bool
    endpoint_type: NotRequired[int]
    include_fenced_brokers: NotRequired[bool]

class DescribeClusterResponseBroker:
    broker_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool

class DescribeClusterResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    endpoint_type: int
    cluster_id: str
    controller_id: int
    brokers: tuple[DescribeClusterResponseBroker, ...]
    cluster_authorized_operations: int

class DescribeClusterResponseBrokerFields(TypedDict):
    broker_id: int
    host: str
    port: int
    rack: NotRequired[str | None]
    is_fenced: NotRequired[bool]

class DescribeClusterResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]
    endpoint_type: NotRequired[int]
    cluster_id: str
    controller_id: NotRequired[int]
    brokers: Collection[DescribeClusterResponseBrokerFields]
    cluster_authorized_operations: NotRequired[int]

DESCRIBE_CLUSTER: Final[
    Api[
        DescribeClusterRequest,
        DescribeClusterResponse,
        DescribeClusterRequestFields,
        DescribeClusterResponseFields,
    ]
]

class DescribeConfigsRequestResource:
    resource_type: int
    resource_name: str
    configuration_keys: tuple[str, ...] | None

class DescribeConfigsRequest:
    resources: tuple[DescribeConfigsRequestResource, ...]
    include_synonyms: bool
    include_documentation: bool

class DescribeConfigsRequestResourceFields(TypedDict):
    resource_type: int
    resource_name: str
    configuration_keys: Collection[str] | None

class DescribeConfigsRequestFields(TypedDict):
    resources: Collection[DescribeConfigsRequestResourceFields]
    include_synonyms: NotRequired[bool]
    include_documentation: NotRequired[bool]

class DescribeConfigsResponseResultConfigSynonym:
    name: str
    value: str | None
    source: int

class DescribeConfigsResponseResultConfig:
    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool
    synonyms: tuple[DescribeConfigsResponseResultConfigSynonym, ...]
    config_type: int
    documentation: str | None

class DescribeConfigsResponseResult:
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: tuple[DescribeConfigsResponseResultConfig, ...]

class DescribeConfigsResponse:
    throttle_time_ms: int
    results: tuple[DescribeConfigsResponseResult, ...]

class DescribeConfigsResponseResultConfigSynonymFields(TypedDict):
    name: str
    value: str | None
    source: int

class DescribeConfigsResponseResultConfigFields(TypedDict):
    name: str
    value: str | None
    read_only: bool
    config_source: NotRequired[int]
    is_sensitive: bool
    synonyms: Collection[DescribeConfigsResponseResultConfigSynonymFields]
    config_type: NotRequired[int]
    documentation: NotRequired[str | None]

class DescribeConfigsResponseResultFields(TypedDict):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: Collection[DescribeConfigsResponseResultConfigFields]

class DescribeConfigsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    results: Collection[DescribeConfigsResponseResultFields]

DESCRIBE_CONFIGS: Final[
    Api[
        DescribeConfigsRequest,
        DescribeConfigsResponse,
        DescribeConfigsRequestFields,
        DescribeConfigsResponseFields,
    ]
]

class IncrementalAlterConfigsRequestResourceConfig:
    name: str
    config_operation: int
    value: str | None

class IncrementalAlterConfigsRequestResource:
    resource_type: int
    resource_name: str
    configs: tuple[IncrementalAlterConfigsRequestResourceConfig, ...]

class IncrementalAlterConfigsRequest:
    resources: tuple[IncrementalAlterConfigsRequestResource, ...]
    validate_only: bool

class IncrementalAlterConfigsRequestResourceConfigFields(TypedDict):
    name: str
    config_operation: int
    value: str | None

class IncrementalAlterConfigsRequestResourceFields(TypedDict):
    resource_type: int
    resource_name: str
    configs: Collection[IncrementalAlterConfigsRequestResourceConfigFields]

class IncrementalAlterConfigsRequestFields(TypedDict):
    resources: Collection[IncrementalAlterConfigsRequestResourceFields]
    validate_only: bool

class IncrementalAlterConfigsResponseResponse:
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str

class IncrementalAlterConfigsResponse:
    throttle_time_ms: int
    responses: tuple[IncrementalAlterConfigsResponseResponse, ...]

class IncrementalAlterConfigsResponseResponseFields(TypedDict):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str

class IncrementalAlterConfigsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    responses: Collection[IncrementalAlterConfigsResponseResponseFields]

INCREMENTAL_ALTER_CONFIGS: Final[
    Api[
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResponse,
        IncrementalAlterConfigsRequestFields,
        IncrementalAlterConfigsResponseFields,
    ]
]

class AlterConfigsRequestResourceConfig:
    name: str
    value: str | None

class AlterConfigsRequestResource:
    resource_type: int
    resource_name: str
    configs: tuple[AlterConfigsRequestResourceConfig, ...]

class AlterConfigsRequest:
    resources: tuple[AlterConfigsRequestResource, ...]
    validate_only: bool

class AlterConfigsRequestResourceConfigFields(TypedDict):
    name: str
    value: str | None

class AlterConfigsRequestResourceFields(TypedDict):
    resource_type: int
    resource_name: str
    configs: Collection[AlterConfigsRequestResourceConfigFields]

class AlterConfigsRequestFields(TypedDict):
    resources: Collection[AlterConfigsRequestResourceFields]
    validate_only: bool

class AlterConfigsResponseResponse:
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str

class AlterConfigsResponse:
    throttle_time_ms: int
    responses: tuple[AlterConfigsResponseResponse, ...]

class AlterConfigsResponseResponseFields(TypedDict):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str

class AlterConfigsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    responses: Collection[AlterConfigsResponseResponseFields]

ALTER_CONFIGS: Final[
    Api[AlterConfigsRequest, AlterConfigsResponse, AlterConfigsRequestFields, AlterConfigsResponseFields]
]

class UpdateFeaturesRequestFeatureUpdate:
    feature: str
    max_version_level: int
    allow_downgrade: bool
    upgrade_type: int

class UpdateFeaturesRequest:
    timeout_ms: int
    feature_updates: tuple[UpdateFeaturesRequestFeatureUpdate, ...]
    validate_only: bool

class UpdateFeaturesRequestFeatureUpdateFields(TypedDict):
    feature: str
    max_version_level: int
    allow_downgrade: NotRequired[bool]
    upgrade_type: NotRequired[int]

class UpdateFeaturesRequestFields(TypedDict):
    timeout_ms: NotRequired[int]
    feature_updates: Collection[UpdateFeaturesRequestFeatureUpdateFields]
    validate_only: NotRequired[bool]

class UpdateFeaturesResponseResult:
    feature: str
    error_code: int
    error_message: str | None

class UpdateFeaturesResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: tuple[UpdateFeaturesResponseResult, ...]

class UpdateFeaturesResponseResultFields(TypedDict):
    feature: str
    error_code: int
    error_message: str | None

class UpdateFeaturesResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: str | None
    results: NotRequired[Collection[UpdateFeaturesResponseResultFields]]

UPDATE_FEATURES: Final[
    Api[
        UpdateFeaturesRequest,
        UpdateFeaturesResponse,
        UpdateFeaturesRequestFields,
        UpdateFeaturesResponseFields,
    ]
]
