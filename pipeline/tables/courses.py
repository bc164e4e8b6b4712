"""The course of every group, gone through once: what the tables of rebalances and of ownership are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import StructField, StructType

from pipeline.course.stream import rows_of_groups
from pipeline.tables.ownership import holding_row
from pipeline.tables.rebalances import WALKED, walked_row
from pipeline.tables.schemas import OWNERSHIP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
