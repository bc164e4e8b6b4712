"""The same numbers by going through the rows one by one: what the aggregates are held against."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from pipeline.report.numbers import CAUSES, SPANS_S, STAGES
from tests.pipeline.report.tables import FIRST, Fleet

Row = dict[str, Any]


def busy_s(rebalances: list[Row]) -> float:
    """The length of the union of the rebalances of each group: between two ends, one runs or none does."""
    known: dict[str, list[Row]] = defaultdict(list)
    for row in rebalances:
        if row["duration_s"] is not None:
            known[row["group"]].append(row)
    total = 0
    for rows in known.values():
        ends = sorted({_ms(row[end]) for row in rows for end in ("start", "end")})
        total += sum(
            later - moment
            for moment, later in pairwise(ends)
            if any(_ms(row["start"]) <= moment and later <= _ms(row["end"]) for row in rows)
        )
    return total / 1000


def timed(rebalances: list[Row]) -> bool:
    """Whether the duration of any of them is known."""
    return any(row["duration_s"] is not None for row in rebalances)


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
