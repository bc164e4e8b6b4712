"""The schemas of an audit's tables, versioned with the others: columns may be added, never renamed.

`audit` has a row for every group and destination, `audit_regexes` one for every regex of a group and the library that
matches it now. What could not be read stands in `quarantine`, in the schema of all quarantines.
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from pipeline.tables.schemas import QUARANTINE


def _table(*columns: tuple[str, DataType, bool]) -> StructType:
    return StructType([StructField(name, kind, nullable) for name, kind, nullable in columns])


TEXTS = ArrayType(StringType(), containsNull=False)

FINDING = _table(
    ("rule", StringType(), False),
    ("level", StringType(), False),  # blocker, warning or info
    ("message", StringType(), False),
    ("remedy", StringType(), False),
    ("source", StringType(), False),  # where the rule comes from
    ("member", StringType(), True),  # null: the whole group, or several
    ("members", TEXTS, False),
)

DRY_RUN = _table(
    ("assignor", StringType(), False),
    ("side", StringType(), False),  # client or broker
    ("procedure", StringType(), False),  # eager, cooperative or consumer
    ("rebalances", IntegerType(), False),
    ("rests", BooleanType(), False),
    ("owned", IntegerType(), False),  # partitions that have an owner now
    ("moved", IntegerType(), False),  # in all rebalances together
    ("minimum_moved", IntegerType(), True),  # by any even assignment; null where that has no one meaning
    ("revoked", IntegerType(), False),
    ("spread_before", IntegerType(), False),  # most minus least partitions of a member
    ("spread_after", IntegerType(), False),
)

AUDIT = _table(
    ("source", StringType(), False),  # the snapshot file, or the log directories
    ("cluster", StringType(), True),
    ("group", StringType(), False),
    ("destination", StringType(), False),  # cooperative or consumer
    ("type", StringType(), False),
    ("state", StringType(), False),
    ("protocol_type", StringType(), True),
    ("protocol", StringType(), True),  # the assignor in use
    ("epoch", IntegerType(), True),  # generation or group epoch
    ("members", IntegerType(), False),
    ("topics", IntegerType(), False),  # that the members own or subscribe to
    ("partitions", IntegerType(), False),  # that have an owner
    ("libraries", TEXTS, False),  # as far as they are known
    ("arrived", BooleanType(), False),  # the group is there already
    ("verdict", StringType(), False),  # ready, warnings or blocked
    ("blocked_by", TEXTS, False),  # rules, each once, sorted
    ("warned_by", TEXTS, False),
    ("findings", ArrayType(FINDING, containsNull=False), False),
    ("path", StringType(), True),  # the way that a plan takes: two bounces, rolling upgrade, …
    ("restarts", IntegerType(), True),  # of members, in all steps together
    ("rebalances", IntegerType(), True),  # that the migration costs
    ("moved", IntegerType(), True),
    ("without_owner_s", DoubleType(), True),  # partition-seconds that the migration costs
    ("dry_run", DRY_RUN, True),  # the destination's assignor on the group as it is
    ("dry_run_problem", StringType(), True),  # why there is none, or where the real assignor would fail
    (
        "restart_now_s",
        DoubleType(),
        True,
    ),  # partition-seconds lost by a restart of one member today (migration.restart_cost)
    ("restart_then_s", DoubleType(), True),  # and at the destination
    ("gain_s", DoubleType(), True),  # the difference
    ("risk", DoubleType(), True),  # see pipeline.audit.tables
    ("score", DoubleType(), True),
    ("rank", IntegerType(), True),  # from 1 per destination; null: blocked or arrived
)

AUDIT_REGEXES = _table(
    ("source", StringType(), False),
    ("cluster", StringType(), True),
    ("group", StringType(), False),
    ("pattern", StringType(), False),
    ("members", IntegerType(), False),  # that subscribe to it; 0 where it was only told
    ("library", StringType(), True),  # that matches it now; null: not known, or the broker does
    ("valid", BooleanType(), False),  # RE2/J takes it
    ("reason", StringType(), True),  # why not
    ("danger", StringType(), True),  # to the broker
    ("literal", BooleanType(), False),  # to librdkafka no regex at all
    ("client_reason", StringType(), True),  # why the client's engine refuses it
    ("flagged", TEXTS, False),  # constructs whose meaning is not certain
    ("stands", BooleanType(), False),  # nothing is known to be lost or gained
    ("broker_topics", LongType(), True),  # how many topics the broker matches
    ("client_topics", LongType(), True),
    ("gained", TEXTS, True),  # topics that the broker matches and the client does not
    ("lost", TEXTS, True),
    ("rewritten", StringType(), True),  # what to subscribe to instead
    ("java_valid", BooleanType(), True),  # java.util.regex.Pattern.compile takes it; null: it was not asked
    ("java_topics", LongType(), True),  # how many topics it matches, by Java's own engine (rlike)
    ("java_gained", TEXTS, True),  # topics that RE2 matches and Java's own engine does not
    ("java_lost", TEXTS, True),
    ("java_unasked", StringType(), True),  # why it was not asked
)

TABLES = {"audit": AUDIT, "audit_regexes": AUDIT_REGEXES, "quarantine": QUARANTINE}
