"""The numbers of a report from the tables of a run: aggregates of a few hundred rows, however large the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipeline.report.costs import gaps, protocol_costs, worst_groups
from pipeline.report.numbers import ReportNumbers, ReportTotals, moment
from pipeline.report.periods import periods, step_of, timeline_of, timelines_of
from pipeline.report.readiness import readiness_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

__all__ = ["numbers_of", "timeline_of"]
DRAWN = 3
"""Groups whose timelines are in a report."""


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
    from pyspark.sql import functions as f

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
    # A rebalance may have begun on the day before the record that tells of it.
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
    from pyspark.sql import functions as f

    from pipeline.tables.rebalances import total_busy_s, with_busy_s

    def total(column: str) -> Any:
        return f.coalesce(f.sum(column), f.lit(0)).alias(column)

    by_group = (
        tables["groups"]
        .groupBy("group")
        .agg(f.sum("storms").alias("storms"), f.max("zombies").alias("zombies"))
    )
    counted = _only(by_group.agg(f.count("*").alias("groups"), total("storms"), total("zombies")))
    busy = with_busy_s(tables["rebalances"])
    cost = _only(busy.agg(f.count("*").alias("rebalances"), total_busy_s().alias("s")))
    commits = _only(tables["commits"].agg(total("commits"), total("resets")))
    return ReportTotals(
        records=records,
        groups=counted["groups"],
        rebalances=cost["rebalances"],
        rebalancing_s=cost["s"],
        commits=commits["commits"],
        resets=commits["resets"],
        storms=counted["storms"],
        zombies=counted["zombies"],
    )


def _only(table: DataFrame) -> Row:
    """The row of an aggregate without groups: there is always one."""
    (row,) = table.collect()
    return row
