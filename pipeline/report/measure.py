"""The numbers of a report from the tables of a run: aggregates of a few hundred rows, whatever the tables' size.

For an audit: the number of ready groups, the reasons why others are not ready, and the groups to migrate first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from pipeline.report.costs import gaps, protocol_costs, worst_groups
from pipeline.report.numbers import (
    VERDICTS,
    Candidate,
    Readiness,
    Reason,
    ReportNumbers,
    ReportTotals,
    moment,
)
from pipeline.report.periods import periods, step_of, timeline_of, timelines_of
from pipeline.tables.rebalances import total_busy_s, with_busy_s

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MOST_REASONS = 40
MOST_CANDIDATES = 25
LEVELS = {"blocked_by": "blocker", "warned_by": "warning"}


def readiness_of(audit: DataFrame) -> tuple[Readiness, ...]:
    """The readiness for each destination of the audit, by name."""
    awaited = ~f.col("arrived")
    counts = audit.groupBy("destination").agg(
        f.count("*").alias("groups"),
        f.count_if("arrived").alias("arrived"),
        *(f.count_if(awaited & (f.col("verdict") == verdict)).alias(verdict) for verdict in VERDICTS),
    )
    found = []
    for row in counts.orderBy("destination").collect():
        waiting = audit.where(awaited & (f.col("destination") == row["destination"]))
        found.append(
            Readiness(
                destination=row["destination"],
                groups=row["groups"],
                arrived=row["arrived"],
                verdicts=tuple(row[verdict] for verdict in VERDICTS),
                reasons=_reasons(waiting),
                first=_first(waiting),
            )
        )
    return tuple(found)


def _reasons(audit: DataFrame) -> tuple[Reason, ...]:
    """The reasons by level, then by the number of groups that they block."""
    found: list[Reason] = []
    for column, level in LEVELS.items():
        rows = _reasons_of(audit, column).limit(MOST_REASONS).collect()
        found += (
            Reason(
                rule=row["rule"],
                level=level,
                groups=row["groups"],
                example=row["example"]["group"],
                message=_message(row["example"], row["rule"]),
            )
            for row in rows
        )
    return tuple(found)


def _reasons_of(audit: DataFrame, column: str) -> DataFrame:
    """`rule, groups, example`: a row per rule of the column; the example is the first group by name."""
    named = audit.select(
        f.explode(column).alias("rule"), f.struct("group", "source", "findings").alias("example")
    )
    return (
        named.groupBy("rule")
        .agg(
            f.count("*").alias("groups"),
            f.min_by("example", f.struct("example.group", "example.source")).alias("example"),
        )
        .orderBy(f.desc("groups"), "rule")
    )


def _message(example: Row, rule: str) -> str:
    """The message of the rule's first finding."""
    return next((finding["message"] for finding in example["findings"] if finding["rule"] == rule), "")


def _first(audit: DataFrame) -> tuple[Candidate, ...]:
    names = [each.name for each in fields(Candidate)]
    rows = audit.where("rank is not null").orderBy("rank", "source", "group").limit(MOST_CANDIDATES)
    return tuple(Candidate(**row.asDict()) for row in rows.select(*names).collect())


__all__ = ["numbers_of", "timeline_of"]
DRAWN = 3
"""The number of groups with timelines in a report."""


def numbers_of(
    tables: Mapping[str, DataFrame], *, made: datetime, sources: Sequence[str] = ()
) -> ReportNumbers:
    """All numbers of a run.

    `tables` are by the names of `pipeline.tables.schemas.TABLES` and `pipeline.audit.schemas.TABLES`: all of a
    history, or `audit`, or both, with `quarantine` or without.
    """
    parts: dict[str, Any] = {"made": made, "sources": tuple(sources)}
    if (quarantine := tables.get("quarantine")) is not None:
        parts["quarantined"] = quarantine.count()
    if "events" in tables:
        parts |= _history(tables)
    if (audit := tables.get("audit")) is not None:
        parts["readiness"] = readiness_of(audit)
    return ReportNumbers(**parts)


def _history(tables: Mapping[str, DataFrame]) -> dict[str, Any]:
    rebalances, groups = tables["rebalances"], tables["groups"]
    micros, day = f.unix_micros("time"), f.unix_date("day")
    log = _only(
        tables["events"].agg(
            f.count("*").alias("records"),
            f.min(micros).alias("first"),
            f.max(micros).alias("last"),
            f.min(day).alias("first_day"),
            f.max(day).alias("last_day"),
        )
    )
    parts: dict[str, Any] = {"totals": _totals(log["records"], tables)}
    if not log["records"]:
        return parts
    # The day before is included: a rebalance may have started on the day before its record.
    begun = _only(rebalances.agg(f.min(day).alias("first"), f.max(day).alias("last")))
    first_day = min(log["first_day"], log["first_day"] if begun["first"] is None else begun["first"])
    last_day = max(log["last_day"], log["last_day"] if begun["last"] is None else begun["last"])
    nobodys = gaps(tables["ownership"], rebalances, end_micros=log["last"])
    worst = worst_groups(groups, rebalances, nobodys)
    return parts | {
        "first": moment(log["first"]),
        "last": moment(log["last"]),
        "step_days": step_of(first_day, last_day),
        "periods": periods(rebalances, groups, first_day, last_day),
        "worst": worst,
        "protocols": protocol_costs(rebalances, nobodys),
        "timelines": timelines_of(rebalances, [group.group for group in worst[:DRAWN]]) if worst else (),
    }


def _totals(records: int, tables: Mapping[str, DataFrame]) -> ReportTotals:
    def total(column: str) -> Any:
        return f.coalesce(f.sum(column), f.lit(0)).alias(column)

    by_group = (
        tables["groups"]
        .groupBy("group")
        .agg(f.sum("storms").alias("storms"), f.max("zombies").alias("zombies"))
    )
    counted = _only(by_group.agg(f.count("*").alias("groups"), total("storms"), total("zombies")))
    busy = with_busy_s(tables["rebalances"])
    cost = _only(busy.agg(f.count("*").alias("rebalances"), total_busy_s().alias("rebalancing_s")))
    commits = _only(tables["commits"].agg(total("commits"), total("resets")))
    return ReportTotals(records=records, **counted.asDict(), **cost.asDict(), **commits.asDict())


def _only(table: DataFrame) -> Row:
    """The row of an aggregate without groups: there is always one."""
    (row,) = table.collect()
    return row
