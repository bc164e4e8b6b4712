"""The numbers of a report: aggregates of the tables, of a few hundred rows, whatever the tables' size."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import pairwise
from typing import Any

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as f

from pipeline.report import numbers
from pipeline.report.periods import periods, step_of, timeline_of, timelines_of
from pipeline.tables.rebalances import total_busy_s, with_busy_s

MOST_REASONS = 40
MOST_CANDIDATES = 25
LEVELS = {"blocked_by": "blocker", "warned_by": "warning"}


def readiness_of(audit: DataFrame) -> tuple[numbers.Readiness, ...]:
    """The readiness for each destination of the audit, by name."""
    awaited = ~f.col("arrived")
    counts = audit.groupBy("destination").agg(
        f.count("*").alias("groups"),
        f.count_if("arrived").alias("arrived"),
        *(f.count_if(awaited & (f.col("verdict") == verdict)).alias(verdict) for verdict in numbers.VERDICTS),
    )
    readiness = []
    for row in counts.orderBy("destination").collect():
        waiting = audit.where(awaited & (f.col("destination") == row["destination"]))
        ranked = waiting.where("rank is not null").orderBy("rank", "source", "group")
        first = ranked.limit(MOST_CANDIDATES).select(*(field.name for field in fields(numbers.Candidate)))
        readiness.append(
            numbers.Readiness(
                destination=row["destination"],
                groups=row["groups"],
                arrived=row["arrived"],
                verdicts=tuple(row[verdict] for verdict in numbers.VERDICTS),
                reasons=_reasons(waiting),
                first=tuple(numbers.Candidate(**one.asDict()) for one in first.collect()),
            )
        )
    return tuple(readiness)


def _reasons(audit: DataFrame) -> tuple[numbers.Reason, ...]:
    """The reasons by level, then by the number of groups that they block."""
    reasons: list[numbers.Reason] = []
    first = f.min_by("example", f.struct("example.group", "example.source")).alias("example")
    for column, level in LEVELS.items():
        example = f.struct("group", "source", "findings").alias("example")
        by_rule = audit.select(f.explode(column).alias("rule"), example).groupBy("rule")
        counted = by_rule.agg(f.count("*").alias("groups"), first).orderBy(f.desc("groups"), "rule")
        for rule, groups, (group, _, findings) in counted.limit(MOST_REASONS).collect():
            messages = [finding["message"] for finding in findings if finding["rule"] == rule]
            message = next(iter(messages), "")
            reasons.append(
                numbers.Reason(rule=rule, level=level, groups=groups, example=group, message=message)
            )
    return tuple(reasons)


__all__ = ["numbers_of", "timeline_of"]
DRAWN = 3  # the number of groups with timelines in a report


def numbers_of(
    tables: Mapping[str, DataFrame], *, made: datetime, sources: Sequence[str] = ()
) -> numbers.ReportNumbers:
    """All numbers of a run. `tables`, by name, are those of a history, `audit`, or both, perhaps with
    `quarantine`."""
    parts: dict[str, Any] = {"made": made, "sources": tuple(sources)}
    if (quarantine := tables.get("quarantine")) is not None:
        parts["quarantined"] = quarantine.count()
    if "events" in tables:
        parts |= _history(tables)
    if (audit := tables.get("audit")) is not None:
        parts["readiness"] = readiness_of(audit)
    return numbers.ReportNumbers(**parts)


def _history(tables: Mapping[str, DataFrame]) -> dict[str, object]:
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
    parts: dict[str, object] = {"totals": _totals(log["records"], tables)}
    if not log["records"]:
        return parts
    # The day before is included: a rebalance may have started on the day before its record.
    begun = _only(rebalances.agg(f.min(day).alias("first"), f.max(day).alias("last")))
    first_day = min(log["first_day"], log["first_day"] if begun["first"] is None else begun["first"])
    last_day = max(log["last_day"], log["last_day"] if begun["last"] is None else begun["last"])
    nobodys = gaps(tables["ownership"], rebalances, end_micros=log["last"])
    worst = worst_groups(groups, rebalances, nobodys)
    return parts | {
        "first": numbers.moment(log["first"]),
        "last": numbers.moment(log["last"]),
        "step_days": step_of(first_day, last_day),
        "periods": periods(rebalances, groups, first_day, last_day),
        "worst": worst,
        "protocols": protocol_costs(rebalances, nobodys),
        "timelines": timelines_of(rebalances, [group.group for group in worst[:DRAWN]]) if worst else (),
    }


def _totals(records: int, tables: Mapping[str, DataFrame]) -> numbers.ReportTotals:
    def total(column: str) -> Any:
        return f.coalesce(f.sum(column), f.lit(0)).alias(column)

    columns = f.sum("storms").alias("storms"), f.max("zombies").alias("zombies")
    by_group = tables["groups"].groupBy("group").agg(*columns)
    counted = _only(by_group.agg(f.count("*").alias("groups"), total("storms"), total("zombies")))
    busy = with_busy_s(tables["rebalances"])
    cost = _only(busy.agg(f.count("*").alias("rebalances"), total_busy_s().alias("rebalancing_s")))
    commits = _only(tables["commits"].agg(total("commits"), total("resets")))
    return numbers.ReportTotals(records=records, **counted.asDict(), **cost.asDict(), **commits.asDict())


def _only(table: DataFrame) -> Row:
    """The row of an aggregate without groups: there is always one."""
    (row,) = table.collect()
    return row


MOST = 20  # the number of groups shown


def gaps(ownership: DataFrame, rebalances: DataFrame, end_micros: int) -> DataFrame:
    """`group, protocol, length_s`: the times in which a partition had no owner although it should have had one; one
    that is still open ends at `end_micros`, the end of the log. It counts for the protocol of the last rebalance
    that started before it, or of the group's first."""
    begun = f.unix_micros(f.coalesce("start", "end", f.col("day").cast("timestamp")))
    until = f.coalesce(f.unix_micros("until"), f.lit(end_micros))
    since = f.unix_micros("since")
    marks = rebalances.select(
        "group",
        begun.alias("at"),
        f.lit(0).alias("turn"),
        f.col("protocol").alias("rebalanced"),
        f.lit(None).cast("double").alias("length_s"),
    )
    nobodys = ownership.where(f.col("member").isNull()).select(
        "group",
        since.alias("at"),
        f.lit(1).alias("turn"),
        f.lit(None).cast("string").alias("rebalanced"),
        (f.greatest(until - since, f.lit(0)) / 1e6).alias("length_s"),
    )
    in_order = Window.partitionBy("group").orderBy("at", "turn")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    first = f.first("rebalanced", ignorenulls=True).over(
        in_order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    )
    latest = f.last("rebalanced", ignorenulls=True).over(so_far)
    return (
        marks.unionByName(nobodys)
        .withColumn("protocol", f.coalesce(latest, first, f.lit("unknown")))
        .where(f.col("turn") == 1)
        .select("group", "protocol", "length_s")
    )


