"""Rebalances and ownership, from the course of every group, which is computed once. An epoch lasts from its record
until the last member has reached it; a generation from the time at which all members had joined to its record: a
lower bound, except for a group's first (`groups.history.classic`, `.consumer`). `joined` and `left` are
compared with the row before; a static member that returns is the same member. `moved` counts partitions assigned to
another member than their last owner; `revoked` those that members that stay had to revoke. If epochs share a
target, the last of them has both numbers. `skipped`: generations or epochs without an assignment, or removed by
compaction. The times of rebalances may overlap: do not add up durations. `busy_s` counts overlapping time once."""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StructField, StructType

from groups.history.events import Holding, PastRebalance
from pipeline.tables import schemas
from pipeline.tables.courses import rows_of_groups
from pipeline.tables.departures import SOUGHT, departures_row, with_verdicts

_SECOND_US: Final = 1_000_000
WALKED = StructType(
    [
        *(column for column in schemas.REBALANCES if column.name not in ("cause", "expired")),
        *schemas.table(
            ("offset", schemas.LONG, False),
            ("departures", schemas.STRING, True),
            ("sought", ArrayType(SOUGHT, containsNull=False), False),
        ),
    ]
)
"""Rows from groups' records, with the columns from which the causes are corrected."""


def rebalances(courses: DataFrame, events: DataFrame) -> DataFrame:
    """The table `REBALANCES`, with expired members and the causes of departures. `courses` are those of `events`."""
    walked = courses.where(f.col("rebalance").isNotNull()).select("rebalance.*")
    return schemas.shaped(with_verdicts(walked, events), schemas.REBALANCES)


def walked_row(rebalance: PastRebalance) -> schemas.TableRow:
    """A row of `WALKED`, times in µs since 1970."""
    start, end = rebalance.start, rebalance.end
    row = {name: getattr(rebalance, name) for name in _AS_WALKED}
    row["day"] = schemas.day_of((end if start is None else start) or 0)
    row["duration_s"] = None if start is None or end is None else max(end - start, 0) / _SECOND_US
    return row | departures_row(rebalance.departures)


_AS_WALKED = [name for name in WALKED.names if name not in ("day", "duration_s", "departures", "sought")]


def with_busy_s(rebalances: DataFrame) -> DataFrame:
    """REBALANCES with `busy_s`, the part of `duration_s` in which no earlier rebalance of the group ran, 0 if it is
    unknown: the sum over the rows of a group is the time in which it rebalanced."""
    in_order = Window.partitionBy("group").orderBy(f.unix_micros("start"), f.unix_micros("end"), "epoch")
    ended = f.max(f.when(f.col("duration_s").isNotNull(), f.unix_micros("end"))).over(
        in_order.rowsBetween(Window.unboundedPreceding, -1)
    )
    begun = f.greatest(f.unix_micros("start"), ended)
    alone = f.greatest(f.unix_micros("end") - begun, f.lit(0)) / f.lit(float(_SECOND_US))
    busy_s = f.when(f.col("duration_s").isNotNull(), alone).otherwise(f.lit(0.0))
    return rebalances.withColumn("busy_s", busy_s)


def total_busy_s() -> Column:
    """An aggregate: the sum of `busy_s`. 0 without rows; null if there are rows and none has a known duration."""
    nothing = f.when(f.count(f.lit(1)) == 0, f.lit(0.0))
    return f.when(f.count("duration_s") > 0, f.sum("busy_s")).otherwise(nothing)


def ownership(courses: DataFrame) -> DataFrame:
    """The table `OWNERSHIP` from the courses of groups: the owner of a partition over time, and the times without
    one although it should have one. In a consumer group a member still owns partitions that it must revoke and has
    not revoked; a static member that is away owns none. In a classic group eager members have revoked everything by
    the time at which all members had joined, so the time without an owner is a lower bound; cooperative members own
    what they keep without a break, and what they lose until they revoke it. Partitions that no member should have are
    left out."""
    return courses.where(f.col("holding").isNotNull()).select("holding.*")


def holding_row(holding: Holding) -> schemas.TableRow:
    """A row of `OWNERSHIP`, times in µs since 1970."""
    topic, number = holding.place
    known = {name: getattr(holding, name) for name in _AS_HELD}
    return known | {"day": schemas.day_of(holding.since), "topic": topic, "topic_partition": number}


_AS_HELD = [name for name in schemas.OWNERSHIP.names if name not in ("day", "topic", "topic_partition")]


COURSES_TABLE = "courses"
COURSES = StructType(
    [StructField("rebalance", WALKED, True), StructField("holding", schemas.OWNERSHIP, True)]
)
"""Each row has one of the two columns."""


def courses(events: DataFrame) -> DataFrame:
    """The courses of all groups in the table of events, in any order, in the schema `COURSES`."""
    return rows_of_groups(
        events,
        COURSES,
        rebalance=lambda row: {"rebalance": walked_row(row)},
        holding=lambda row: {"holding": holding_row(row)},
    )
