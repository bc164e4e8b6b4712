"""Rebalances: a row per generation of a classic group and per group epoch of a consumer group.

- `start`, `end`, `duration_s`: of an epoch from its record to the last member that reached it. Of a generation from
  the moment in which all members had joined, which is as much as is written, to the record: a lower bound; only a
  group's first generation is known from the first member's request on (`pipeline.rebalances.classic`, `.consumer`).
- `cause`, `causes`: see `pipeline.rebalances.causes`.
- `members_before`, `joined`, `left`: against the row before. A static member that comes back is the same member. Of a
  group that is older than its log nobody is said to have joined.
- `moved`: partitions given to another member than the one that had them last. `revoked`: partitions that members who
  stay had to give up; eager ones give up everything. Both of an epoch by its target: epochs that have one target
  together have it in the row of the last.
- `skipped`: numbers that were passed over. A generation that no leader handed out, and whatever compaction took away.

Rows of several rebalances that overlap overlap, too: times must not simply be added up.

How long groups were rebalancing: rebalances that overlap take the time once.
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
"""What the records of groups tell: a row, and what its causes still depend on."""


def rebalances(courses: DataFrame, events: DataFrame) -> DataFrame:
    """The table `REBALANCES`: with the members that had fallen silent, and the causes put right.

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
