"""Ownership: the owner of a partition over time, and the times without one although it should have one.

A consumer group's log contains, in its records, the partitions of each member at any time: a member still owns
partitions that it must revoke and has not revoked. A static member that is away owns none.

A classic group's log contains the assignments, and the time at which all members had joined: eager members have
revoked everything by then. So the time without an owner is a lower bound: nothing is written between a member's
rejoining, or departure, and this time. Cooperative members own the partitions that they keep without a break, and the
partitions that they lose until they revoke them.

Partitions of a group without members, and partitions that a group no longer subscribes to, have no rows.

The course of every group, computed once, is the source of the tables of rebalances and of ownership.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import StructField, StructType

from pipeline.rebalances.events import Holding
from pipeline.rebalances.stream import Row, rows_of_groups
from pipeline.tables.rebalances import WALKED, walked_row
from pipeline.tables.schemas import OWNERSHIP, day_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def ownership(courses: DataFrame) -> DataFrame:
    """The table `OWNERSHIP` from the courses of groups (`pipeline.tables.ownership`)."""
    return courses.where(f.col("holding").isNotNull()).select("holding.*")


def holding_row(holding: Holding) -> Row:
    """A row of `OWNERSHIP`, times in µs since 1970."""
    topic, number = holding.place
    known = {name: getattr(holding, name) for name in _AS_HELD}
    return known | {"day": day_of(holding.since), "topic": topic, "topic_partition": number}


_AS_HELD = [name for name in OWNERSHIP.names if name not in ("day", "topic", "topic_partition")]


COURSES_TABLE = "courses"
COURSES = StructType([StructField("rebalance", WALKED, True), StructField("holding", OWNERSHIP, True)])
"""Each row has one of the two columns."""


def courses(events: DataFrame) -> DataFrame:
    """The courses of all groups in the table of events, in any order, in the schema `COURSES`.

    Cache the result if you need it more than once: every record of a group is processed.
    """
    return rows_of_groups(
        events,
        COURSES,
        rebalance=lambda row: {"rebalance": walked_row(row)},
        holding=lambda row: {"holding": holding_row(row)},
    )
