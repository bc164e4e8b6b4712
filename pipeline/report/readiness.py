"""An audit in numbers: how many groups are ready, why the others are not, and which go first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.report.numbers import VERDICTS, Candidate, Readiness, Reason

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MOST_REASONS = 40
MOST_CANDIDATES = 25
LEVELS = {"blocked_by": "blocker", "warned_by": "warning"}


def readiness_of(audit: DataFrame) -> tuple[Readiness, ...]:
    """A part for each destination that the audit asked about, by name."""
    from pyspark.sql import functions as f

    awaited = ~f.col("arrived")
    counts = audit.groupBy("destination").agg(
        f.count("*").alias("groups"),
        f.count_if("arrived").alias("arrived"),
        *(f.count_if(awaited & (f.col("verdict") == verdict)).alias(verdict) for verdict in VERDICTS),
    )
    return tuple(
        Readiness(
            destination=row["destination"],
            groups=row["groups"],
            arrived=row["arrived"],
            verdicts=tuple(row[verdict] for verdict in VERDICTS),
            reasons=_reasons(audit.where(awaited & (f.col("destination") == row["destination"]))),
            first=_first(audit.where(awaited & (f.col("destination") == row["destination"]))),
        )
        for row in counts.orderBy("destination").collect()
    )


def _reasons(audit: DataFrame) -> tuple[Reason, ...]:
    """By level, then by how many groups they hold up."""
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
    from pyspark.sql import functions as f

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
    """What the first finding of the rule says."""
    return next((finding["message"] for finding in example["findings"] if finding["rule"] == rule), "")


def _first(audit: DataFrame) -> tuple[Candidate, ...]:
    rows = audit.where("rank is not null").orderBy("rank", "source", "group").limit(MOST_CANDIDATES).collect()
    return tuple(
        Candidate(
            rank=row["rank"],
            group=row["group"],
            source=row["source"],
            cluster=row["cluster"],
            verdict=row["verdict"],
            path=row["path"],
            restarts=row["restarts"],
            moved=row["moved"],
            gain_s=row["gain_s"],
            risk=row["risk"],
        )
        for row in rows
    )
