"""Classic groups: record type 2."""

from wire.messages.schema import Array, Field, Scalar, Struct, record_type

_MEMBER = Struct(
    Field("memberId", Scalar.STRING),
    Field("groupInstanceId", Scalar.STRING, since=3, nullable=True),
    Field("clientId", Scalar.STRING),
    Field("clientHost", Scalar.STRING),
    Field("rebalanceTimeout", Scalar.INT32, since=1),
    Field("sessionTimeout", Scalar.INT32),
    Field("subscription", Scalar.BYTES),
    Field("assignment", Scalar.BYTES),
)

GROUP_METADATA = record_type(
    2,
    "GroupMetadata",
    Struct(Field("group", Scalar.STRING)),
    Struct(
        Field("protocolType", Scalar.STRING),
        Field("generation", Scalar.INT32),
        Field("protocol", Scalar.STRING, nullable=True),
        Field("leader", Scalar.STRING, nullable=True),
        Field("currentStateTimestamp", Scalar.INT64, since=2),
        Field("members", Array(_MEMBER)),
    ),
    newest=4,
    flexible_since=4,
    written=3,
)
"""Kafka 4.3 reads version 4 and writes version 3."""

CLASSIC_GROUPS = (GROUP_METADATA,)
