"""Committed offsets: record types 0 and 1.

Once the first number of a key was its version; 0 and 1 meant the same. Kafka 4 reads 0 as a type of its own.
"""

from wire.messages.schema import Field, Scalar, Struct, record_type

_KEY = Struct(
    Field("group", Scalar.STRING),
    Field("topic", Scalar.STRING),
    Field("partition", Scalar.INT32),
)

LEGACY_OFFSET_COMMIT = record_type(
    0,
    "LegacyOffsetCommit",
    _KEY,
    Struct(
        Field("offset", Scalar.INT64),
        Field("metadata", Scalar.STRING),
        Field("commitTimestamp", Scalar.INT64),
    ),
    flexible_since=None,
)

OFFSET_COMMIT = record_type(
    1,
    "OffsetCommit",
    _KEY,
    Struct(
        Field("offset", Scalar.INT64),
        Field("leaderEpoch", Scalar.INT32, since=3),
        Field("metadata", Scalar.STRING),
        Field("commitTimestamp", Scalar.INT64),
        Field("expireTimestamp", Scalar.INT64, since=1, until=1),
        Field("topicId", Scalar.UUID, tag=0),
    ),
    newest=4,
    flexible_since=4,
    written=4,
)
"""Values with an expiry of their own are written in version 1 instead."""

OFFSETS = (LEGACY_OFFSET_COMMIT, OFFSET_COMMIT)
