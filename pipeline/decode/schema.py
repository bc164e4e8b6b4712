"""The columns that decoding gives: those of the table of events, and what a quarantined row says.

A row with a reason is quarantined: of the columns of an event it has the source, the partition and, where they are
known, the offset (else -1); the others have placeholders or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pipeline.tables.schemas import EVENTS

NO_OFFSET = -1

DECODED = StructType(
    [
        *EVENTS.fields,
        StructField("file", StringType(), True),
        StructField("position", LongType(), True),
        StructField("reason", StringType(), True),
    ]
)


@cache
def decoded_arrow() -> pa.Schema:
    """`DECODED` in Arrow's terms."""
    return arrow_schema(DECODED)


def arrow_schema(schema: StructType) -> pa.Schema:
    """A table's schema in Arrow's terms: times in µs, UTC. (Spark's own function is none of its public ones.)"""
    return pa.schema([_arrow_field(field) for field in schema.fields])


def _arrow_field(field: StructField) -> pa.Field:
    return pa.field(field.name, _arrow_type(field.dataType), field.nullable)


def _arrow_type(kind: DataType) -> pa.DataType:
    if isinstance(kind, StructType):
        return pa.struct([_arrow_field(field) for field in kind.fields])
    if isinstance(kind, ArrayType):
        return pa.list_(pa.field("element", _arrow_type(kind.elementType), kind.containsNull))
    if isinstance(kind, MapType):
        return pa.map_(
            _arrow_type(kind.keyType), pa.field("value", _arrow_type(kind.valueType), kind.valueContainsNull)
        )
    return _PLAIN[type(kind)]


_PLAIN: Mapping[type[DataType], pa.DataType] = {
    BinaryType: pa.binary(),
    BooleanType: pa.bool_(),
    ShortType: pa.int16(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    DoubleType: pa.float64(),
    StringType: pa.string(),
    DateType: pa.date32(),
    TimestampType: pa.timestamp("us", tz="UTC"),
}


OFFSET = "offset"
COMMIT = "commit"
ABORT = "abort"
CONTROL = "control"
"""A mark of the broker's that ends no transaction."""

KINDS: Mapping[int, str] = {
    0: OFFSET,
    1: OFFSET,
    2: "group",
    3: "group_epoch",
    4: "partition_metadata",
    5: "member",
    6: "target_epoch",
    7: "target",
    8: "current",
    10: "share_member",
    11: "share_group_epoch",
    12: "share_target_epoch",
    13: "share_target",
    14: "share_current",
    15: "share_state_partitions",
    16: "regex",
    17: "streams_group_epoch",
    19: "streams_member",
    20: "streams_target_epoch",
    21: "streams_target",
    22: "streams_current",
    23: "streams_topology",
}
OFFSET_VERSIONS = (0, 1)
"""Types of the keys of offsets."""
