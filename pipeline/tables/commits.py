"""Commits of offsets: a row for each day, group and partition.

What a transaction wrote counts if it was committed, by its own place in the log; of one that was aborted or is open
nothing does (`coordinator.storage.digest`). A tombstone ends the sequence: the first commit behind one is no reset,
however low, and no gap ends with it. A gap and a reset belong to the day of the later commit; times are those of the
records. What compaction took away is not there: resets and commits of a compacted stretch are too few, gaps too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as f

from pipeline.tables.commit_runs import OFFSET, RUNS, commit_runs, single_runs
from pipeline.tables.schemas import COMMITS
from pipeline.tables.shape import shaped
from pipeline.tables.transactions import with_outcome

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KEY = ("partition", "group", "topic", "topic_partition")


def commits(events: DataFrame) -> DataFrame:
    """The table `COMMITS` of all events."""
    return commits_of_runs(commit_runs(events), events)


def commits_of_runs(runs: DataFrame, events: DataFrame) -> DataFrame:
    """The table `COMMITS`, where the events have been brought down to runs already."""
    settled = _settled(runs, events)
    chained = _chained(settled)
    whole = chained.where(~f.col("overlaps")).drop("overlaps")
    mixed = chained.where("overlaps").select(*_KEY).distinct()
    again = single_runs(_known(events).join(f.broadcast(mixed), list(_KEY), "left_semi"))
    apart = _chained(_settled(again.dropDuplicates(["partition", "begin"]), events)).drop("overlaps")
    return _by_day(whole.unionByName(apart))


def _known(events: DataFrame) -> DataFrame:
    return events.where(f.col("kind") == OFFSET)


def _settled(runs: DataFrame, events: DataFrame) -> DataFrame:
    """The runs without those of transactions that were not committed."""
    plain = runs.where(f.col("producer_id").isNull())
    of_transactions = runs.where(f.col("producer_id").isNotNull())
    committed = with_outcome(of_transactions, events, place="begin").where(f.col("outcome") == "commit")
    return plain.unionByName(committed.drop("outcome"))


def _chained(runs: DataFrame) -> DataFrame:
    """Each run with what lies between it and the one before; `overlaps`: the key's runs do not follow one another."""
    key = Window.partitionBy(*_KEY)
    in_order = key.orderBy("begin", "end")
    before = f.lag(f.struct("commits", "last_offset", "last")).over(in_order)
    far = f.max("end").over(in_order.rowsBetween(Window.unboundedPreceding, -1))
    follows = (f.col("before.commits") > 0) & (f.col("commits") > 0)
    reset = follows & (f.col("first_offset") < f.col("before.last_offset"))
    gap = f.when(follows, _seconds(f.col("first")) - _seconds(f.col("before.last")))
    linked = (
        runs.withColumn("before", before)
        .withColumn("collides", f.coalesce(far >= f.col("begin"), f.lit(False)))
        .withColumn("resets", f.col("resets") + f.coalesce(reset.cast("long"), f.lit(0)))
        .withColumn("longest_gap_s", f.greatest("longest_gap_s", gap))
    )
    return linked.withColumn("overlaps", f.max("collides").over(key)).select(*RUNS.names, "overlaps")


def _by_day(runs: DataFrame) -> DataFrame:
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


def _seconds(time: Column) -> Column:
    """Seconds since 1970; both are multiples of a millisecond, so a double holds them."""
    return f.unix_micros(time) / f.lit(1_000_000.0)
