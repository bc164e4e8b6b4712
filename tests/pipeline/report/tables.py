"""Rows of tables that name only the columns that matter."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pipeline.tables.schemas import COMMITS, EVENTS, GROUPS, OWNERSHIP, QUARANTINE, REBALANCES

FIRST = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)
SCHEMAS = {
    "events": EVENTS,
    "rebalances": REBALANCES,
    "ownership": OWNERSHIP,
    "commits": COMMITS,
    "groups": GROUPS,
    "quarantine": QUARANTINE,
}


def rows_as(spark: SparkSession, schema: StructType, rows: list[dict[str, Any]]) -> DataFrame:
    """A table of rows that name only the columns that matter: of the others nothing is known, or there is nothing."""
    return spark.createDataFrame([whole_row(schema, row) for row in rows], schema)


def whole_row(schema: StructType, row: dict[str, Any]) -> tuple[Any, ...]:
    unknown = set(row) - set(schema.names)
    assert not unknown, unknown
    return tuple(
        row[column.name]
        if column.name in row
        else None
        if column.nullable
        else _NOTHING[column.dataType.typeName()]
        for column in schema
    )


_NOTHING: dict[str, Any] = {
    "array": [],
    "boolean": False,
    "date": FIRST.date(),
    "integer": 0,
    "long": 0,
    "double": 0.0,
    "string": "",
    "timestamp": FIRST,
}


@dataclass(slots=True)
class Fleet:
    events: list[dict[str, Any]] = field(default_factory=list)
    rebalances: list[dict[str, Any]] = field(default_factory=list)
    ownership: list[dict[str, Any]] = field(default_factory=list)
    commits: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    quarantine: list[dict[str, Any]] = field(default_factory=list)

    def tables(self, spark: SparkSession) -> dict[str, DataFrame]:
        return {name: rows_as(spark, schema, getattr(self, name)) for name, schema in SCHEMAS.items()}


def rebalance(
    group: str, epoch: int, start: datetime | None, took_s: float | None, **more: Any
) -> dict[str, Any]:
    """A row; without a duration it ends with the log, or its start is not known."""
    end = start + timedelta(seconds=took_s) if start is not None and took_s is not None else None
    begun = start or more.get("end") or FIRST
    return {
        "day": begun.date(),
        "group": group,
        "protocol": "classic",
        "epoch": epoch,
        "start": start,
        "end": end,
        "duration_s": took_s,
        "cause": "join",
    } | more
