"""Ownership: who had a partition from when to when, and when nobody had it who should have.

A consumer group's log tells to the record what each member has been given and still has: partitions that it has yet
to give up are its own. A static member that is away has nothing.

A classic group's log tells what was handed out, and since when all members were there to be handed something: eager
ones have given up everything by then at the latest. So the time without an owner is a lower bound: between a member's
rejoining, or going, and that moment nothing is written. What cooperative members keep is theirs without a break; what
they lose is theirs until they are told.

Partitions of a group without members, and such as a group no longer wants, have no rows.

The course of every group, gone through once: what the tables of rebalances and of ownership are made of.
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
    """The table `OWNERSHIP` of the courses of groups (`pipeline.tables.ownership`)."""
    return courses.where(f.col("holding").isNotNull()).select("holding.*")


def holding_row(holding: Holding) -> Row:
    """A row of `OWNERSHIP`, times in µs since 1970."""
    topic, number = holding.place
    known = {name: getattr(holding, name) for name in _AS_HELD}
    return known | {"day": day_of(holding.since), "topic": topic, "topic_partition": number}


_AS_HELD = [name for name in OWNERSHIP.names if name not in ("day", "topic", "topic_partition")]


COURSES_TABLE = "courses"
COURSES = StructType([StructField("rebalance", WALKED, True), StructField("holding", OWNERSHIP, True)])
"""A row is one or the other."""


def courses(events: DataFrame) -> DataFrame:
    """The courses of all groups in the table of events, whatever order it is in, in the schema `COURSES`.

    Whoever needs them more than once had better write them down: every record of a group is gone through.
    """
    return rows_of_groups(
        events,
        COURSES,
        rebalance=lambda row: {"rebalance": walked_row(row)},
        holding=lambda row: {"holding": holding_row(row)},
    )
