"""Consumer groups (KIP-848): record types 3 to 8 and 16."""

from wire.messages.schema import Array, Field, Scalar, Struct, record_type
from wire.messages.schemas.common import (
    GROUP_KEY,
    INT32S,
    MEMBER_KEY,
    STRINGS,
    TARGET_METADATA,
    TOPIC_PARTITIONS,
)

CONSUMER_GROUP_METADATA = record_type(
    3,
    "ConsumerGroupMetadata",
    GROUP_KEY,
    Struct(Field("epoch", Scalar.INT32), Field("metadataHash", Scalar.INT64, tag=0)),
)

_PARTITION_METADATA = Struct(Field("partition", Scalar.INT32), Field("racks", STRINGS))

CONSUMER_GROUP_PARTITION_METADATA = record_type(
    4,
    "ConsumerGroupPartitionMetadata",
    GROUP_KEY,
    Struct(
        Field(
            "topics",
            Array(
                Struct(
                    Field("topicId", Scalar.UUID),
                    Field("topicName", Scalar.STRING),
                    Field("numPartitions", Scalar.INT32),
                    Field("partitionMetadata", Array(_PARTITION_METADATA)),
                )
            ),
        )
    ),
)
"""Written before Kafka 4.1, which has the hash of type 3 instead."""

_CLASSIC_MEMBER = Struct(
    Field("sessionTimeoutMs", Scalar.INT32),
    Field(
        "supportedProtocols",
        Array(Struct(Field("name", Scalar.STRING), Field("metadata", Scalar.BYTES))),
    ),
)

CONSUMER_GROUP_MEMBER_METADATA = record_type(
    5,
    "ConsumerGroupMemberMetadata",
    MEMBER_KEY,
    Struct(
        Field("instanceId", Scalar.STRING, nullable=True),
        Field("rackId", Scalar.STRING, nullable=True),
        Field("clientId", Scalar.STRING),
        Field("clientHost", Scalar.STRING),
        Field("subscribedTopicNames", STRINGS),
        Field("subscribedTopicRegex", Scalar.STRING, nullable=True),
        Field("rebalanceTimeoutMs", Scalar.INT32),
        Field("serverAssignor", Scalar.STRING, nullable=True),
        Field("classicMemberMetadata", _CLASSIC_MEMBER, nullable=True, tag=0),
    ),
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA = record_type(
    6, "ConsumerGroupTargetAssignmentMetadata", GROUP_KEY, TARGET_METADATA
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = record_type(
    7, "ConsumerGroupTargetAssignmentMember", MEMBER_KEY, Struct(Field("topicPartitions", TOPIC_PARTITIONS))
)

_EPOCHS_OF_PARTITIONS = Array(
    Struct(
        Field("topicId", Scalar.UUID),
        Field("partitions", INT32S),
        Field("assignmentEpochs", INT32S, nullable=True, tag=0),
    )
)

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = record_type(
    8,
    "ConsumerGroupCurrentMemberAssignment",
    MEMBER_KEY,
    Struct(
        Field("memberEpoch", Scalar.INT32),
        Field("previousMemberEpoch", Scalar.INT32),
        Field("state", Scalar.INT8),
        Field("assignedPartitions", _EPOCHS_OF_PARTITIONS),
        Field("partitionsPendingRevocation", _EPOCHS_OF_PARTITIONS),
    ),
)
"""Kafka 4.3 gives every partition the epoch at which it was assigned (KIP-1251); older versions have none."""

CONSUMER_GROUP_REGULAR_EXPRESSION = record_type(
    16,
    "ConsumerGroupRegularExpression",
    Struct(Field("groupId", Scalar.STRING), Field("regularExpression", Scalar.STRING)),
    Struct(Field("topics", STRINGS), Field("version", Scalar.INT64), Field("timestamp", Scalar.INT64)),
)

CONSUMER_GROUPS = (
    CONSUMER_GROUP_METADATA,
    CONSUMER_GROUP_PARTITION_METADATA,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_REGULAR_EXPRESSION,
)
