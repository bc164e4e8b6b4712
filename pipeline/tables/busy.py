"""How long groups were rebalancing: rebalances that overlap take the time once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SECOND_US = 1_000_000


def with_busy_s(rebalances: DataFrame) -> DataFrame:
    """REBALANCES with `busy_s`, the part of `duration_s` in which no rebalance of the group that began before it ran.

    Its sum over rows of a group is the time in which the group rebalanced, where durations can only be added up to
    more: epochs that arrive together end together. 0 where the duration is not known.
    """
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
    """The sum of `busy_s` over rows of `with_busy_s`, an aggregate: 0 where there are none, null where there are some
    and no duration is known."""
    nothing = f.when(f.count(f.lit(1)) == 0, f.lit(0.0))
    return f.when(f.count("duration_s") > 0, f.sum("busy_s")).otherwise(nothing)
