"""The schemas of the tables, versioned: columns may be added, never renamed or given another meaning. Times are
UTC. Assignments are `{topic: [partitions ascending]}`, by id where the name is unknown. Tables are partitioned by
`day`, the UTC date on which a row starts. `DECODED` is the result of decoding: the columns of an event, and the
reason of a quarantined row, of which only the source, the partition and, if known, the offset (otherwise -1) are
set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyspark.sql import functions as f
from pyspark.sql import types
from pyspark.sql.pandas.types import to_arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

TableRow: TypeAlias = dict[str, Any]  # the values of a row, by column; missing ones are null
VERSION = 1  # the version of all schemas together, in the files' metadata and in `tables.json`

BINARY = types.BinaryType()
BOOLEAN = types.BooleanType()
DATE = types.DateType()
DOUBLE = types.DoubleType()
INT = types.IntegerType()
LONG = types.LongType()
SHORT = types.ShortType()
STRING = types.StringType()
TIMESTAMP = types.TimestampType()
STRINGS = types.ArrayType(STRING, containsNull=False)
ASSIGNMENT = types.MapType(STRING, types.ArrayType(INT, containsNull=False), valueContainsNull=False)


def table(*columns: tuple[str, types.DataType, bool]) -> types.StructType:
    """A schema of columns: name, type, and whether it may be null."""
    return types.StructType([types.StructField(name, kind, nullable) for name, kind, nullable in columns])


CLASSIC_MEMBER = table(
    ("member", STRING, False),
    ("instance", STRING, True),
    ("client_id", STRING, True),
    ("host", STRING, True),
    ("rebalance_timeout_ms", INT, True),
    ("session_timeout_ms", INT, True),
    ("topics", STRINGS, True),  # null: the member does not use the embedded consumer protocol
    ("assignment", ASSIGNMENT, True),
)

EVENTS = table(
    ("day", DATE, False),
    ("source", STRING, False),  # the log that it was read from: directory name of the partition
    ("partition", INT, False),
    ("offset", LONG, False),
    ("time", TIMESTAMP, False),
    ("key_version", SHORT, True),  # the record type, 0 to 23; null for the end of a transaction
    ("kind", STRING, False),  # offset, group, group_epoch, … ; commit and abort for ends of transactions
    ("value_version", SHORT, True),
    ("tombstone", BOOLEAN, False),
    ("producer_id", LONG, True),  # of transactional records
    ("group", STRING, True),
    ("topic", STRING, True),  # of offsets
    ("topic_partition", INT, True),
    ("committed", LONG, True),
    ("leader_epoch", INT, True),
    ("metadata", STRING, True),
    ("commit_time", TIMESTAMP, True),
    ("expire_time", TIMESTAMP, True),  # of offsets that old clients committed with a retention
    ("topic_id", STRING, True),  # of offsets that brokers of Kafka 4 and later wrote
    ("epoch", INT, True),  # generation; group, assignment or member epoch
    ("previous_epoch", INT, True),
    ("member", STRING, True),
    ("instance", STRING, True),
    ("client_id", STRING, True),
    ("host", STRING, True),
    ("rack", STRING, True),
    ("protocol_type", STRING, True),
    ("metadata_hash", LONG, True),  # of group epochs: the broker's hash of the subscribed topics
    # Time of a group's last change of state, of a target epoch's computation, or of a regex's resolution.
    ("state_since", TIMESTAMP, True),
    ("assignor", STRING, True),  # classic: the protocol in use; member: the assignor that it requests
    ("leader", STRING, True),
    ("topics", STRINGS, True),
    ("regex", STRING, True),
    ("member_protocol", STRING, True),  # classic or consumer, of a member of a consumer group
    ("state", STRING, True),  # of a current assignment: stable, unrevoked_partitions, unreleased_partitions
    ("assignment", ASSIGNMENT, True),  # target or current
    ("revoking", ASSIGNMENT, True),
    ("members", types.ArrayType(CLASSIC_MEMBER, containsNull=False), True),  # of a classic group
    ("fields", STRING, True),  # JSON of fields without a column: of share and streams groups, of metadata
    # The record as it is in the log, for replaying it; null for offsets, whose columns contain everything.
    ("key", BINARY, True),
    ("value", BINARY, True),
)

QUARANTINE = table(
    ("source", STRING, False),
    ("file", STRING, False),
    ("position", LONG, True),  # the first byte in the file; null: the whole file
    ("offset", LONG, True),
    ("reason", STRING, False),
)

NO_OFFSET = -1
DECODED = types.StructType(
    [*EVENTS, *table(("file", STRING, True), ("position", LONG, True), ("reason", STRING, True))]
)

OFFSET = "offset"
COMMIT = "commit"
ABORT = "abort"
CONTROL = "control"  # a control record that is not a transaction marker

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

REBALANCES = table(
    ("day", DATE, False),
    ("group", STRING, False),
    ("protocol", STRING, False),  # classic or consumer
    ("epoch", INT, False),  # generation, or group epoch
    ("start", TIMESTAMP, True),  # classic: when the generation before it ended, if the log contains it
    ("end", TIMESTAMP, True),  # null: not complete at the end of the log
    ("duration_s", DOUBLE, True),
    ("cause", STRING, False),  # of `RebalanceCause`; unknown: also of a member that left, or expired
    ("causes", STRINGS, False),  # all causes, `cause` first
    ("assignor", STRING, True),
    ("members_before", INT, False),
    ("members", INT, False),  # members when the generation or epoch is complete
    ("joined", STRINGS, False),
    ("left", STRINGS, False),
    ("expired", STRINGS, False),  # members of `left` whose session is proven to have expired
    ("partitions", INT, False),
    ("moved", INT, False),
    ("revoked", INT, False),
    # Generations or epochs after the row before that are not in the log; null: the log starts here.
    ("skipped", INT, True),
)

OWNERSHIP = table(
    ("day", DATE, False),
    ("group", STRING, False),
    ("topic", STRING, False),
    ("topic_partition", INT, False),
    ("member", STRING, True),  # null: no owner
    ("client_id", STRING, True),
    ("host", STRING, True),
    ("epoch", INT, False),
    ("since", TIMESTAMP, False),
    ("until", TIMESTAMP, True),  # null: until the end of the log
)

COMMITS = table(
    ("day", DATE, False),
    ("group", STRING, False),
    ("topic", STRING, False),
    ("topic_partition", INT, False),
    ("commits", LONG, False),
    ("first_offset", LONG, True),
    ("last_offset", LONG, True),
    ("resets", LONG, False),  # commits of a lower offset than the commit before
    ("longest_gap_s", DOUBLE, True),
    ("deleted", LONG, False),  # tombstones
    ("first", TIMESTAMP, False),
    ("last", TIMESTAMP, False),
)

GROUPS = table(
    ("day", DATE, False),
    ("group", STRING, False),
    ("type", STRING, False),
    ("members_most", INT, False),
    ("rebalances", LONG, False),
    ("joined", LONG, False),
    ("left", LONG, False),
    ("storms", LONG, False),  # runs of consecutive rebalances
    ("rebalancing_s", DOUBLE, False),
    ("commits", LONG, False),
    ("zombies", LONG, False),  # members that own partitions without commits
    ("migration", STRING, True),  # classic, mixed or consumer; null: none of these
)

TABLES = {
    "events": EVENTS,
    "rebalances": REBALANCES,
    "ownership": OWNERSHIP,
    "commits": COMMITS,
    "groups": GROUPS,
    "quarantine": QUARANTINE,
}


@cache
def decoded_arrow() -> pa.Schema:
    """`DECODED` in Arrow's terms: times in µs, UTC."""
    return to_arrow_schema(DECODED, timezone="UTC")


def shaped(rows: DataFrame, schema: types.StructType) -> DataFrame:
    """The columns of the schema in its order and types. Nullability is not checked: files have none for Spark."""
    columns = (f.col(field.name).cast(field.dataType.simpleString()).alias(field.name) for field in schema)
    return rows.select(*columns)


_DAY_US: Final = 24 * 3600 * 1_000_000


def day_of(time: int) -> int:
    """Days since 1970 of µs since 1970, as in Arrow's and Spark's dates."""
    return time // _DAY_US
