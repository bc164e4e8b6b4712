"""Types of the messages of `streams_groups.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection, Sequence
from typing import Final, NotRequired, TypedDict

from wire.messages.definition import Api, RecordType

class StreamsGroupMetadataKey(TypedDict):
    groupId: str

class StreamsGroupMetadataValueLastAssignmentConfig(TypedDict):
    key: str
    value: str

class StreamsGroupMetadataValue(TypedDict):
    epoch: int
    metadataHash: int
    validatedTopologyEpoch: NotRequired[int]
    lastAssignmentConfigs: NotRequired[Sequence[StreamsGroupMetadataValueLastAssignmentConfig] | None]
    storedDescriptionTopologyEpoch: NotRequired[int]
    failedDescriptionTopologyEpoch: NotRequired[int]

STREAMS_GROUP_METADATA: Final[RecordType[StreamsGroupMetadataKey, StreamsGroupMetadataValue]]

class StreamsGroupMemberMetadataKey(TypedDict):
    groupId: str
    memberId: str

class StreamsGroupMemberMetadataValueUserEndpoint(TypedDict):
    host: str
    port: int

class StreamsGroupMemberMetadataValueClientTag(TypedDict):
    key: str
    value: str

class StreamsGroupMemberMetadataValue(TypedDict):
    instanceId: str | None
    rackId: str | None
    clientId: str
    clientHost: str
    rebalanceTimeoutMs: int
    topologyEpoch: int
    processId: str
    userEndpoint: StreamsGroupMemberMetadataValueUserEndpoint | None
    clientTags: Sequence[StreamsGroupMemberMetadataValueClientTag]

STREAMS_GROUP_MEMBER_METADATA: Final[
    RecordType[StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue]
]

class StreamsGroupTargetAssignmentMetadataKey(TypedDict):
    groupId: str

class StreamsGroupTargetAssignmentMetadataValue(TypedDict):
    assignmentEpoch: int
    assignmentTimestamp: NotRequired[int]

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA: Final[
    RecordType[StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue]
]

class StreamsGroupTargetAssignmentMemberKey(TypedDict):
    groupId: str
    memberId: str

class StreamsGroupTargetAssignmentMemberValueActiveTask(TypedDict):
    subtopologyId: str
    partitions: Sequence[int]

class StreamsGroupTargetAssignmentMemberValue(TypedDict):
    activeTasks: Sequence[StreamsGroupTargetAssignmentMemberValueActiveTask]
    standbyTasks: Sequence[StreamsGroupTargetAssignmentMemberValueActiveTask]
    warmupTasks: Sequence[StreamsGroupTargetAssignmentMemberValueActiveTask]

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER: Final[
    RecordType[StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue]
]

class StreamsGroupCurrentMemberAssignmentKey(TypedDict):
    groupId: str
    memberId: str

class StreamsGroupCurrentMemberAssignmentValueActiveTask(TypedDict):
    subtopologyId: str
    partitions: Sequence[int]
    assignmentEpochs: NotRequired[Sequence[int] | None]

class StreamsGroupCurrentMemberAssignmentValue(TypedDict):
    memberEpoch: int
    previousMemberEpoch: int
    state: int
    activeTasks: Sequence[StreamsGroupCurrentMemberAssignmentValueActiveTask]
    standbyTasks: Sequence[StreamsGroupCurrentMemberAssignmentValueActiveTask]
    warmupTasks: Sequence[StreamsGroupCurrentMemberAssignmentValueActiveTask]
    activeTasksPendingRevocation: Sequence[StreamsGroupCurrentMemberAssignmentValueActiveTask]
    standbyTasksPendingRevocation: Sequence[StreamsGroupCurrentMemberAssignmentValueActiveTask]
    warmupTasksPendingRevocation: Sequence[StreamsGroupCurrentMemberAssignmentValueActiveTask]

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final[
    RecordType[StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue]
]

class StreamsGroupTopologyKey(TypedDict):
    groupId: str

class StreamsGroupTopologyValueSubtopologyStateChangelogTopicTopicConfig(TypedDict):
    key: str
    value: str

class StreamsGroupTopologyValueSubtopologyStateChangelogTopic(TypedDict):
    name: str
    partitions: int
    replicationFactor: int
    topicConfigs: Sequence[StreamsGroupTopologyValueSubtopologyStateChangelogTopicTopicConfig]

class StreamsGroupTopologyValueSubtopologyCopartitionGroup(TypedDict):
    sourceTopics: Sequence[int]
    sourceTopicRegex: Sequence[int]
    repartitionSourceTopics: Sequence[int]

class StreamsGroupTopologyValueSubtopology(TypedDict):
    subtopologyId: str
    sourceTopics: Sequence[str]
    sourceTopicRegex: Sequence[str]
    stateChangelogTopics: Sequence[StreamsGroupTopologyValueSubtopologyStateChangelogTopic]
    repartitionSinkTopics: Sequence[str]
    repartitionSourceTopics: Sequence[StreamsGroupTopologyValueSubtopologyStateChangelogTopic]
    copartitionGroups: Sequence[StreamsGroupTopologyValueSubtopologyCopartitionGroup]

class StreamsGroupTopologyValue(TypedDict):
    epoch: int
    subtopologies: Sequence[StreamsGroupTopologyValueSubtopology]

STREAMS_GROUP_TOPOLOGY: Final[RecordType[StreamsGroupTopologyKey, StreamsGroupTopologyValue]]

class StreamsGroupDescribeRequest:
    group_ids: tuple[str, ...]
    include_authorized_operations: bool
    include_topology_description: bool

class StreamsGroupDescribeRequestFields(TypedDict):
    group_ids: Collection[str]
    include_authorized_operations: bool
    include_topology_description: NotRequired[bool]

class StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopicTopicConfig:
    key: str
    value: str

class StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopic:
    name: str
    partitions: int
    replication_factor: int
    topic_configs: tuple[
        StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopicTopicConfig, ...
    ]

class StreamsGroupDescribeResponseGroupTopologySubtopology:
    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    state_changelog_topics: tuple[
        StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopic, ...
    ]
    repartition_source_topics: tuple[
        StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopic, ...
    ]

class StreamsGroupDescribeResponseGroupTopology:
    epoch: int
    subtopologies: tuple[StreamsGroupDescribeResponseGroupTopologySubtopology, ...] | None

class StreamsGroupDescribeResponseGroupMemberUserEndpoint:
    host: str
    port: int

class StreamsGroupDescribeResponseGroupMemberClientTag:
    key: str
    value: str

class StreamsGroupDescribeResponseGroupMemberTaskOffset:
    subtopology_id: str
    partition: int
    offset: int

class StreamsGroupDescribeResponseGroupMemberAssignmentActiveTask:
    subtopology_id: str
    partitions: tuple[int, ...]

class StreamsGroupDescribeResponseGroupMemberAssignment:
    active_tasks: tuple[StreamsGroupDescribeResponseGroupMemberAssignmentActiveTask, ...]
    standby_tasks: tuple[StreamsGroupDescribeResponseGroupMemberAssignmentActiveTask, ...]
    warmup_tasks: tuple[StreamsGroupDescribeResponseGroupMemberAssignmentActiveTask, ...]

class StreamsGroupDescribeResponseGroupMember:
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topology_epoch: int
    process_id: str
    user_endpoint: StreamsGroupDescribeResponseGroupMemberUserEndpoint | None
    client_tags: tuple[StreamsGroupDescribeResponseGroupMemberClientTag, ...]
    task_offsets: tuple[StreamsGroupDescribeResponseGroupMemberTaskOffset, ...]
    task_end_offsets: tuple[StreamsGroupDescribeResponseGroupMemberTaskOffset, ...]
    assignment: StreamsGroupDescribeResponseGroupMemberAssignment
    target_assignment: StreamsGroupDescribeResponseGroupMemberAssignment
    is_classic: bool

class StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopologyNode:
    name: str
    node_type: int
    source_topics: tuple[str, ...]
    sink_topic: str | None
    stores: tuple[str, ...]
    successors: tuple[str, ...]

class StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopology:
    subtopology_id: str
    nodes: tuple[StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopologyNode, ...]

class StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreSource:
    name: str
    node_type: int
    source_topics: tuple[str, ...]
    sink_topic: str | None
    stores: tuple[str, ...]
    successors: tuple[str, ...]

class StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStore:
    source: StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreSource
    processor: StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreSource

class StreamsGroupDescribeResponseGroupTopologyDescription:
    subtopologies: tuple[StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopology, ...]
    global_stores: tuple[StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStore, ...]

class StreamsGroupDescribeResponseGroup:
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    topology: StreamsGroupDescribeResponseGroupTopology | None
    members: tuple[StreamsGroupDescribeResponseGroupMember, ...]
    authorized_operations: int
    topology_description: StreamsGroupDescribeResponseGroupTopologyDescription | None
    topology_description_status: int
    assignor_name: str | None

class StreamsGroupDescribeResponse:
    throttle_time_ms: int
    groups: tuple[StreamsGroupDescribeResponseGroup, ...]

class StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopicTopicConfigFields(TypedDict):
    key: str
    value: str

class StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopicFields(TypedDict):
    name: str
    partitions: int
    replication_factor: int
    topic_configs: Collection[
        StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopicTopicConfigFields
    ]

class StreamsGroupDescribeResponseGroupTopologySubtopologyFields(TypedDict):
    subtopology_id: str
    source_topics: Collection[str]
    repartition_sink_topics: Collection[str]
    state_changelog_topics: Collection[
        StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopicFields
    ]
    repartition_source_topics: Collection[
        StreamsGroupDescribeResponseGroupTopologySubtopologyStateChangelogTopicFields
    ]

class StreamsGroupDescribeResponseGroupTopologyFields(TypedDict):
    epoch: int
    subtopologies: Collection[StreamsGroupDescribeResponseGroupTopologySubtopologyFields] | None

class StreamsGroupDescribeResponseGroupMemberUserEndpointFields(TypedDict):
    host: str
    port: int

class StreamsGroupDescribeResponseGroupMemberClientTagFields(TypedDict):
    key: str
    value: str

class StreamsGroupDescribeResponseGroupMemberTaskOffsetFields(TypedDict):
    subtopology_id: str
    partition: int
    offset: int

class StreamsGroupDescribeResponseGroupMemberAssignmentActiveTaskFields(TypedDict):
    subtopology_id: str
    partitions: Collection[int]

class StreamsGroupDescribeResponseGroupMemberAssignmentFields(TypedDict):
    active_tasks: Collection[StreamsGroupDescribeResponseGroupMemberAssignmentActiveTaskFields]
    standby_tasks: Collection[StreamsGroupDescribeResponseGroupMemberAssignmentActiveTaskFields]
    warmup_tasks: Collection[StreamsGroupDescribeResponseGroupMemberAssignmentActiveTaskFields]

class StreamsGroupDescribeResponseGroupMemberFields(TypedDict):
    member_id: str
    member_epoch: int
    instance_id: NotRequired[str | None]
    rack_id: NotRequired[str | None]
    client_id: str
    client_host: str
    topology_epoch: int
    process_id: str
    user_endpoint: NotRequired[StreamsGroupDescribeResponseGroupMemberUserEndpointFields | None]
    client_tags: Collection[StreamsGroupDescribeResponseGroupMemberClientTagFields]
    task_offsets: Collection[StreamsGroupDescribeResponseGroupMemberTaskOffsetFields]
    task_end_offsets: Collection[StreamsGroupDescribeResponseGroupMemberTaskOffsetFields]
    assignment: StreamsGroupDescribeResponseGroupMemberAssignmentFields
    target_assignment: StreamsGroupDescribeResponseGroupMemberAssignmentFields
    is_classic: bool

class StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopologyNodeFields(TypedDict):
    name: str
    node_type: int
    source_topics: Collection[str]
    sink_topic: NotRequired[str | None]
    stores: Collection[str]
    successors: Collection[str]

class StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopologyFields(TypedDict):
    subtopology_id: str
    nodes: Collection[StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopologyNodeFields]

class StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreSourceFields(TypedDict):
    name: str
    node_type: int
    source_topics: Collection[str]
    sink_topic: NotRequired[str | None]
    stores: Collection[str]
    successors: Collection[str]

class StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreFields(TypedDict):
    source: StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreSourceFields
    processor: StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreSourceFields

class StreamsGroupDescribeResponseGroupTopologyDescriptionFields(TypedDict):
    subtopologies: Collection[StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopologyFields]
    global_stores: Collection[StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreFields]

class StreamsGroupDescribeResponseGroupFields(TypedDict):
    error_code: int
    error_message: NotRequired[str | None]
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    topology: NotRequired[StreamsGroupDescribeResponseGroupTopologyFields | None]
    members: Collection[StreamsGroupDescribeResponseGroupMemberFields]
    authorized_operations: NotRequired[int]
    topology_description: NotRequired[StreamsGroupDescribeResponseGroupTopologyDescriptionFields | None]
    topology_description_status: NotRequired[int]
    assignor_name: NotRequired[str | None]

class StreamsGroupDescribeResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    groups: Collection[StreamsGroupDescribeResponseGroupFields]

STREAMS_GROUP_DESCRIBE: Final[
    Api[
        StreamsGroupDescribeRequest,
        StreamsGroupDescribeResponse,
        StreamsGroupDescribeRequestFields,
        StreamsGroupDescribeResponseFields,
    ]
]

class StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopicTopicConfig:
    key: str
    value: str

class StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopic:
    name: str
    partitions: int
    replication_factor: int
    topic_configs: tuple[StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopicTopicConfig, ...]

class StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroup:
    source_topics: tuple[int, ...]
    source_topic_regex: tuple[int, ...]
    repartition_source_topics: tuple[int, ...]

class StreamsGroupHeartbeatRequestTopologySubtopology:
    subtopology_id: str
    source_topics: tuple[str, ...]
    source_topic_regex: tuple[str, ...]
    state_changelog_topics: tuple[StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopic, ...]
    repartition_sink_topics: tuple[str, ...]
    repartition_source_topics: tuple[StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopic, ...]
    copartition_groups: tuple[StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroup, ...]

class StreamsGroupHeartbeatRequestTopology:
    epoch: int
    subtopologies: tuple[StreamsGroupHeartbeatRequestTopologySubtopology, ...]

class StreamsGroupHeartbeatRequestActiveTask:
    subtopology_id: str
    partitions: tuple[int, ...]

class StreamsGroupHeartbeatRequestUserEndpoint:
    host: str
    port: int

class StreamsGroupHeartbeatRequestClientTag:
    key: str
    value: str

class StreamsGroupHeartbeatRequestTaskOffset:
    subtopology_id: str
    partition: int
    offset: int

class StreamsGroupHeartbeatRequest:
    group_id: str
    member_id: str
    member_epoch: int
    endpoint_information_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topology: StreamsGroupHeartbeatRequestTopology | None
    active_tasks: tuple[StreamsGroupHeartbeatRequestActiveTask, ...] | None
    standby_tasks: tuple[StreamsGroupHeartbeatRequestActiveTask, ...] | None
    warmup_tasks: tuple[StreamsGroupHeartbeatRequestActiveTask, ...] | None
    process_id: str | None
    user_endpoint: StreamsGroupHeartbeatRequestUserEndpoint | None
    client_tags: tuple[StreamsGroupHeartbeatRequestClientTag, ...] | None
    task_offsets: tuple[StreamsGroupHeartbeatRequestTaskOffset, ...] | None
    task_end_offsets: tuple[StreamsGroupHeartbeatRequestTaskOffset, ...] | None
    shutdown_application: bool

class StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopicTopicConfigFields(TypedDict):
    key: str
    value: str

class StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopicFields(TypedDict):
    name: str
    partitions: int
    replication_factor: int
    topic_configs: Collection[
        StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopicTopicConfigFields
    ]

class StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroupFields(TypedDict):
    source_topics: Collection[int]
    source_topic_regex: Collection[int]
    repartition_source_topics: Collection[int]

class StreamsGroupHeartbeatRequestTopologySubtopologyFields(TypedDict):
    subtopology_id: str
    source_topics: Collection[str]
    source_topic_regex: Collection[str]
    state_changelog_topics: Collection[
        StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopicFields
    ]
    repartition_sink_topics: Collection[str]
    repartition_source_topics: Collection[
        StreamsGroupHeartbeatRequestTopologySubtopologyStateChangelogTopicFields
    ]
    copartition_groups: Collection[StreamsGroupHeartbeatRequestTopologySubtopologyCopartitionGroupFields]

class StreamsGroupHeartbeatRequestTopologyFields(TypedDict):
    epoch: int
    subtopologies: Collection[StreamsGroupHeartbeatRequestTopologySubtopologyFields]

class StreamsGroupHeartbeatRequestActiveTaskFields(TypedDict):
    subtopology_id: str
    partitions: Collection[int]

class StreamsGroupHeartbeatRequestUserEndpointFields(TypedDict):
    host: str
    port: int

class StreamsGroupHeartbeatRequestClientTagFields(TypedDict):
    key: str
    value: str

class StreamsGroupHeartbeatRequestTaskOffsetFields(TypedDict):
    subtopology_id: str
    partition: int
    offset: int

class StreamsGroupHeartbeatRequestFields(TypedDict):
    group_id: str
    member_id: str
    member_epoch: int
    endpoint_information_epoch: int
    instance_id: NotRequired[str | None]
    rack_id: NotRequired[str | None]
    rebalance_timeout_ms: NotRequired[int]
    topology: NotRequired[StreamsGroupHeartbeatRequestTopologyFields | None]
    active_tasks: NotRequired[Collection[StreamsGroupHeartbeatRequestActiveTaskFields] | None]
    standby_tasks: NotRequired[Collection[StreamsGroupHeartbeatRequestActiveTaskFields] | None]
    warmup_tasks: NotRequired[Collection[StreamsGroupHeartbeatRequestActiveTaskFields] | None]
    process_id: NotRequired[str | None]
    user_endpoint: NotRequired[StreamsGroupHeartbeatRequestUserEndpointFields | None]
    client_tags: NotRequired[Collection[StreamsGroupHeartbeatRequestClientTagFields] | None]
    task_offsets: NotRequired[Collection[StreamsGroupHeartbeatRequestTaskOffsetFields] | None]
    task_end_offsets: NotRequired[Collection[StreamsGroupHeartbeatRequestTaskOffsetFields] | None]
    shutdown_application: NotRequired[bool]

class StreamsGroupHeartbeatResponseStatus:
    status_code: int
    status_detail: str

class StreamsGroupHeartbeatResponseActiveTask:
    subtopology_id: str
    partitions: tuple[int, ...]

class StreamsGroupHeartbeatResponsePartitionsByUserEndpointUserEndpoint:
    host: str
    port: int

class StreamsGroupHeartbeatResponsePartitionsByUserEndpointActivePartition:
    topic: str
    partitions: tuple[int, ...]

class StreamsGroupHeartbeatResponsePartitionsByUserEndpoint:
    user_endpoint: StreamsGroupHeartbeatResponsePartitionsByUserEndpointUserEndpoint
    active_partitions: tuple[StreamsGroupHeartbeatResponsePartitionsByUserEndpointActivePartition, ...]
    standby_partitions: tuple[StreamsGroupHeartbeatResponsePartitionsByUserEndpointActivePartition, ...]

class StreamsGroupHeartbeatResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    acceptable_recovery_lag: int
    task_offset_interval_ms: int
    status: tuple[StreamsGroupHeartbeatResponseStatus, ...] | None
    active_tasks: tuple[StreamsGroupHeartbeatResponseActiveTask, ...] | None
    standby_tasks: tuple[StreamsGroupHeartbeatResponseActiveTask, ...] | None
    warmup_tasks: tuple[StreamsGroupHeartbeatResponseActiveTask, ...] | None
    endpoint_information_epoch: int
    partitions_by_user_endpoint: tuple[StreamsGroupHeartbeatResponsePartitionsByUserEndpoint, ...] | None

class StreamsGroupHeartbeatResponseStatusFields(TypedDict):
    status_code: int
    status_detail: str

class StreamsGroupHeartbeatResponseActiveTaskFields(TypedDict):
    subtopology_id: str
    partitions: Collection[int]

class StreamsGroupHeartbeatResponsePartitionsByUserEndpointUserEndpointFields(TypedDict):
    host: str
    port: int

class StreamsGroupHeartbeatResponsePartitionsByUserEndpointActivePartitionFields(TypedDict):
    topic: str
    partitions: Collection[int]

class StreamsGroupHeartbeatResponsePartitionsByUserEndpointFields(TypedDict):
    user_endpoint: StreamsGroupHeartbeatResponsePartitionsByUserEndpointUserEndpointFields
    active_partitions: Collection[StreamsGroupHeartbeatResponsePartitionsByUserEndpointActivePartitionFields]
    standby_partitions: Collection[StreamsGroupHeartbeatResponsePartitionsByUserEndpointActivePartitionFields]

class StreamsGroupHeartbeatResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: NotRequired[str | None]
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    acceptable_recovery_lag: int
    task_offset_interval_ms: int
    status: NotRequired[Collection[StreamsGroupHeartbeatResponseStatusFields] | None]
    active_tasks: NotRequired[Collection[StreamsGroupHeartbeatResponseActiveTaskFields] | None]
    standby_tasks: NotRequired[Collection[StreamsGroupHeartbeatResponseActiveTaskFields] | None]
    warmup_tasks: NotRequired[Collection[StreamsGroupHeartbeatResponseActiveTaskFields] | None]
    endpoint_information_epoch: int
    partitions_by_user_endpoint: NotRequired[
        Collection[StreamsGroupHeartbeatResponsePartitionsByUserEndpointFields] | None
    ]

STREAMS_GROUP_HEARTBEAT: Final[
    Api[
        StreamsGroupHeartbeatRequest,
        StreamsGroupHeartbeatResponse,
        StreamsGroupHeartbeatRequestFields,
        StreamsGroupHeartbeatResponseFields,
    ]
]
