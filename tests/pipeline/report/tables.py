"""Tables of an invented fleet, from a fixed seed: rebalances that overlap, gaps, changes of protocol."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pipeline.report.numbers import CAUSES, STAGES
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
    return spark.createDataFrame([_whole(schema, row) for row in rows], schema)


def _whole(schema: StructType, row: dict[str, Any]) -> tuple[Any, ...]:
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
    """Rows of all tables."""

    events: list[dict[str, Any]] = field(default_factory=list)
    rebalances: list[dict[str, Any]] = field(default_factory=list)
    ownership: list[dict[str, Any]] = field(default_factory=list)
    commits: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    quarantine: list[dict[str, Any]] = field(default_factory=list)

    def tables(self, spark: SparkSession) -> dict[str, DataFrame]:
        """As Spark has them."""
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


def fleet(*, groups: int = 40, days: int = 20, seed: int = 9) -> Fleet:
    """Groups that rebalance now and then; half of them change their protocol after a day."""
    random = Random(seed)
    made = Fleet(quarantine=[{"source": "s", "file": "f", "reason": "r"}] * 3)
    for number in range(groups):
        _group(made, random, f"group-{number}", days)
    for row in made.rebalances:
        made.events.append({"day": row["day"], "time": row["start"] or FIRST, "group": row["group"]})
    made.events.append({"day": FIRST.date() + timedelta(days), "time": FIRST + timedelta(days, hours=1)})
    return made


def _group(made: Fleet, random: Random, group: str, days: int) -> None:
    moment, change = FIRST, random.choice((1, days))
    stage: str | None = None
    for epoch in range(1, random.randrange(2, 12)):
        moment += timedelta(seconds=random.choice((0.25, 3, 600, 90_000)))
        if moment >= FIRST + timedelta(days):
            break
        old = (moment - FIRST).days < change
        took = random.choice((None, 0.0, 0.04, 0.7, 5.5, 1_000.0))
        members = random.randrange(5)
        made.rebalances.append(
            rebalance(
                group,
                epoch,
                moment,
                took,
                protocol="classic" if old else "consumer",
                cause=random.choice(CAUSES),
                members=members,
                joined=[f"m{each}" for each in range(random.randrange(3))],
                left=[f"n{each}" for each in range(random.randrange(3))],
                moved=random.randrange(9),
                revoked=random.randrange(9),
                assignor="range" if old else "uniform",
            )
        )
        made.ownership += _held(random, group, epoch, moment)
    seen: set[date] = set()
    for row in [each for each in made.rebalances if each["group"] == group]:
        seen.add(row["day"])
    for day in sorted(seen):
        stage = random.choice((*STAGES, None, stage, stage))
        made.groups.append(_day(random, group, day, stage, made.rebalances))
        made.commits.append(
            {"day": day, "group": group, "commits": random.randrange(99), "resets": random.randrange(3)}
        )


def _held(random: Random, group: str, epoch: int, since: datetime) -> list[dict[str, Any]]:
    found = []
    for number in range(3):
        length = random.choice((None, 0.0, 0.1, 0.9, 10.0, 59.0, 601.0))
        found.append(
            {
                "day": since.date(),
                "group": group,
                "topic": "t",
                "topic_partition": number,
                "member": random.choice((None, "m")),
                "epoch": epoch,
                "since": since,
                "until": None if length is None else since + timedelta(seconds=length),
            }
        )
    return found


def _day(
    random: Random, group: str, day: date, stage: str | None, rebalances: list[dict[str, Any]]
) -> dict[str, Any]:
    own = [row for row in rebalances if row["group"] == group and row["day"] == day]
    return {
        "day": day,
        "group": group,
        "type": "consumer" if stage in ("mixed", "consumer") else "classic",
        "members_most": random.randrange(9),
        "rebalances": len(own),
        "joined": sum(len(row["joined"]) for row in own),
        "left": sum(len(row["left"]) for row in own),
        "storms": random.randrange(2),
        "rebalancing_s": float(sum(row["duration_s"] or 0.0 for row in own)),
        "zombies": random.randrange(2),
        "migration": stage,
    }
