"""Share groups (KIP-932): record types 10 to 15."""

from wire.messages.schema import Array, Field, Scalar, Struct, record_type
from wire.messages.schemas.common import (
    GROUP_KEY,
    INT32S,
    MEMBER_KEY,
    STRINGS,
    TARGET_METADATA,
    TOPIC_PARTITIONS,
)

SHARE_GROUP_MEMBER_METADATA = record_type(
    10,
    "ShareGroupMemberMetadata",
    MEMBER_KEY,
    Struct(
        Field("rackId", Scalar.STRING, nullable=True),
        Field("clientId", Scalar.STRING),
        Field("clientHost", Scalar.STRING),
        Field("subscribedTopicNames", STRINGS),
    ),
)

SHARE_GROUP_METADATA = record_type(
    11,
    "ShareGroupMetadata",
    GROUP_KEY,
    Struct(Field("epoch", Scalar.INT32), Field("metadataHash", Scalar.INT64)),
)

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA = record_type(
    12, "ShareGroupTargetAssignmentMetadata", GROUP_KEY, TARGET_METADATA
)

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER = record_type(
    13, "ShareGroupTargetAssignmentMember", MEMBER_KEY, Struct(Field("topicPartitions", TOPIC_PARTITIONS))
)

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT = record_type(
    14,
    "ShareGroupCurrentMemberAssignment",
    MEMBER_KEY,
    Struct(
        Field("memberEpoch", Scalar.INT32),
        Field("previousMemberEpoch", Scalar.INT32),
        Field("state", Scalar.INT8),
        Field("assignedPartitions", TOPIC_PARTITIONS),
    ),
)

_TOPIC = (Field("topicId", Scalar.UUID), Field("topicName", Scalar.STRING))
_TOPIC_PARTITIONS = Array(Struct(*_TOPIC, Field("partitions", INT32S)))

SHARE_GROUP_STATE_PARTITION_METADATA = record_type(
    15,
    "ShareGroupStatePartitionMetadata",
    GROUP_KEY,
    Struct(
        Field("initializingTopics", _TOPIC_PARTITIONS),
        Field("initializedTopics", _TOPIC_PARTITIONS),
        Field("deletingTopics", Array(Struct(*_TOPIC))),
    ),
)

SHARE_GROUPS = (
    SHARE_GROUP_MEMBER_METADATA,
    SHARE_GROUP_METADATA,
    SHARE_GROUP_TARGET_ASSIGNMENT_METADATA,
    SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER,
    SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    SHARE_GROUP_STATE_PARTITION_METADATA,
)
