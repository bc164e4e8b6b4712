"""Streams groups (KIP-1071): record types 17 and 19 to 23. There is no type 18."""

from wire.messages.schema import Array, Field, Scalar, Struct, record_type
from wire.messages.schemas.common import (
    GROUP_KEY,
    INT16S,
    INT32S,
    KEY_VALUES,
    MEMBER_KEY,
    STRINGS,
    TARGET_METADATA,
)

STREAMS_GROUP_METADATA = record_type(
    17,
    "StreamsGroupMetadata",
    GROUP_KEY,
    Struct(
        Field("epoch", Scalar.INT32),
        Field("metadataHash", Scalar.INT64),
        Field("validatedTopologyEpoch", Scalar.INT32, tag=0, default=-1),
        Field("lastAssignmentConfigs", KEY_VALUES, nullable=True, tag=1),
    ),
)

_ENDPOINT = Struct(Field("host", Scalar.STRING), Field("port", Scalar.UINT16))

STREAMS_GROUP_MEMBER_METADATA = record_type(
    19,
    "StreamsGroupMemberMetadata",
    MEMBER_KEY,
    Struct(
        Field("instanceId", Scalar.STRING, nullable=True),
        Field("rackId", Scalar.STRING, nullable=True),
        Field("clientId", Scalar.STRING),
        Field("clientHost", Scalar.STRING),
        Field("rebalanceTimeoutMs", Scalar.INT32),
        Field("topologyEpoch", Scalar.INT32),
        Field("processId", Scalar.STRING),
        Field("userEndpoint", _ENDPOINT, nullable=True),
        Field("clientTags", KEY_VALUES),
    ),
)

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA = record_type(
    20, "StreamsGroupTargetAssignmentMetadata", GROUP_KEY, TARGET_METADATA
)

_TASKS = (Field("subtopologyId", Scalar.STRING), Field("partitions", INT32S))
_TARGET_TASKS = Array(Struct(*_TASKS))
_CURRENT_TASKS = Array(Struct(*_TASKS, Field("assignmentEpochs", INT32S, nullable=True, tag=0)))

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER = record_type(
    21,
    "StreamsGroupTargetAssignmentMember",
    MEMBER_KEY,
    Struct(
        Field("activeTasks", _TARGET_TASKS),
        Field("standbyTasks", _TARGET_TASKS),
        Field("warmupTasks", _TARGET_TASKS),
    ),
)

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT = record_type(
    22,
    "StreamsGroupCurrentMemberAssignment",
    MEMBER_KEY,
    Struct(
        Field("memberEpoch", Scalar.INT32),
        Field("previousMemberEpoch", Scalar.INT32),
        Field("state", Scalar.INT8),
        Field("activeTasks", _CURRENT_TASKS),
        Field("standbyTasks", _CURRENT_TASKS),
        Field("warmupTasks", _CURRENT_TASKS),
        Field("activeTasksPendingRevocation", _CURRENT_TASKS),
        Field("standbyTasksPendingRevocation", _CURRENT_TASKS),
        Field("warmupTasksPendingRevocation", _CURRENT_TASKS),
    ),
)

_TOPIC = Struct(
    Field("name", Scalar.STRING),
    Field("partitions", Scalar.INT32),
    Field("replicationFactor", Scalar.INT16),
    Field("topicConfigs", KEY_VALUES),
)

_COPARTITION_GROUP = Struct(
    Field("sourceTopics", INT16S),
    Field("sourceTopicRegex", INT16S),
    Field("repartitionSourceTopics", INT16S),
)

_SUBTOPOLOGY = Struct(
    Field("subtopologyId", Scalar.STRING),
    Field("sourceTopics", STRINGS),
    Field("sourceTopicRegex", STRINGS),
    Field("stateChangelogTopics", Array(_TOPIC)),
    Field("repartitionSinkTopics", STRINGS),
    Field("repartitionSourceTopics", Array(_TOPIC)),
    Field("copartitionGroups", Array(_COPARTITION_GROUP)),
)

STREAMS_GROUP_TOPOLOGY = record_type(
    23,
    "StreamsGroupTopology",
    GROUP_KEY,
    Struct(Field("epoch", Scalar.INT32), Field("subtopologies", Array(_SUBTOPOLOGY))),
)

STREAMS_GROUPS = (
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    STREAMS_GROUP_TOPOLOGY,
)
