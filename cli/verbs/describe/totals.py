"""The sums of `kohort describe --totals`: by topic, by group, and over all groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.render.cells import Cell, Duration
from cli.render.document import Table, columns
from groups.lag import PartitionLag, each_once, longest_lag_ms, total_lag
from groups.model import Group
from groups.use import unsubscribed_topics


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The sums over some partitions.

    Attributes:
        lag: the sum of the known lags, None if none is known. Offsets committed beyond the end of the
            log count as 0: they must not hide the lag of others.
        unknown: number of partitions whose lag is not known, and not in the sum.
        longest_ms: the longest known lag time, None if no lagging partition has one.
    """

    partitions: int
    lag: int | None
    unknown: int
    longest_ms: int | None

    @classmethod
    def of(cls, rows: Sequence[PartitionLag]) -> Totals:
        """The sums over rows of a table of offsets."""
        return cls(
            partitions=len(rows),
            lag=total_lag(row.lag for row in rows),
            unknown=sum(row.lag is None for row in rows),
            longest_ms=longest_lag_ms(rows),
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
        """The cells under the headings of `_HEADINGS`."""
        longest = None if self.longest_ms is None else Duration(self.longest_ms)
        return (self.partitions, self.lag, self.unknown, *((longest,) if lag_time else ()))


_HEADINGS = ("##PARTITIONS", "#LAG", "##LAG-UNKNOWN")
_LAG_TIME = "#MAX-LAG-TIME"


def group_totals(group: Group, rows: Sequence[PartitionLag], *, lag_time: bool) -> dict[str, Any]:
    """The sums of a group and of each of its topics for the JSON document."""
    rows = each_once(rows)
    topics = [
        {"topic": topic, **Totals.of(own).as_data(lag_time=lag_time)}
        for topic, own in _by_topic(rows).items()
    ]
    unsubscribed = total_lag(row.lag for row in rows if not row.is_subscribed) or 0
    return {
        **Totals.of(rows).as_data(lag_time=lag_time),
        "lag_unsubscribed": None if unsubscribed_topics(group) is None else unsubscribed,
        "topics": topics,
    }


def all_totals(rows: Mapping[str, Sequence[PartitionLag]], *, lag_time: bool) -> dict[str, Any]:
    """The sums over all groups for the JSON document."""
    return {"groups": len(rows), **Totals.of(_flat(rows)).as_data(lag_time=lag_time)}


def total_tables(rows: Mapping[str, Sequence[PartitionLag]], *, lag_time: bool) -> list[Table]:
    """Tables with a row per topic of each group, with a row per group and, for several groups, one over all."""
    headings = (*_HEADINGS, *((_LAG_TIME,) if lag_time else ()))
    topics, groups = [], []
    for group, listed in rows.items():
        own = each_once(listed)
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


def _by_topic(rows: Iterable[PartitionLag]) -> dict[str, list[PartitionLag]]:
    """Rows by topic name."""
    found: dict[str, list[PartitionLag]] = {}
    for row in rows:
        found.setdefault(row.topic, []).append(row)
    return dict(sorted(found.items()))


def _flat(rows: Mapping[str, Sequence[PartitionLag]]) -> list[PartitionLag]:
    return [row for own in rows.values() for row in each_once(own)]
