"""The schemas of an audit's tables, versioned with the others: columns may be added, never renamed. `audit` has a
row for every group and destination, `audit_regexes` one for every regex of a group and the library that matches it
now. `quarantine` has the files and groups that could not be read."""

from pyspark.sql.types import ArrayType

from pipeline.tables.schemas import BOOLEAN, DOUBLE, INT, LONG, QUARANTINE, STRING, STRINGS, table

FINDING = table(
    ("rule", STRING, False),
    ("level", STRING, False),  # blocker, warning or info
    ("message", STRING, False),
    ("remedy", STRING, False),
    ("source", STRING, False),  # where the rule comes from
    ("member", STRING, True),  # null: the whole group, or several members
    ("members", STRINGS, False),
)

DRY_RUN = table(
    ("assignor", STRING, False),
    ("side", STRING, False),  # client or broker
    ("procedure", STRING, False),  # eager, cooperative or consumer
    ("rebalances", INT, False),
    ("rests", BOOLEAN, False),
    ("owned", INT, False),  # partitions that have an owner now
    ("moved", INT, False),  # in all rebalances together
    ("minimum_moved", INT, True),  # by any even assignment; null if that is ambiguous
    ("revoked", INT, False),
    ("spread_before", INT, False),  # most minus least partitions of a member
    ("spread_after", INT, False),
)

AUDIT = table(
    ("source", STRING, False),  # the snapshot file, or the log directories
    ("cluster", STRING, True),
    ("group", STRING, False),
    ("destination", STRING, False),  # cooperative or consumer
    ("type", STRING, False),
    ("state", STRING, False),
    ("protocol_type", STRING, True),
    ("protocol", STRING, True),  # the assignor in use
    ("epoch", INT, True),  # generation or group epoch
    ("members", INT, False),
    ("topics", INT, False),  # topics that the members own or subscribe to
    ("partitions", INT, False),  # partitions that have an owner
    ("libraries", STRINGS, False),  # the known ones
    ("arrived", BOOLEAN, False),  # the group is already at the destination
    ("verdict", STRING, False),  # ready, warnings, blocked or unknown
    ("blocked_by", STRINGS, False),  # rules, each once, sorted
    ("warned_by", STRINGS, False),
    ("findings", ArrayType(FINDING, containsNull=False), False),
    ("path", STRING, True),  # the migration path of a plan: two bounces, rolling upgrade, …
    ("restarts", INT, True),  # restarts of members, in all steps together
    ("rebalances", INT, True),  # rebalances of the migration
    ("moved", INT, True),
    ("without_owner_s", DOUBLE, True),  # partition-seconds that the migration costs
    ("dry_run", DRY_RUN, True),  # a dry run of the destination's assignor for the current group
    ("dry_run_problem", STRING, True),  # why there is no dry run, or where the real assignor would fail
    ("restart_now_s", DOUBLE, True),  # partition-seconds lost by a restart of one member today
    ("restart_then_s", DOUBLE, True),  # partition-seconds lost by a restart of one member at the destination
    ("gain_s", DOUBLE, True),  # the difference between the two
    ("risk", DOUBLE, True),  # see pipeline.audit.run.ranked
    ("score", DOUBLE, True),
    ("rank", INT, True),  # from 1 per destination; null: blocked, unknown or arrived
)

AUDIT_REGEXES = table(
    ("source", STRING, False),
    ("cluster", STRING, True),
    ("group", STRING, False),
    ("pattern", STRING, False),
    ("members", INT, False),  # members that subscribe to it; 0 if it was only declared
    ("library", STRING, True),  # the library that matches it now; null: unknown, or the broker matches it
    ("valid", BOOLEAN, False),  # RE2/J accepts it
    ("reason", STRING, True),  # why RE2/J refuses it
    ("danger", STRING, True),  # the danger to the broker
    ("literal", BOOLEAN, False),  # not a regex for librdkafka
    ("client_reason", STRING, True),  # why the client's engine refuses it
    ("flagged", STRINGS, False),  # constructs whose meaning is uncertain
    ("stands", BOOLEAN, False),  # no known topic is lost or gained
    ("broker_topics", LONG, True),  # number of topics that the broker matches
    ("client_topics", LONG, True),
    ("gained", STRINGS, True),  # topics that the broker matches and the client does not
    ("lost", STRINGS, True),
    ("rewritten", STRING, True),  # the regex to subscribe to instead
    ("java_valid", BOOLEAN, True),  # java.util.regex.Pattern.compile accepts it; null: it was not tried
    ("java_topics", LONG, True),  # number of topics that Java's own engine (rlike) matches
    ("java_gained", STRINGS, True),  # topics that RE2 matches and Java's own engine does not
    ("java_lost", STRINGS, True),
    ("java_unasked", STRING, True),  # why it was not tried
)

TABLES = {"audit": AUDIT, "audit_regexes": AUDIT_REGEXES, "quarantine": QUARANTINE}