def worst_groups(groups: DataFrame, rebalances: DataFrame, gaps: DataFrame) -> tuple[numbers.GroupCost, ...]:
    """The groups that rebalanced, at most MOST, by total duration and number of rebalances, descending."""
    costs = groups.groupBy("group").agg(
        f.max_by("type", "day").alias("type"),
        f.max_by("migration", "day").alias("stage"),
        *(f.sum(name).alias(name) for name in ("rebalances", "joined", "left", "storms")),
        f.round(f.sum("rebalancing_s"), 6).alias("rebalancing_s"),
        *(f.max(name).alias(name) for name in ("zombies", "members_most")),
    )
    worst = (
        costs.where("rebalances > 0")
        .orderBy(f.desc("rebalancing_s"), f.desc("rebalances"), "group")
        .limit(MOST)
        .collect()
    )
    without: dict[str, float] = {}
    timed: set[str] = set()
    if worst:
        is_shown = f.col("group").isin([row["group"] for row in worst])
        without = dict(gaps.where(is_shown).groupBy("group").agg(f.sum("length_s")).collect())
        known = rebalances.where(is_shown & f.col("duration_s").isNotNull())
        timed = {row["group"] for row in known.select("group").distinct().collect()}
    results = []
    for row in worst:
        cost = row.asDict() | {"without_owner_s": without.get(row["group"], 0.0)}
        cost["stage"] = row["stage"] if row["stage"] in numbers.STAGES else None
        cost["rebalancing_s"] = row["rebalancing_s"] if row["group"] in timed else None
        results.append(numbers.GroupCost(**cost))
    return tuple(results)


def protocol_costs(rebalances: DataFrame, gaps: DataFrame) -> tuple[numbers.ProtocolCost, ...]:
    """A row for each of PROTOCOLS with rebalances."""
    counted = (
        with_busy_s(rebalances)
        .groupBy("protocol")
        .agg(
            f.countDistinct("group").alias("groups"),
            f.count("*").alias("rebalances"),
            total_busy_s().alias("rebalancing_s"),
            f.percentile_approx("duration_s", [0.5, 0.95], 10_000).alias("parts"),
            f.max("duration_s").alias("longest_s"),
            f.sum("moved").alias("moved"),
            f.sum("revoked").alias("revoked"),
        )
    )
    costs = {row["protocol"]: row for row in counted.collect()}
    bounds, length_s = [0.0, *numbers.SPANS_S, float("inf")], f.col("length_s")
    classes = [f.count_if((length_s >= low) & (length_s < high)) for low, high in pairwise(bounds)]
    lengths = gaps.groupBy("protocol").agg(f.sum(length_s), *classes)
    without = {row[0]: (row[1], tuple(row[2:])) for row in lengths.collect()}
    results = []
    for protocol in numbers.PROTOCOLS:
        if (row := costs.get(protocol)) is None:
            continue
        known = row.asDict()
        known["median_s"], known["p95_s"] = known.pop("parts") or (None, None)
        seconds, interruptions = without.get(protocol, (0.0, (0,) * (len(numbers.SPANS_S) + 1)))
        results.append(numbers.ProtocolCost(**known, without_owner_s=seconds, interruptions=interruptions))
    return tuple(results)
