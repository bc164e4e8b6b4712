"""Sums of lag: by topic, by group, over all groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.render.document import Cell, Duration, Table, columns
from cli.verbs.describe.offsets import OffsetRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Of some partitions.

    Attributes:
        lag: the sum of the lags that are known, None where none is. Offsets that are committed beyond the end of the
            log count as none: they must not hide that others lag.
        unknown: how many partitions have a lag that is not known, and is not in the sum.
        longest_ms: the longest lag time that is known.
    """

    partitions: int
    lag: int | None
    unknown: int
    longest_ms: int | None

    @classmethod
    def of(cls, rows: Sequence[OffsetRow]) -> Totals:
        """Of the rows of a table of offsets."""
        lags = [lag for row in rows if (lag := row.lag) is not None]
        times = [row.lag_ms for row in rows if row.lag_ms is not None]
        return cls(
            partitions=len(rows),
            lag=sum(max(lag, 0) for lag in lags) if lags else None,
            unknown=len(rows) - len(lags),
            longest_ms=max(times, default=None),
        )

    def as_data(self, *, lag_time: bool) -> dict[str, Any]:
        """Fields of the JSON document."""
        data: dict[str, Any] = {
            "partitions": self.partitions,
            "lag": self.lag,
            "lag_unknown": self.unknown,
        }
        return data | {"max_lag_ms": self.longest_ms} if lag_time else data

    def cells(self, *, lag_time: bool) -> tuple[Cell, ...]:
        """Under the headings of `_HEADINGS`."""
        longest = None if self.longest_ms is None else Duration(self.longest_ms)
        return (self.partitions, self.lag, self.unknown, *((longest,) if lag_time else ()))


_HEADINGS = ("##PARTITIONS", "#LAG", "##LAG-UNKNOWN")
_LAG_TIME = "#MAX-LAG-TIME"


def group_totals(rows: Sequence[OffsetRow], *, lag_time: bool) -> dict[str, Any]:
    """The sums of a group for the JSON document, topic by topic too."""
    topics = [
        {"topic": topic, **Totals.of(own).as_data(lag_time=lag_time)}
        for topic, own in _by_topic(rows).items()
    ]
    return {**Totals.of(rows).as_data(lag_time=lag_time), "topics": topics}


def all_totals(rows: Mapping[str, Sequence[OffsetRow]], *, lag_time: bool) -> dict[str, Any]:
    """The sums over all groups for the JSON document."""
    return {"groups": len(rows), **Totals.of(_flat(rows)).as_data(lag_time=lag_time)}


def total_tables(rows: Mapping[str, Sequence[OffsetRow]], *, lag_time: bool) -> list[Table]:
    """A table with a row per topic of each group, one with a row per group, and of several groups one over all."""
    headings = (*_HEADINGS, *((_LAG_TIME,) if lag_time else ()))
    topics, groups = [], []
    for group, own in rows.items():
        by_topic = _by_topic(own)
        topics += [
            (group, topic, *Totals.of(each).cells(lag_time=lag_time)) for topic, each in by_topic.items()
        ]
        groups.append((group, len(by_topic), *Totals.of(own).cells(lag_time=lag_time)))
    tables = [
        Table(columns=columns("GROUP", "TOPIC", *headings), rows=topics),
        Table(columns=columns("GROUP", "##TOPICS", *headings), rows=groups),
    ]
    if len(rows) > 1:
        overall = (len(rows), *Totals.of(_flat(rows)).cells(lag_time=lag_time))
        tables.append(Table(columns=columns("##GROUPS", *headings), rows=[overall]))
    return tables


def _by_topic(rows: Iterable[OffsetRow]) -> dict[str, list[OffsetRow]]:
    """By name."""
    found: dict[str, list[OffsetRow]] = {}
    for row in rows:
        found.setdefault(row.topic, []).append(row)
    return dict(sorted(found.items()))


def _flat(rows: Mapping[str, Sequence[OffsetRow]]) -> list[OffsetRow]:
    return [row for own in rows.values() for row in own]
