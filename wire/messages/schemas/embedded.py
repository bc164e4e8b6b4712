"""The embedded protocol of classic consumers, as the dump tool looks into it: inside record type 2.

What the coordinator itself makes of these bytes is `wire.messages.embedded_protocol`'s affair.
"""

from wire.messages.schema import Array, Field, Message, Scalar, Struct
from wire.messages.schemas.common import INT32S, STRINGS

_NEWEST = 3
_TOPIC_PARTITIONS = Array(Struct(Field("topic", Scalar.STRING), Field("partitions", INT32S), newest=_NEWEST))

SUBSCRIPTION = Message(
    name="ConsumerProtocolSubscription",
    struct=Struct(
        Field("topics", STRINGS),
        Field("userData", Scalar.BYTES, nullable=True),
        Field("ownedPartitions", _TOPIC_PARTITIONS, since=1),
        Field("generationId", Scalar.INT32, since=2),
        Field("rackId", Scalar.STRING, since=3, nullable=True),
    ),
    newest=_NEWEST,
    flexible_since=None,
)

ASSIGNMENT = Message(
    name="ConsumerProtocolAssignment",
    struct=Struct(
        Field("assignedPartitions", _TOPIC_PARTITIONS),
        Field("userData", Scalar.BYTES, nullable=True),
    ),
    newest=_NEWEST,
    flexible_since=None,
)
