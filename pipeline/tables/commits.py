"""Commits of offsets: a row for each day, group and partition.

Records of a transaction count if it was committed, at their own place in the log; records of an aborted or open
transaction do not count (`coordinator.store.digest`). A tombstone ends the sequence: the first commit after it is not
a reset, however low, and no gap ends with it. A gap and a reset belong to the day of the later commit; times are the
records' times. Compaction removes records: in a compacted part, resets and commits are too few and gaps too long.

The outcome of transactions is in their markers, which are in the log after their records. A producer has one
transaction at a time, and the next marker with its id in the same partition ends it
(`coordinator.store.digest`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as f

from pipeline.tables.commit_runs import KEY
from pipeline.tables.schemas import COMMITS, shaped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def chained(runs: DataFrame, events: DataFrame) -> DataFrame:
    """The runs that count, each with the reset and the gap after the run before. Runs must not overlap."""
    in_transactions = with_outcome(runs.where(f.col("producer_id").isNotNull()), events, place="begin")
    settled = (
        in_transactions.where(f.col("outcome") == "commit")
        .drop("outcome")
        .unionByName(runs.where(f.col("producer_id").isNull()))
    )
    in_order = Window.partitionBy(*KEY).orderBy("begin")
    before = f.lag(f.struct("commits", "last_offset", "last")).over(in_order)
    follows = (f.col("before.commits") > 0) & (f.col("commits") > 0)
    reset = follows & (f.col("first_offset") < f.col("before.last_offset"))
    gap = f.when(follows, _seconds(f.col("before.last"), f.col("first")))
    return (
        settled.withColumn("before", before)
        .withColumn("resets", f.col("resets") + f.coalesce(reset.cast("long"), f.lit(0)))
        .withColumn("longest_gap_s", f.greatest("longest_gap_s", gap))
        .drop("before")
    )


def commits_by_day(runs: DataFrame) -> DataFrame:
    """The table `COMMITS` from runs of `chained`."""
    place = f.struct("partition", "begin")
    is_commit = f.col("commits") > 0
    rows = runs.groupBy("day", "group", "topic", "topic_partition").agg(
        f.sum("commits").alias("commits"),
        f.min_by("first_offset", f.when(is_commit, place)).alias("first_offset"),
        f.max_by("last_offset", f.when(is_commit, place)).alias("last_offset"),
        f.sum("resets").alias("resets"),
        f.max("longest_gap_s").alias("longest_gap_s"),
        f.sum("deleted").alias("deleted"),
        f.min("first").alias("first"),
        f.max("last").alias("last"),
    )
    return shaped(rows, COMMITS)


def _seconds(begin: Column, end: Column) -> Column:
    return (f.unix_micros(end) - f.unix_micros(begin)) / f.lit(1_000_000.0)


ENDS = ("commit", "abort")
"""The kinds of events that end a transaction."""


def with_outcome(written: DataFrame, events: DataFrame, *, place: str = "offset") -> DataFrame:
    """`written` with a column `outcome`: commit, abort, or null while the transaction is open.

    `written` has the columns `partition`, `producer_id` and `place` (named so by the argument), the place in the log;
    it has no markers.
    """
    ends = events.where(f.col("kind").isin(*ENDS)).select(
        "partition", "producer_id", f.col("offset").alias(place), f.col("kind").alias("mark")
    )
    both = written.withColumn("mark", f.lit(None).cast("string")).unionByName(ends, allowMissingColumns=True)
    later = Window.partitionBy("partition", "producer_id").orderBy(f.desc(place))
    found = both.withColumn("outcome", f.last("mark", ignorenulls=True).over(later))
    return found.where(f.col("mark").isNull()).select(*written.columns, "outcome")
