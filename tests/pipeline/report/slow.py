"""The same numbers by going through the rows one by one: what the aggregates are held against."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import Any

from pipeline.report.numbers import CAUSES, SPANS_S, STAGES
from tests.pipeline.report.tables import FIRST, Fleet

Row = dict[str, Any]


def busy_s(rebalances: list[Row]) -> float:
    """The length of the union of the rebalances of each group, on a line of milliseconds."""
    ticks = {
        (row["group"], tick)
        for row in rebalances
        if row["duration_s"] is not None
        for tick in range(_ms(row["start"]), _ms(row["end"]))
    }
    return len(ticks) / 1000


def _ms(moment: datetime) -> int:
    return round((moment - FIRST) / timedelta(milliseconds=1))


def causes_by_day(rebalances: list[Row]) -> dict[Any, tuple[int, ...]]:
    """As CAUSES."""
    found: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in rebalances:
        found[row["day"]][row["cause"]] += 1
    return {day: tuple(counts[cause] for cause in CAUSES) for day, counts in found.items()}


def stages_on(groups: list[Row], day: Any) -> tuple[int, ...]:
    """Groups by their last row so far."""
    latest: dict[str, Row] = {}
    for row in sorted(groups, key=lambda row: row["day"]):
        if row["day"] <= day:
            latest[row["group"]] = row
    counts = Counter(row["migration"] for row in latest.values())
    return tuple(counts[stage] for stage in STAGES)


def gaps(fleet: Fleet, end: datetime) -> list[tuple[str, str, float]]:
    """Group, protocol and length of each time without owner."""
    found = []
    for row in fleet.ownership:
        if row["member"] is not None:
            continue
        own = sorted(
            (each for each in fleet.rebalances if each["group"] == row["group"]),
            key=lambda each: each["start"],
        )
        before = [each for each in own if each["start"] <= row["since"]]
        length = ((row["until"] or end) - row["since"]).total_seconds()
        found.append((row["group"], (before or own)[-1 if before else 0]["protocol"], max(0.0, length)))
    return found


def interruptions(lengths: list[float]) -> tuple[int, ...]:
    """How many are in each class."""
    counts = Counter(sum(length >= span for span in SPANS_S) for length in lengths)
    return tuple(counts[place] for place in range(len(SPANS_S) + 1))
