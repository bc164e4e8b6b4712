"""The rebalances of one group in order, a stretch of them at a time where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.report.moments import moment
from pipeline.report.numbers import CAUSES, GroupTimeline, Mark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MOST = 120
"""Marks that a drawing can tell apart."""


def timeline_of(rebalances: DataFrame, group: str) -> GroupTimeline:
    """A group's rebalances by time and epoch, at most MOST marks of as many rebalances each, but for the last."""
    (timeline,) = timelines_of(rebalances, [group])
    return timeline


def timelines_of(rebalances: DataFrame, groups: Sequence[str]) -> tuple[GroupTimeline, ...]:
    """The timelines of some groups, in their order."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    from pipeline.tables.busy import with_busy_s

    own = with_busy_s(rebalances.where(f.col("group").isin(*groups)))
    begun = f.unix_micros(f.coalesce("start", "end", f.col("day").cast("timestamp")))
    in_order = Window.partitionBy("group").orderBy("begun", "ended", "epoch")
    each = f.ceil(f.count("*").over(Window.partitionBy("group")) / MOST)
    rows = (
        own.withColumn("begun", begun)
        .withColumn("ended", f.coalesce(f.unix_micros("end"), "begun"))
        .withColumn("place", f.row_number().over(in_order))
        .withColumn("each", each)
        .withColumn("mark", f.floor((f.col("place") - 1) / f.col("each")))
        .withColumn("cause", f.when(f.col("cause").isin(*CAUSES), f.col("cause")).otherwise("unknown"))
        .withColumn(
            "took_s",
            f.when(f.col("each") == 1, f.col("duration_s")).when(
                f.col("duration_s").isNotNull(), f.col("busy_s")
            ),
        )
    )
    marks = (
        rows.groupBy("group", "mark")
        .agg(
            f.min("begun").alias("begun"),
            f.max("ended").alias("ended"),
            f.count("*").alias("rebalances"),
            f.array(*(f.count_if(f.col("cause") == cause) for cause in CAUSES)).alias("causes"),
            *(f.max_by(name, "place").alias(name) for name in ("protocol", "assignor", "epoch", "members")),
            *(f.sum(f.size(name)).alias(name) for name in ("joined", "left")),
            *(f.sum(name).alias(name) for name in ("moved", "revoked")),
            f.sum("took_s").alias("rebalancing_s"),
        )
        .orderBy("group", "mark")
    )
    found: dict[str, list[Mark]] = {group: [] for group in groups}
    for row in marks.collect():
        found[row["group"]].append(_mark(row))
    return tuple(GroupTimeline(group=group, marks=tuple(found[group])) for group in groups)


def _mark(row: Row) -> Mark:
    return Mark(
        start=moment(row["begun"]),
        end=moment(row["ended"]),
        rebalances=row["rebalances"],
        causes=tuple(row["causes"]),
        protocol=row["protocol"],
        assignor=row["assignor"],
        epoch=row["epoch"],
        members=row["members"],
        joined=row["joined"],
        left=row["left"],
        moved=row["moved"],
        revoked=row["revoked"],
        rebalancing_s=row["rebalancing_s"],
    )
