"""Rebalances and ownership, from the course of every group, which is computed once.

Rebalances: a row per generation of a classic group and per group epoch of a consumer group.

- `start`, `end`, `duration_s`: an epoch lasts from its record until the last member has reached it. A generation
  lasts from the time at which all members had joined, the earliest one in the log, to its record: a lower bound. Only
  a group's first generation starts with the first member's request (`pipeline.rebalances.classic`, `.consumer`).
- `cause`, `causes`: see `pipeline.rebalances.causes`.
- `members_before`, `joined`, `left`: compared with the row before. A static member that returns is the same member. In
  a group that is older than its log no member counts as joined.
- `moved`: partitions assigned to another member than their last owner. `revoked`: partitions that members that stay
  had to revoke; eager members revoke everything. For an epoch both numbers are of its target: if epochs share a
  target, the last of them has the numbers.
- `skipped`: the number of missing generations or epochs: without an assignment by a leader, or removed by compaction.

The times of rebalances may overlap: do not add up durations. `busy_s` counts overlapping time once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StructField, StructType

from pipeline.rebalances.causes import with_expiry
from pipeline.rebalances.events import Holding, RebalanceRow
from pipeline.rebalances.stream import rows_of_groups
from pipeline.tables.schemas import (
    BOOLEAN,
    INT,
    LONG,
    OWNERSHIP,
    REBALANCES,
    STRING,
    TIMESTAMP,
    TableRow,
    day_of,
    shaped,
    table,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SECOND_US: Final = 1_000_000
_DEPARTURE = table(
    ("member", STRING, False),
    ("since", TIMESTAMP, False),
    ("at", TIMESTAMP, False),
    ("session_timeout_ms", INT, True),
    (
        "places",
        ArrayType(table(("topic", STRING, False), ("topic_partition", INT, False)), containsNull=False),
        False,
    ),
    ("expired", BOOLEAN, False),
)
WALKED = StructType(
    [
        *(column for column in REBALANCES if column.name not in ("cause", "expired")),
        *table(("offset", LONG, False), ("departures", ArrayType(_DEPARTURE, containsNull=False), False)),
    ]
)
"""Rows from groups' records, with the columns from which the causes are corrected."""


def rebalances(courses: DataFrame, events: DataFrame) -> DataFrame:
    """The table `REBALANCES`, with expired members and corrected causes. `courses` must be computed from
    `events`. They are read twice."""
    walked = courses.where(f.col("rebalance").isNotNull()).select("rebalance.*")
    return shaped(with_expiry(walked, events), REBALANCES)


def walked_row(rebalance: RebalanceRow) -> TableRow:
    """A row of `WALKED`, times in µs since 1970."""
    start, end = rebalance.start, rebalance.end
    row = {name: getattr(rebalance, name) for name in _AS_WALKED}
    row["day"] = day_of((end if start is None else start) or 0)
    row["duration_s"] = None if start is None or end is None else max(end - start, 0) / _SECOND_US
    row["departures"] = [
        {name: getattr(gone, name) for name in _DEPARTURE.names}
        | {"places": [{"topic": topic, "topic_partition": number} for topic, number in gone.places]}
        for gone in rebalance.departures
    ]
    return row


_AS_WALKED = [name for name in WALKED.names if name not in ("day", "duration_s", "departures")]


def with_busy_s(rebalances: DataFrame) -> DataFrame:
    """REBALANCES with `busy_s`, the part of `duration_s` in which no earlier rebalance of the group ran. The
    sum over the rows of a group is the time in which it rebalanced. Durations add up to more, because epochs
    overlap. 0 if the duration is unknown."""
    in_order = Window.partitionBy("group").orderBy(f.unix_micros("start"), f.unix_micros("end"), "epoch")
    ended = f.max(f.when(f.col("duration_s").isNotNull(), f.unix_micros("end"))).over(
        in_order.rowsBetween(Window.unboundedPreceding, -1)
    )
    begun = f.greatest(f.unix_micros("start"), ended)
    alone = f.greatest(f.unix_micros("end") - begun, f.lit(0)) / f.lit(float(_SECOND_US))
    return rebalances.withColumn(
        "busy_s", f.when(f.col("duration_s").isNotNull(), alone).otherwise(f.lit(0.0))
    )


def total_busy_s() -> Column:
    """An aggregate: the sum of `busy_s` over rows of `with_busy_s`. 0 without rows; null if there are rows and none
    has a known duration."""
    nothing = f.when(f.count(f.lit(1)) == 0, f.lit(0.0))
    return f.when(f.count("duration_s") > 0, f.sum("busy_s")).otherwise(nothing)


def ownership(courses: DataFrame) -> DataFrame:
    """The table `OWNERSHIP` from the courses of groups: the owner of a partition over time, and the times
    without one although it should have one. A consumer group's log contains, in its records, the partitions
    of each member at any time: a member still owns partitions that it must revoke and has not revoked. A
    static member that is away owns none. A classic group's log contains the assignments, and the time at
    which all members had joined: eager members have revoked everything by then. So the time without an owner
    is a lower bound: nothing is written between a member's rejoining, or departure, and this time.
    Cooperative members own the partitions that they keep without a break, and the partitions that they lose
    until they revoke them. Partitions of a group without members, and partitions that a group no longer
    subscribes to, have no rows."""
    return courses.where(f.col("holding").isNotNull()).select("holding.*")


def holding_row(holding: Holding) -> TableRow:
    """A row of `OWNERSHIP`, times in µs since 1970."""
    topic, number = holding.place
    known = {name: getattr(holding, name) for name in _AS_HELD}
    return known | {"day": day_of(holding.since), "topic": topic, "topic_partition": number}


_AS_HELD = [name for name in OWNERSHIP.names if name not in ("day", "topic", "topic_partition")]


COURSES_TABLE = "courses"
COURSES = StructType([StructField("rebalance", WALKED, True), StructField("holding", OWNERSHIP, True)])
"""Each row has one of the two columns."""


def courses(events: DataFrame) -> DataFrame:
    """The courses of all groups in the table of events, in any order, in the schema `COURSES`. Cache the
    result if you need it more than once: every record of a group is processed."""
    return rows_of_groups(
        events,
        COURSES,
        rebalance=lambda row: {"rebalance": walked_row(row)},
        holding=lambda row: {"holding": holding_row(row)},
    )
