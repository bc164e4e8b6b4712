"""Rebalances: a row per generation of a classic group and per group epoch of a consumer group.

- `start`, `end`, `duration_s`: of an epoch from its record to the last member that reached it. Of a generation from
  the moment at which all members had joined, the earliest one in the log, to the record: a lower bound; only a group's
  first generation is known from the first member's request on (`pipeline.rebalances.classic`, `.consumer`).
- `cause`, `causes`: see `pipeline.rebalances.causes`.
- `members_before`, `joined`, `left`: compared with the row before. A static member that returns is the same member. In
  a group that is older than its log no member counts as joined.
- `moved`: partitions assigned to another member than their last owner. `revoked`: partitions that members who stay had
  to revoke; eager ones revoke everything. For an epoch both are of its target: epochs that share a target have them in
  the row of the last.
- `skipped`: skipped numbers. Generations that no leader assigned, and everything that compaction removed.

Rows of overlapping rebalances overlap, too: do not add up their times.

The time in which groups were rebalancing counts overlapping rebalances once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StructType

from pipeline.rebalances.causes import with_expiry
from pipeline.rebalances.events import RebalanceRow
from pipeline.rebalances.stream import Row
from pipeline.tables.schemas import BOOLEAN, INT, LONG, REBALANCES, STRING, TIMESTAMP, day_of, shaped, table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SECOND_US: Final = 1_000_000
_DEPARTURE = table(
    ("member", STRING, False),
    ("since", TIMESTAMP, False),
    ("at", TIMESTAMP, False),
    ("session_timeout_ms", INT, True),
    (
        "places",
        ArrayType(table(("topic", STRING, False), ("topic_partition", INT, False)), containsNull=False),
        False,
    ),
    ("expired", BOOLEAN, False),
)
WALKED = StructType(
    [
        *(each for each in REBALANCES if each.name not in ("cause", "expired")),
        *table(("offset", LONG, False), ("departures", ArrayType(_DEPARTURE, containsNull=False), False)),
    ]
)
"""The data of groups' records: a row, and what its causes still depend on."""


def rebalances(courses: DataFrame, events: DataFrame) -> DataFrame:
    """The table `REBALANCES`: with the members that were silent before, and corrected causes.

    `courses` (`pipeline.tables.ownership`) are those of `events`. They are read twice.
    """
    walked = courses.where(f.col("rebalance").isNotNull()).select("rebalance.*")
    return shaped(with_expiry(walked, events), REBALANCES)


def walked_row(rebalance: RebalanceRow) -> Row:
    """A row of `WALKED`, times in µs since 1970."""
    start, end = rebalance.start, rebalance.end
    row = {name: getattr(rebalance, name) for name in _AS_WALKED}
    row["day"] = day_of((end if start is None else start) or 0)
    row["duration_s"] = None if start is None or end is None else max(end - start, 0) / _SECOND_US
    row["departures"] = [
        {name: getattr(gone, name) for name in _DEPARTURE.names}
        | {"places": [{"topic": topic, "topic_partition": number} for topic, number in gone.places]}
        for gone in rebalance.departures
    ]
    return row


_AS_WALKED = [name for name in WALKED.names if name not in ("day", "duration_s", "departures")]


def with_busy_s(rebalances: DataFrame) -> DataFrame:
    """REBALANCES with `busy_s`, the part of `duration_s` in which no rebalance of the group that started before it ran.

    The sum over the rows of a group is the time in which it rebalanced, whereas durations add up to more: epochs that
    start at once end together. 0 if the duration is unknown.
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
    """The sum of `busy_s` over rows of `with_busy_s`, an aggregate: 0 if there are none, null if there are some and no
    duration is known."""
    nothing = f.when(f.count(f.lit(1)) == 0, f.lit(0.0))
    return f.when(f.count("duration_s") > 0, f.sum("busy_s")).otherwise(nothing)
