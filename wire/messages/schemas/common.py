"""What several messages are made of."""

from wire.messages.schema import Array, Field, Scalar, Struct

GROUP_KEY = Struct(Field("groupId", Scalar.STRING))
MEMBER_KEY = Struct(Field("groupId", Scalar.STRING), Field("memberId", Scalar.STRING))

STRINGS = Array(Scalar.STRING)
INT16S = Array(Scalar.INT16)
INT32S = Array(Scalar.INT32)

TOPIC_PARTITIONS = Array(Struct(Field("topicId", Scalar.UUID), Field("partitions", INT32S)))
KEY_VALUES = Array(Struct(Field("key", Scalar.STRING), Field("value", Scalar.STRING)))

TARGET_METADATA = Struct(
    Field("assignmentEpoch", Scalar.INT32),
    Field("assignmentTimestamp", Scalar.INT64, tag=0),
)
