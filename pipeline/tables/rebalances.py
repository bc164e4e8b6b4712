"""Rebalances: a row per generation of a classic group and per group epoch of a consumer group.

- `start`, `end`, `duration_s`: of an epoch from its record to the last member that reached it. Of a generation from
  the moment in which all members had joined, which is as much as is written, to the record: a lower bound; only a
  group's first generation is known from the first member's request on (`pipeline.course.classic`, `.consumer`).
- `cause`: conversion: to the other protocol, members and partitions as they were (and the rebalance that converting
  back makes). join, leave, expiry: members came or went; of those that went, expiry where `pipeline.tables.expiry`
  finds that they had fallen silent, else leave, whatever it was. assignor, subscription: other assignors or topics of
  members that stay. metadata: nothing of these, but other partitions than before. unknown: nothing at all changed
  that is written, or the row is the first of a group that is older than its log. `causes` has all that there are.
  A generation in which a cooperative group hands out what it withheld in the one before has the causes of that one.
- `members_before`, `joined`, `left`: against the row before. A static member that comes back is the same member. Of a
  group that is older than its log nobody is said to have joined.
- `moved`: partitions given to another member than the one that had them last. `revoked`: partitions that members who
  stay had to give up; eager ones give up everything. Both of an epoch by its target: epochs that have one target
  together have it in the row of the last.
- `skipped`: numbers that were passed over. A generation that no leader handed out, and whatever compaction took away.

Rows of several rebalances that overlap overlap, too: times must not simply be added up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pipeline.course.rows import Cause, Departure, Rebalance
from pipeline.course.stream import Row
from pipeline.tables.days import day_of
from pipeline.tables.expiry import expired
from pipeline.tables.schemas import REBALANCES
from pipeline.tables.shape import shaped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SECOND_US: Final = 1_000_000
_KEY: Final = ("group", "offset")
_DEPARTURE = StructType(
    [
        StructField("member", StringType(), False),
        StructField("since", TimestampType(), False),
        StructField("at", TimestampType(), False),
        StructField("session_timeout_ms", IntegerType(), True),
        StructField(
            "places",
            ArrayType(
                StructType(
                    [
                        StructField("topic", StringType(), False),
                        StructField("topic_partition", IntegerType(), False),
                    ]
                ),
                containsNull=False,
            ),
            False,
        ),
        StructField("expired", BooleanType(), False),
    ]
)
WALKED = StructType(
    [
        *(each for each in REBALANCES.fields if each.name not in ("cause", "expired")),
        StructField("offset", LongType(), False),
        StructField("departures", ArrayType(_DEPARTURE, containsNull=False), False),
    ]
)
"""What the records of groups tell: a row, and what its causes still depend on."""


def rebalances(courses: DataFrame, events: DataFrame) -> DataFrame:
    """The table `REBALANCES`: with the members that had fallen silent, and the causes put right.

    `courses` (`pipeline.tables.courses`) are those of `events`. They are read twice.
    """
    walked = courses.where(f.col("rebalance").isNotNull()).select("rebalance.*")
    departures = walked.select(*_KEY, f.explode("departures").alias("departure")).select(*_KEY, "departure.*")
    silent = expired(departures, events).groupBy(*_KEY).agg(f.collect_set("member").alias("silent"))
    told = f.filter("departures", lambda each: each["expired"])
    gone = f.array_union(
        f.transform(told, lambda each: each["member"]),
        f.coalesce("silent", f.array().cast("array<string>")),
    )
    all_gone = f.size("gone") == f.size("departures")
    causes = f.array_union(
        f.when(all_gone, f.array_remove("causes", Cause.LEAVE.value)).otherwise(f.col("causes")),
        f.array(f.lit(Cause.EXPIRY.value)),
    )
    in_order = f.array_intersect(f.array(*(f.lit(cause.value) for cause in Cause)), causes)
    rows = (
        walked.join(silent, list(_KEY), "left")
        .withColumn("gone", gone)
        .withColumn("causes", f.when(f.size("gone") > 0, in_order).otherwise(f.col("causes")))
        .withColumn("cause", f.element_at("causes", 1))
        .withColumn("expired", f.array_sort(f.array_intersect("left", "gone")))
    )
    return shaped(rows, REBALANCES)


def walked_row(rebalance: Rebalance) -> Row:
    """A row of `WALKED`, times in µs since 1970."""
    start, end = rebalance.start, rebalance.end
    begins = start if start is not None else end
    return {
        "day": day_of(begins or 0),
        "group": rebalance.group,
        "protocol": rebalance.protocol.value,
        "epoch": rebalance.epoch,
        "start": start,
        "end": end,
        "duration_s": None if start is None or end is None else max(end - start, 0) / _SECOND_US,
        "causes": [cause.value for cause in rebalance.causes],
        "assignor": rebalance.assignor,
        "members_before": rebalance.members_before,
        "members": rebalance.members,
        "joined": list(rebalance.joined),
        "left": list(rebalance.left),
        "partitions": rebalance.partitions,
        "moved": rebalance.moved,
        "revoked": rebalance.revoked,
        "skipped": rebalance.skipped,
        "offset": rebalance.offset,
        "departures": [_departure(each) for each in rebalance.departures],
    }


def _departure(departure: Departure) -> Row:
    return {
        "member": departure.member,
        "since": departure.since,
        "at": departure.at,
        "session_timeout_ms": departure.session_timeout_ms,
        "places": [{"topic": topic, "topic_partition": number} for topic, number in departure.places],
        "expired": departure.expired,
    }
