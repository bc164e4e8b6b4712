"""Rebalances: a row per generation of a classic group and per group epoch of a consumer group.

- `start`, `end`, `duration_s`: of an epoch from its record to the last member that reached it. Of a generation from
  the moment in which all members had joined, which is as much as is written, to the record: a lower bound; only a
  group's first generation is known from the first member's request on (`pipeline.course.classic`, `.consumer`).
- `cause`: conversion: to the other protocol, members and partitions as they were (and the rebalance that converting
  back makes). join, leave, expiry: members came or went; of those that went, expiry where `pipeline.tables.expiry`
  finds that they had fallen silent, else leave, whatever it was. assignor, subscription: other assignors or topics of
  members that stay. metadata: nothing of these, but other partitions than before. unknown: nothing at all changed
  that is written, or the row is the first of a group that is older than its log. `causes` has all that there are.
  A generation in which a cooperative group hands out what it withheld in the one before has the causes of that one.
- `members_before`, `joined`, `left`: against the row before. A static member that comes back is the same member. Of a
  group that is older than its log nobody is said to have joined.
- `moved`: partitions given to another member than the one that had them last. `revoked`: partitions that members who
  stay had to give up; eager ones give up everything. Both of an epoch by its target: epochs that have one target
  together have it in the row of the last.
- `skipped`: numbers that were passed over. A generation that no leader handed out, and whatever compaction took away.

Rows of several rebalances that overlap overlap, too: times must not simply be added up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipeline.course.rows import Rebalance
from pipeline.course.stream import Row, rows_of_groups
from pipeline.tables.days import day_of
from pipeline.tables.schemas import REBALANCES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SECOND_US: Final = 1_000_000


def rebalances(events: DataFrame) -> DataFrame:
    """The table `REBALANCES` of all events, whatever order they are in."""
    return rows_of_groups(events, REBALANCES, rebalance=_row)


def _row(rebalance: Rebalance) -> Row:
    start, end = rebalance.start, rebalance.end
    begins = start if start is not None else end
    return {
        "day": day_of(begins or 0),
        "group": rebalance.group,
        "protocol": rebalance.protocol.value,
        "epoch": rebalance.epoch,
        "start": start,
        "end": end,
        "duration_s": None if start is None or end is None else max(end - start, 0) / _SECOND_US,
        "cause": rebalance.causes[0].value,
        "causes": [cause.value for cause in rebalance.causes],
        "assignor": rebalance.assignor,
        "members_before": rebalance.members_before,
        "members": rebalance.members,
        "joined": list(rebalance.joined),
        "left": list(rebalance.left),
        "expired": [],
        "partitions": rebalance.partitions,
        "moved": rebalance.moved,
        "revoked": rebalance.revoked,
        "skipped": rebalance.skipped,
    }
