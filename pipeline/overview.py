"""The tables as a command shows them: selected rows, sums per group, and rows as plain values."""

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import TimestampType

from pipeline.tables.rebalances import total_busy_s
from pipeline.tables.schemas import DOUBLE, LONG, STRING, TIMESTAMP, TableRow, table

OVERVIEW = table(
    ("group", STRING, False),
    ("type", STRING, True),  # on the last day with a record of it
    ("migration", STRING, True),  # classic, mixed or consumer, on the same day
    ("rebalances", LONG, False),
    ("joined", LONG, False),
    ("left", LONG, False),
    ("moved", LONG, False),
    ("rebalancing_s", DOUBLE, True),  # null: there were rebalances, and none has a known duration
    ("last_rebalance", TIMESTAMP, True),  # its start
    ("storms", LONG, False),
    ("zombies", LONG, False),  # on the worst day
    ("commits", LONG, False),
    ("resets", LONG, False),
)


def of_groups(table: DataFrame, groups: Sequence[str]) -> DataFrame:
    """The rows of these groups; all if the list is empty."""
    return table.where(f.col("group").isin(list(groups))) if groups else table


def between(rebalances: DataFrame, since_ms: int | None, until_ms: int | None) -> DataFrame:
    """Rebalances that started in a time range, bounds included; without a known start, the rebalance's end counts."""
    began = f.unix_millis(f.coalesce("start", "end"))
    if since_ms is not None:
        rebalances = rebalances.where(began >= since_ms)
    return rebalances if until_ms is None else rebalances.where(began <= until_ms)


def days_between(table: DataFrame, since_ms: int | None, until_ms: int | None) -> DataFrame:
    """The rows of the days that a time range touches."""
    if since_ms is not None:
        table = table.where(f.col("day") >= _day(since_ms))
    return table if until_ms is None else table.where(f.col("day") <= _day(until_ms))


def overview(groups: DataFrame, rebalances: DataFrame, commits: DataFrame) -> DataFrame:
    """A row per group in any of the three tables, in the schema OVERVIEW. `groups` and `commits` count by whole
    days. `rebalances` must have the column `busy_s`."""
    daily = groups.groupBy("group").agg(
        f.max_by("type", "day").alias("type"),
        f.max_by("migration", "day").alias("migration"),
        f.sum("storms").alias("storms"),
        f.max("zombies").alias("zombies"),
    )
    counted = rebalances.groupBy("group").agg(
        f.count(f.lit(1)).alias("rebalances"),
        f.sum(f.size("joined")).alias("joined"),
        f.sum(f.size("left")).alias("left"),
        f.sum("moved").alias("moved"),
        total_busy_s().alias("rebalancing_s"),
        f.max(f.coalesce("start", "end")).alias("last_rebalance"),
    )
    committed = commits.groupBy("group").agg(*(f.sum(name).alias(name) for name in ("commits", "resets")))
    joined = daily.join(counted, "group", "full").join(committed, "group", "full")
    # A group without rebalances was rebalancing for 0 s.
    none = f.when(f.col("rebalances").isNull(), f.lit(0.0))
    joined = joined.withColumn("rebalancing_s", f.coalesce("rebalancing_s", none))
    missing = [field for field in OVERVIEW.fields if not field.nullable and field.name != "group"]
    zeros = {one.name: f.coalesce(one.name, f.lit(0)).cast(one.dataType) for one in missing}
    return joined.withColumns(zeros).select(*OVERVIEW.fieldNames())


def plain(rows: DataFrame) -> Iterator[TableRow]:
    """Rows one at a time, in order; times in ms since 1970, days as dates."""
    times = [field.name for field in rows.schema.fields if isinstance(field.dataType, TimestampType)]
    for row in rows.withColumns({name: f.unix_millis(name) for name in times}).toLocalIterator():
        yield row.asDict(recursive=True)


def _day(at_ms: int) -> Any:
    return f.to_date(f.timestamp_millis(f.lit(at_ms)))
