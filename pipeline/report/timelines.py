"""The rebalances of one group in order, a stretch of them at a time where there are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.report.moments import moment
from pipeline.report.numbers import CAUSES, GroupTimeline, Mark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST = 120
"""Marks that a drawing can tell apart."""


def timeline_of(rebalances: DataFrame, group: str) -> GroupTimeline:
    """A group's rebalances by time and epoch, at most MOST marks of as many rebalances each, but for the last."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    from pipeline.tables.busy import with_busy_s

    own = with_busy_s(rebalances.where(f.col("group") == group))
    each = -(-own.count() // MOST) or 1
    begun = f.unix_micros(f.coalesce("start", "end", f.col("day").cast("timestamp")))
    rows = own.select(
        "group",
        begun.alias("begun"),
        f.coalesce(f.unix_micros("end"), begun).alias("ended"),
        "epoch",
        "protocol",
        "assignor",
        "members",
        f.when(f.col("cause").isin(*CAUSES), f.col("cause")).otherwise("unknown").alias("cause"),
        f.size("joined").alias("joined"),
        f.size("left").alias("left"),
        "moved",
        "revoked",
        (f.coalesce("duration_s", f.lit(0.0)) if each == 1 else f.col("busy_s")).alias("took_s"),
    )
    place = f.row_number().over(Window.partitionBy("group").orderBy("begun", "ended", "epoch"))
    marks = (
        rows.withColumn("place", place)
        .groupBy(f.floor((f.col("place") - 1) / each).alias("mark"))
        .agg(
            f.min("begun").alias("begun"),
            f.max("ended").alias("ended"),
            f.count("*").alias("rebalances"),
            f.array(*(f.count_if(f.col("cause") == cause) for cause in CAUSES)).alias("causes"),
            *(f.max_by(name, "place").alias(name) for name in ("protocol", "assignor", "epoch", "members")),
            *(f.sum(name).alias(name) for name in ("joined", "left", "moved", "revoked")),
            f.sum("took_s").alias("rebalancing_s"),
        )
        .orderBy("mark")
    )
    return GroupTimeline(
        group=group,
        marks=tuple(
            Mark(
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
            for row in marks.collect()
        ),
    )
