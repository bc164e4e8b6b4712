"""An audit's tables on disk, as Parquet: `out/audit`, `out/audit_regexes` and `out/quarantine`.

The order of migration: a group's gain, divided by the risk of its migration.

- **gain**: the partition-seconds that each restart of a member costs less at the destination
  (`migration.expectation`).
- **risk**: `(1 + without_owner_s) × (1 + warnings)`: the cost of the migration itself, in the same unit, multiplied
  for each warning, which may make it fail. Without the first 1, all groups without costs would have the risk 0.
- **score**: gain / risk, highest first.

Ready groups are not always before those with warnings: a group with a warning may gain a hundred times more. Groups
whose gain cannot be computed, such as those without members, are last. Blocked groups, and those that have arrived,
have no rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as f

from pipeline.audit.schemas import AUDIT, TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KIND = "audit"


def read_table(spark: SparkSession, name: str, path: str) -> DataFrame:
    """The table at a path that `write_tables` returned, with the columns of its schema."""
    return spark.read.schema(TABLES[name]).parquet(path)


def ranked(unranked: DataFrame) -> DataFrame:
    """AUDIT from the judged groups."""
    can = (f.col("verdict") != "blocked") & ~f.col("arrived")
    risk = f.when(can, (1 + f.col("without_owner_s")) * (1 + f.size("warned_by")))
    scored = unranked.withColumn("risk", risk).withColumn("score", f.col("gain_s") / f.col("risk"))
    places = _places(scored.where(can))
    keys = ["destination", "source", "group"]
    return scored.join(places, keys, "left").select(*AUDIT.fieldNames())


def _places(candidates: DataFrame) -> DataFrame:
    """The rank of each candidate; only the columns that determine it go through the one task that counts."""
    narrow = candidates.select("destination", "source", "group", "score", "gain_s")
    order = Window.partitionBy("destination").orderBy(
        f.col("score").desc_nulls_last(), f.col("gain_s").desc_nulls_last(), "source", "group"
    )
    return narrow.select("destination", "source", "group", f.row_number().over(order).alias("rank"))
