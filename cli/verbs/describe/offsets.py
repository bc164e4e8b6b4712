"""Committed offsets and lag in `kohort describe`, and their sums by topic, by group, and over all groups."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli.render.cells import Cell, Duration
from cli.render.document import DeferredRows, Table, columns, fields
from cli.render.streamed import Parts, Streamed
from groups.counts import counted, first_names
from groups.lag import LagSums, LongestLag, PartitionLag, each_once, longest_lag, total_lag
from groups.model import Group, Problem
from groups.times import format_moment
from groups.use import unsubscribed_topics


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsView:
    """Optional columns and rows; lag times are relative to `now_ms`."""

    lag_time: bool = False
    now_ms: int = 0
    last_commit: bool = False
    totals: bool = False
    partitions: bool = True  # Whether tables have a row per partition; documents for programs always do
    only_with_lag: bool = False
    verbose: bool = False  # whether leader epochs, log start offsets, and what was deleted unread are shown
    topics: frozenset[str] = frozenset()  # the topics to show; empty means all


PLAIN = OffsetsView()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsPart:
    """Some groups with their rows; `left_out` is the number of partitions that may lag and are not among them."""

    groups: Sequence[Group]
    rows: Mapping[str, Sequence[PartitionLag]]
    problems: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()
    left_out: int = 0


_NAMED = 5


def lagging(rows: Mapping[str, Sequence[PartitionLag]]) -> tuple[dict[str, list[PartitionLag]], int]:
    """The groups and rows that are known to lag, also negatively, and the number of rows with unknown lag."""
    behind = {group: [row for row in listed if row.lag] for group, listed in rows.items()}
    unknown = sum(row.lag is None for listed in rows.values() for row in listed)
    return {group: listed for group, listed in behind.items() if listed}, unknown


def offset_data(row: PartitionLag, view: OffsetsView, group: Group) -> dict[str, object]:
    pending = {} if group.pending is None else group.pending.partitions
    data: dict[str, object] = {
        **fields(row, "topic", "partition", "committed", "end", "lag", "leader_epoch", "metadata"),
        "member": row.member and row.member.id,
        "pending": row.partition in pending.get(row.topic, ()) or None,
    }
    if view.verbose:
        data |= {"log_start": row.log_start, "lost": row.lost}
    if view.lag_time:
        data |= {"lag_ms": row.lag_ms, "lag_ms_remark": why_no_lag_time(row, view.now_ms)}
    if view.last_commit:
        data["last_commit_ms"] = row.last_commit_ms
    return data


def offsets_table(parts: Parts[OffsetsPart], view: OffsetsView) -> Table:
    names = ["GROUP", "TOPIC", "#PARTITION", *(["#LEADER-EPOCH"] if view.verbose else []), "#CURRENT-OFFSET"]
    names += ["#LOG-START-OFFSET"] if view.verbose else []
    names += ["#LOG-END-OFFSET", "#LAG"]
    names += ["#LAG-TIME"] if view.lag_time else []
    names += ["LAST-COMMIT"] if view.last_commit else []
    lost = view.verbose and any(row.lost for part in parts for rows in part.rows.values() for row in rows)
    names += ["CONSUMER-ID", "HOST", "CLIENT-ID", *(["REMARK"] if lost else [])]

    def cells(part: OffsetsPart) -> Iterator[Sequence[Cell]]:
        for group in part.groups:
            for row in part.rows[group.id]:
                member = row.member
                yield (
                    group.id,
                    row.topic,
                    row.partition,
                    *((row.leader_epoch,) if view.verbose else ()),
                    row.committed,
                    *((row.log_start,) if view.verbose else ()),
                    row.end,
                    row.lag,
                    *((_duration(row.lag_ms),) if view.lag_time else ()),
                    *((_time(row.last_commit_ms),) if view.last_commit else ()),
                    *((None,) * 3 if member is None else (member.id, member.client.host, member.client.id)),
                    *((_lost_text(row),) if lost else ()),
                )

    return Table(columns=columns(*names), rows=Streamed(parts, cells))


def why_no_lag_time(row: PartitionLag, now_ms: int) -> str | None:
    """Why the age of the first unread record is not known although the log was read; None if it is known."""
    record = row.next_record
    if record is None or row.lag_ms is not None:
        return None
    if record.is_unknown:
        return (
            f"no record was found before offset {record.searched_to}, where the search ended (limit: 4 MiB)"
        )
    return record.wrong_time(now_ms)


def lag_time_remarks(rows: Mapping[str, Sequence[PartitionLag]], now_ms: int) -> tuple[str, ...]:
    """A line for each reason for which lag times are not known, with the partitions."""
    places: dict[str, dict[str, None]] = {}
    for listed in rows.values():
        for row in listed:
            if (why := why_no_lag_time(row, now_ms)) is not None:
                places.setdefault(why, {})[f"{row.topic}-{row.partition}"] = None
    lines = [
        f"the lag time of {first_names(list(names), _NAMED)} is not known: {why}"
        for why, names in places.items()
    ]
    more = sum(map(len, list(places.values())[_NAMED:]))
    return (*lines[:_NAMED], *([f"and of {counted(more, 'partition')} more"] if more else []))


def unsubscribed_remarks(rows: Mapping[str, Sequence[PartitionLag]]) -> tuple[str, ...]:
    """A line for each group with lag in topics that no member reads."""
    lines = []
    for group, listed in rows.items():
        left = [row for row in listed if row.lag and not row.is_subscribed]
        if lag := total_lag(row.lag for row in left):
            topics = sorted({row.topic for row in left})
            lines.append(
                f"{group}: {lag:,} of its lag {'is' if lag == 1 else 'are'} in topics that no member reads: "
                f"{first_names(topics, _NAMED)}. If their offsets are no longer needed: kohort offsets delete "
                f"{shlex.quote(group)} --topic {','.join(topics)}"
            )
    return tuple(lines)


def _lost_text(row: PartitionLag) -> str:
    return f"{counted(row.lost, 'offset')} before the log start: deleted unread" if row.lost else ""


def _duration(ms: int | None) -> Duration | None:
    return None if ms is None else Duration(ms)


def _time(ms: int | None) -> str | None:
    return None if ms is None else format_moment(ms)


def _totals_data(sums: LagSums, *, lag_time: bool) -> dict[str, object]:
    data: dict[str, object] = {**fields(sums, "partitions", "lag"), "lag_unknown": sums.unknown}
    return data | {"max_lag_ms": sums.longest.ms} if lag_time else data


def _totals_cells(sums: LagSums, *, lag_time: bool) -> tuple[Cell, ...]:
    longest = (_duration(sums.longest.ms),) if lag_time else ()
    return (sums.partitions, sums.lag, sums.unknown, *longest)


def group_totals(group: Group, rows: Sequence[PartitionLag], *, lag_time: bool) -> dict[str, object]:
    by_topic = _by_topic(rows, lag_time=lag_time)
    topics = [{"topic": topic, **_totals_data(sums, lag_time=lag_time)} for topic, sums in by_topic.items()]
    unsubscribed = total_lag(row.lag for row in rows if not row.is_subscribed) or 0
    return {
        **_totals_data(LagSums.over(by_topic.values()), lag_time=lag_time),
        "lag_unsubscribed": None if unsubscribed_topics(group) is None else unsubscribed,
        "topics": topics,
    }


class TotalsOfGroups:
    """Sums by topic of each group, by group, and over all groups, of rows that are added."""

    def __init__(self, *, lag_time: bool) -> None:
        self._lag_time = lag_time
        self._topics: list[Sequence[Cell]] = []
        self._groups: list[Sequence[Cell]] = []
        self._all = LagSums()

    def add(self, rows: Mapping[str, Sequence[PartitionLag]]) -> None:
        """Add the rows of more groups."""
        for group, listed in rows.items():
            by_topic = _by_topic(listed, lag_time=self._lag_time)
            of_group = LagSums.over(by_topic.values())
            self._topics += [
                (group, topic, *_totals_cells(sums, lag_time=self._lag_time))
                for topic, sums in by_topic.items()
            ]
            self._groups.append((group, len(by_topic), *_totals_cells(of_group, lag_time=self._lag_time)))
            self._all = self._all.with_(of_group)

    @property
    def data(self) -> dict[str, object]:
        return {"groups": len(self._groups), **_totals_data(self._all, lag_time=self._lag_time)}

    def tables(self, parts: Parts[OffsetsPart]) -> list[Table]:
        """Tables with a row per topic of each group, with a row per group and, for several groups, one over all. Their
        rows are known when all parts were read."""
        headings = ("##PARTITIONS", "#LAG", "##LAG-UNKNOWN", *(("#MAX-LAG-TIME",) if self._lag_time else ()))

        def topics() -> list[Sequence[Cell]]:
            deque(parts, maxlen=0)
            return self._topics

        tables = [
            Table(columns=columns("GROUP", "TOPIC", *headings), rows=DeferredRows(topics)),
            Table(columns=columns("GROUP", "##TOPICS", *headings), rows=DeferredRows(lambda: self._groups)),
        ]
        if len(self._groups) > 1:
            overall = DeferredRows(
                lambda: [(len(self._groups), *_totals_cells(self._all, lag_time=self._lag_time))]
            )
            tables.append(Table(columns=columns("##GROUPS", *headings), rows=overall))
        return tables


def _by_topic(rows: Sequence[PartitionLag], *, lag_time: bool) -> dict[str, LagSums]:
    """The sums over the rows of each topic that are shown; without `lag_time`, the longest is not known."""
    grouped: dict[str, list[PartitionLag]] = {}
    for row in each_once(rows):
        grouped.setdefault(row.topic, []).append(row)
    by_topic: dict[str, LagSums] = {}
    for topic, of_topic in sorted(grouped.items()):
        lags = [row.lag for row in of_topic]
        longest = longest_lag(of_topic) if lag_time else LongestLag()
        by_topic[topic] = LagSums(len(lags), lags.count(None), total_lag(lags), longest=longest)
    return by_topic
