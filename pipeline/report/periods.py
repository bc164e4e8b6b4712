"""What happened day by day: columns of a plot, few enough to be told apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.report.moments import calendar_day
from pipeline.report.numbers import CAUSES, STAGES, Period

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST = 400
"""Columns."""


@dataclass(slots=True)
class _Sums:
    causes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    timed: int = 0
    """Rebalances whose duration is known."""
    rebalancing_s: float = 0.0
    stages: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How many groups more are at a stage than before."""


def step_of(first: int, last: int) -> int:
    """How many days a column stands for: 1, whole weeks, or more where a log's times are far apart."""
    days = last - first + 1
    return 1 if days <= MOST else 7 * -(-days // (7 * MOST))


def periods(rebalances: DataFrame, groups: DataFrame, first: int, last: int) -> tuple[Period, ...]:
    """All columns from the first day to the last one, empty ones too.

    What lies outside of these days counts for the nearest column. A group stays at its stage until `groups` says
    otherwise. Collected are a row per column and cause, and a row per column and stage.
    """
    from pyspark.sql import functions as f

    from pipeline.tables.busy import with_busy_s

    step = step_of(first, last)
    count = (last - first) // step + 1
    sums: Mapping[int, _Sums] = {column: _Sums() for column in range(count)}
    place = f.floor((f.unix_date("day") - first) / step)
    column = f.least(f.greatest(place, f.lit(0)), f.lit(count - 1)).cast("int").alias("column")
    cause = f.when(f.col("cause").isin(*CAUSES), f.col("cause")).otherwise("unknown").alias("cause")
    counted = (
        with_busy_s(rebalances)
        .groupBy(column, cause)
        .agg(f.count("*").alias("n"), f.count("duration_s").alias("timed"), f.sum("busy_s").alias("s"))
    )
    for row in counted.collect():
        sums[row["column"]].causes[row["cause"]] += row["n"]
        sums[row["column"]].timed += row["timed"]
        sums[row["column"]].rebalancing_s += row["s"]
    for row in _stage_changes(groups).groupBy(column, "stage").agg(f.sum("change").alias("n")).collect():
        sums[row["column"]].stages[row["stage"]] += row["n"]
    standing = dict.fromkeys(STAGES, 0)
    found = []
    for number, counts in sums.items():
        rebalanced = sum(counts.causes.values())
        standing = {stage: count + counts.stages[stage] for stage, count in standing.items()}
        found.append(
            Period(
                day=calendar_day(first + number * step),
                rebalances=rebalanced,
                causes=tuple(counts.causes[cause] for cause in CAUSES),
                rebalancing_s=counts.rebalancing_s if counts.timed or not rebalanced else None,
                stages=tuple(standing.values()),
            )
        )
    return tuple(found)


def _stage_changes(groups: DataFrame) -> DataFrame:
    """`day, stage, change`: +1 where a group comes to a stage, -1 where it leaves one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    known = groups.select("day", "group", f.col("migration").alias("stage"))
    before = f.lag("stage").over(Window.partitionBy("group").orderBy("day"))
    changed = known.withColumn("before", before).where(~f.col("stage").eqNullSafe(f.col("before")))
    pairs = f.explode(
        f.array(
            f.struct(f.col("stage"), f.lit(1).alias("change")),
            f.struct(f.col("before").alias("stage"), f.lit(-1).alias("change")),
        )
    )
    return (
        changed.select("day", pairs.alias("pair")).select("day", "pair.*").where(f.col("stage").isin(*STAGES))
    )
