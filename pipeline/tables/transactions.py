"""What became of what transactions wrote: their ends are in the log, behind what they wrote.

A producer has one transaction at a time, and the next mark with its id in the same partition ends it
(`coordinator.store.transactions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ENDS = ("commit", "abort")
"""The kinds of events that end a transaction."""


def with_outcome(written: DataFrame, events: DataFrame, *, place: str = "offset") -> DataFrame:
    """`written` with a column `outcome`: commit, abort, or null while the transaction is open.

    `written` has `partition`, `producer_id` and, under the name `place`, the place in the log; it holds no ends.
    """
    ends = events.where(f.col("kind").isin(*ENDS)).select(
        "partition", "producer_id", f.col("offset").alias(place), f.col("kind").alias("mark")
    )
    both = written.withColumn("mark", f.lit(None).cast("string")).unionByName(ends, allowMissingColumns=True)
    later = Window.partitionBy("partition", "producer_id").orderBy(f.desc(place))
    found = both.withColumn("outcome", f.last("mark", ignorenulls=True).over(later))
    return found.where(f.col("mark").isNull()).select(*written.columns, "outcome")
