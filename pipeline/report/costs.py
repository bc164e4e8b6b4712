"""The costs of rebalances: the worst groups, and each protocol."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as f

from pipeline.report.numbers import PROTOCOLS, SPANS_S, STAGES, GroupCost, ProtocolCost
from pipeline.tables.rebalances import total_busy_s, with_busy_s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST = 20
"""The number of groups shown."""


def gaps(ownership: DataFrame, rebalances: DataFrame, end_micros: int) -> DataFrame:
    """`group, protocol, length_s`: the times in which a partition had no owner although it should have had one.

    A time without owner counts for the protocol of the last rebalance that started before it, or of the group's first
    rebalance. If it is still open, it ends at `end_micros`, the end of the log.
    """
    begun = f.unix_micros(f.coalesce("start", "end", f.col("day").cast("timestamp")))
    until = f.coalesce(f.unix_micros("until"), f.lit(end_micros))
    since = f.unix_micros("since")
    marks = rebalances.select(
        "group",
        begun.alias("at"),
        f.lit(0).alias("turn"),
        f.col("protocol").alias("rebalanced"),
        f.lit(None).cast("double").alias("length_s"),
    )
    nobodys = ownership.where(f.col("member").isNull()).select(
        "group",
        since.alias("at"),
        f.lit(1).alias("turn"),
        f.lit(None).cast("string").alias("rebalanced"),
        (f.greatest(until - since, f.lit(0)) / 1e6).alias("length_s"),
    )
    in_order = Window.partitionBy("group").orderBy("at", "turn")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    first = f.first("rebalanced", ignorenulls=True).over(
        in_order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    )
    latest = f.last("rebalanced", ignorenulls=True).over(so_far)
    return (
        marks.unionByName(nobodys)
        .withColumn("protocol", f.coalesce(latest, first, f.lit("unknown")))
        .where(f.col("turn") == 1)
        .select("group", "protocol", "length_s")
    )


def worst_groups(groups: DataFrame, rebalances: DataFrame, gaps: DataFrame) -> tuple[GroupCost, ...]:
    """The groups that rebalanced, at most MOST, by total duration and number of rebalances, descending."""
    costs = groups.groupBy("group").agg(
        f.max_by("type", "day").alias("type"),
        f.max_by("migration", "day").alias("stage"),
        f.sum("rebalances").alias("rebalances"),
        f.sum("rebalancing_s").alias("rebalancing_s"),
        f.sum("joined").alias("joined"),
        f.sum("left").alias("left"),
        f.sum("storms").alias("storms"),
        f.max("zombies").alias("zombies"),
        f.max("members_most").alias("members_most"),
    )
    worst = (
        costs.where("rebalances > 0")
        .orderBy(f.desc("rebalancing_s"), f.desc("rebalances"), "group")
        .limit(MOST)
        .collect()
    )
    without: dict[str, float] = {}
    timed: set[str] = set()
    if worst:
        is_shown = f.col("group").isin([row["group"] for row in worst])
        without = dict(gaps.where(is_shown).groupBy("group").agg(f.sum("length_s")).collect())
        known = rebalances.where(is_shown & f.col("duration_s").isNotNull())
        timed = {row["group"] for row in known.select("group").distinct().collect()}
    found = []
    for row in worst:
        cost = row.asDict() | {"without_owner_s": without.get(row["group"], 0.0)}
        cost["stage"] = row["stage"] if row["stage"] in STAGES else None
        cost["rebalancing_s"] = row["rebalancing_s"] if row["group"] in timed else None
        found.append(GroupCost(**cost))
    return tuple(found)


def protocol_costs(rebalances: DataFrame, gaps: DataFrame) -> tuple[ProtocolCost, ...]:
    """A row for each of PROTOCOLS with rebalances."""
    counted = (
        with_busy_s(rebalances)
        .groupBy("protocol")
        .agg(
            f.countDistinct("group").alias("groups"),
            f.count("*").alias("rebalances"),
            total_busy_s().alias("rebalancing_s"),
            f.percentile_approx("duration_s", [0.5, 0.95], 10_000).alias("parts"),
            f.max("duration_s").alias("longest_s"),
            f.sum("moved").alias("moved"),
            f.sum("revoked").alias("revoked"),
        )
    )
    costs = {row["protocol"]: row for row in counted.collect()}
    lengths = gaps.groupBy("protocol").agg(f.sum("length_s"), *_classes(f.col("length_s")))
    without = {row[0]: (row[1], tuple(row[2:])) for row in lengths.collect()}
    found = []
    for protocol in PROTOCOLS:
        if (row := costs.get(protocol)) is None:
            continue
        known = row.asDict()
        known["median_s"], known["p95_s"] = known.pop("parts") or (None, None)
        seconds, interruptions = without.get(protocol, (0.0, (0,) * (len(SPANS_S) + 1)))
        found.append(ProtocolCost(**known, without_owner_s=seconds, interruptions=interruptions))
    return tuple(found)


def _classes(length_s: Column) -> list[Column]:
    """The number of lengths in each class; SPANS_S are the boundaries between the classes."""
    bounds = [0.0, *SPANS_S, float("inf")]
    return [
        f.count_if((length_s >= low) & (length_s < high)).alias(f"from_{low}")
        for low, high in pairwise(bounds)
    ]
