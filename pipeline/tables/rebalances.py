"""Rebalances and ownership, from the course of every group, which is computed once. An epoch lasts from its record
until the last member has reached it; a generation from the time at which all members had joined to its record: a
lower bound, except for a group's first (`groups.history.classic`, `.consumer`). `joined` and `left` are
compared with the row before; a static member that returns is the same member. `moved` counts partitions assigned to
another member than their last owner; `revoked` those that members that stay had to revoke. If epochs share a
target, the last of them has both numbers. `skipped`: generations or epochs without an assignment, or removed by
compaction. The times of rebalances may overlap: do not add up durations. `busy_s` counts overlapping time once."""

import json
from collections.abc import Iterable
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StructType

from groups.history.events import MEMBER, GroupEvent, Holding, MemberRecord, PastRebalance, Place
from pipeline.tables import schemas
from pipeline.tables.departures import SOUGHT, departures_row

_SECOND_US: Final = 1_000_000
WALKED = StructType(
    [
        *(column for column in schemas.REBALANCES if column.name not in ("cause", "expired")),
        *schemas.table(
            ("offset", schemas.LONG, False),
            ("departures", schemas.STRING, True),
            ("sought", ArrayType(SOUGHT, containsNull=False), False),
        ),
    ]
)
"""Rows from groups' records, with the columns from which the causes are corrected (`pipeline.tables.departures`)."""
WALKED_TABLE = "courses"


def walked_row(rebalance: PastRebalance) -> schemas.TableRow:
    """A row of `WALKED`, times in µs since 1970."""
    start, end = rebalance.start, rebalance.end
    row = {name: getattr(rebalance, name) for name in _AS_WALKED}
    row["day"] = schemas.day_of((end if start is None else start) or 0)
    row["duration_s"] = None if start is None or end is None else max(end - start, 0) / _SECOND_US
    return row | departures_row(rebalance.departures)


_AS_WALKED = [name for name in WALKED.names if name not in ("day", "duration_s", "departures", "sought")]


def with_busy_s(rebalances: DataFrame) -> DataFrame:
    """REBALANCES with `busy_s`, the part of `duration_s` in which no earlier rebalance of the group ran, 0 if it is
    unknown: the sum over the rows of a group is the time in which it rebalanced."""
    in_order = Window.partitionBy("group").orderBy(f.unix_micros("start"), f.unix_micros("end"), "epoch")
    ended = f.max(f.when(f.col("duration_s").isNotNull(), f.unix_micros("end"))).over(
        in_order.rowsBetween(Window.unboundedPreceding, -1)
    )
    begun = f.greatest(f.unix_micros("start"), ended)
    alone = f.greatest(f.unix_micros("end") - begun, f.lit(0)) / f.lit(float(_SECOND_US))
    busy_s = f.when(f.col("duration_s").isNotNull(), alone).otherwise(f.lit(0.0))
    return rebalances.withColumn("busy_s", busy_s)


def total_busy_s() -> Column:
    """An aggregate: the sum of `busy_s`. 0 without rows; null if there are rows and none has a known duration."""
    nothing = f.when(f.count(f.lit(1)) == 0, f.lit(0.0))
    return f.when(f.count("duration_s") > 0, f.sum("busy_s")).otherwise(nothing)


def holding_row(holding: Holding) -> schemas.TableRow:
    """A row of `OWNERSHIP`, times in µs since 1970: the owner of a partition over time, and the times without one
    although it should have one. In a consumer group a member still owns partitions that it must revoke and has not
    revoked; a static member that is away owns none. In a classic group eager members have revoked everything by the
    time at which all members had joined, so the time without an owner is a lower bound; cooperative members own what
    they keep without a break, and what they lose until they revoke it. Partitions that no member should have are left
    out."""
    topic, number = holding.place
    known = {name: getattr(holding, name) for name in _AS_HELD}
    return known | {"day": schemas.day_of(holding.since), "topic": topic, "topic_partition": number}


_AS_HELD = [name for name in schemas.OWNERSHIP.names if name not in ("day", "topic", "topic_partition")]


_AS_WRITTEN = (
    *("group", "partition", "offset", "time", "key_version", "tombstone", "epoch", "state_since"),
    *("assignor", "state"),
)
_OF_MEMBER = ("member", "instance", "client_id", "host")
_TIMEOUTS = ("session_timeout_ms", "rebalance_timeout_ms")
COLUMNS = (*_AS_WRITTEN, *_OF_MEMBER, "topics", "regex", "assignment", "revoking", "members", "fields")
"""The columns of events that a course needs."""


def event_of(row: schemas.TableRow) -> GroupEvent:
    """An event from a row with `COLUMNS`, as returned by Arrow's `to_pylist` with times as integers."""
    record = None
    if row["member"] is not None:
        subscribed, regex = frozenset(row["topics"] or ()), row["regex"] or None
        timeouts = json.loads(row["fields"] or "{}") if row["key_version"] == MEMBER else {}
        record = _member_record(
            row,
            topics=subscribed,
            regex=regex,
            assignor=row["assignor"],
            session_timeout_ms=timeouts.get("sessionTimeoutMs"),
            rebalance_timeout_ms=timeouts.get("rebalanceTimeoutMs"),
        )
    members = []
    for member in row["members"] or ():
        topics = None if member["topics"] is None else frozenset(member["topics"])
        classic = _member_record(member, topics=topics, **{name: member[name] for name in _TIMEOUTS})
        members.append((classic, _places(member["assignment"])))
    return GroupEvent(
        **{name: row[name] for name in _AS_WRITTEN},
        record=record,
        places=(*_places(row["assignment"]), *_places(row["revoking"])),
        members=tuple(members),
    )


def _member_record(row: schemas.TableRow, **others: Any) -> MemberRecord:
    known = {name: row[name] for name in _OF_MEMBER}
    return MemberRecord(**known | {"instance": row["instance"] or None}, **others)


def _places(assignment: Iterable[tuple[str, Iterable[int]]] | None) -> tuple[Place, ...]:
    return tuple((topic, number) for topic, numbers in assignment or () for number in numbers)
