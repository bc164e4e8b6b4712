"""The schemas of the tables, versioned: columns may be added, never renamed or given another meaning.

Times are UTC. Assignments are `{topic: [partitions ascending]}`; a topic whose name is not known is named by its id.
Every table is written as Parquet, partitioned by `day`, the UTC date on which a row begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f
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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

VERSION = 1
"""Of all schemas together; it stands in the files' metadata and in `tables.json`."""

ASSIGNMENT = MapType(StringType(), ArrayType(IntegerType(), containsNull=False), valueContainsNull=False)


def _table(*columns: tuple[str, DataType, bool]) -> StructType:
    return StructType([StructField(name, kind, nullable) for name, kind, nullable in columns])


CLASSIC_MEMBER = _table(
    ("member", StringType(), False),
    ("instance", StringType(), True),
    ("client_id", StringType(), True),
    ("host", StringType(), True),
    ("rebalance_timeout_ms", IntegerType(), True),
    ("session_timeout_ms", IntegerType(), True),
    ("topics", ArrayType(StringType(), containsNull=False), True),  # null: not the embedded consumer protocol
    ("assignment", ASSIGNMENT, True),
)

EVENTS = _table(
    ("day", DateType(), False),
    ("source", StringType(), False),  # the log that it was read from: directory name of the partition
    ("partition", IntegerType(), False),
    ("offset", LongType(), False),
    ("time", TimestampType(), False),
    ("key_version", ShortType(), True),  # the record type, 0 to 23; null for the end of a transaction
    (
        "kind",
        StringType(),
        False,
    ),  # offset, group, group_epoch, … ; commit and abort for ends of transactions
    ("value_version", ShortType(), True),
    ("tombstone", BooleanType(), False),
    ("producer_id", LongType(), True),  # of transactional records
    ("group", StringType(), True),
    ("topic", StringType(), True),  # of offsets
    ("topic_partition", IntegerType(), True),
    ("committed", LongType(), True),
    ("leader_epoch", IntegerType(), True),
    ("metadata", StringType(), True),
    ("commit_time", TimestampType(), True),
    ("expire_time", TimestampType(), True),  # of offsets that old clients committed with a retention
    ("topic_id", StringType(), True),  # of offsets that brokers of Kafka 4 and later wrote
    ("epoch", IntegerType(), True),  # generation; group, assignment or member epoch
    ("previous_epoch", IntegerType(), True),
    ("member", StringType(), True),
    ("instance", StringType(), True),
    ("client_id", StringType(), True),
    ("host", StringType(), True),
    ("rack", StringType(), True),
    ("protocol_type", StringType(), True),
    (
        "metadata_hash",
        LongType(),
        True,
    ),  # of group epochs: what the group subscribes to, as the broker knows it
    # group: when its state last changed; target epoch: when it was computed; regex: when it was resolved
    ("state_since", TimestampType(), True),
    ("assignor", StringType(), True),  # classic: the protocol in use; member: the assignor it asks for
    ("leader", StringType(), True),
    ("topics", ArrayType(StringType(), containsNull=False), True),
    ("regex", StringType(), True),
    ("member_protocol", StringType(), True),  # classic or consumer, of a member of a consumer group
    (
        "state",
        StringType(),
        True,
    ),  # of a current assignment: stable, unrevoked_partitions, unreleased_partitions
    ("assignment", ASSIGNMENT, True),  # target or current
    ("revoking", ASSIGNMENT, True),
    ("members", ArrayType(CLASSIC_MEMBER, containsNull=False), True),  # of a classic group
    ("fields", StringType(), True),  # JSON of what has no column: share and streams groups, metadata
    # The record as it is in the log, for what replays it; of offsets, whose columns say everything, null.
    ("key", BinaryType(), True),
    ("value", BinaryType(), True),
)

QUARANTINE = _table(
    ("source", StringType(), False),
    ("file", StringType(), False),
    ("position", LongType(), True),  # byte in the file; null: the whole file
    ("offset", LongType(), True),
    ("reason", StringType(), False),
)

REBALANCES = _table(
    ("day", DateType(), False),
    ("group", StringType(), False),
    ("protocol", StringType(), False),  # classic or consumer
    ("epoch", IntegerType(), False),  # generation, or group epoch
    (
        "start",
        TimestampType(),
        True,
    ),  # classic: when the generation before it was left, where the log tells it
    ("end", TimestampType(), True),  # null: not at rest when the log ends
    ("duration_s", DoubleType(), True),
    (
        "cause",
        StringType(),
        False,
    ),  # join, leave, expiry, subscription, metadata, assignor, conversion, unknown
    ("causes", ArrayType(StringType(), containsNull=False), False),  # all of them, `cause` first
    ("assignor", StringType(), True),
    ("members_before", IntegerType(), False),
    ("members", IntegerType(), False),  # once the generation or epoch stands
    ("joined", ArrayType(StringType(), containsNull=False), False),
    ("left", ArrayType(StringType(), containsNull=False), False),
    ("expired", ArrayType(StringType(), containsNull=False), False),  # those of `left` that seem to have
    ("partitions", IntegerType(), False),
    ("moved", IntegerType(), False),
    ("revoked", IntegerType(), False),
    # generations or epochs between the row before and this one that the log does not have; null: the log begins here
    ("skipped", IntegerType(), True),
)

OWNERSHIP = _table(
    ("day", DateType(), False),
    ("group", StringType(), False),
    ("topic", StringType(), False),
    ("topic_partition", IntegerType(), False),
    ("member", StringType(), True),  # null: nobody
    ("client_id", StringType(), True),
    ("host", StringType(), True),
    ("epoch", IntegerType(), False),
    ("since", TimestampType(), False),
    ("until", TimestampType(), True),  # null: to the end of the log
)

COMMITS = _table(
    ("day", DateType(), False),
    ("group", StringType(), False),
    ("topic", StringType(), False),
    ("topic_partition", IntegerType(), False),
    ("commits", LongType(), False),
    ("first_offset", LongType(), True),
    ("last_offset", LongType(), True),
    ("resets", LongType(), False),  # commits of an offset below the one before
    ("longest_gap_s", DoubleType(), True),
    ("deleted", LongType(), False),  # tombstones
    ("first", TimestampType(), False),
    ("last", TimestampType(), False),
)

GROUPS = _table(
    ("day", DateType(), False),
    ("group", StringType(), False),
    ("type", StringType(), False),
    ("members_most", IntegerType(), False),
    ("rebalances", LongType(), False),
    ("joined", LongType(), False),
    ("left", LongType(), False),
    ("storms", LongType(), False),  # runs of rebalances one behind the other
    ("rebalancing_s", DoubleType(), False),
    ("commits", LongType(), False),
    ("zombies", LongType(), False),  # members that own partitions of which nothing is committed
    ("migration", StringType(), True),  # classic, mixed, consumer; null where it is neither
)

TABLES = {
    "events": EVENTS,
    "rebalances": REBALANCES,
    "ownership": OWNERSHIP,
    "commits": COMMITS,
    "groups": GROUPS,
    "quarantine": QUARANTINE,
}


def shaped(rows: DataFrame, schema: StructType) -> DataFrame:
    """The columns of the schema in its order and types. Whether nulls are allowed is not checked: Spark takes every
    column that comes from a file for nullable."""
    return rows.select(
        *(f.col(each.name).cast(each.dataType.simpleString()).alias(each.name) for each in schema)
    )


_DAY_US: Final = 24 * 3600 * 1_000_000


def day_of(time: int) -> int:
    """Days since 1970 of µs since 1970, as Arrow's and Spark's dates count."""
    return time // _DAY_US
