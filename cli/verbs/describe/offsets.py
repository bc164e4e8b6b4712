"""Committed offsets and lag in `kohort describe`, and their sums by topic, by group, and over all groups."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli.render.cells import Cell, Duration
from cli.render.document import DeferredRows, Table, columns, fields
from groups.counts import counted, first_names
from groups.lag import (
    NextRecords,
    PartitionLag,
    each_once,
    longest_lag_ms,
    partition_lags,
    total_lag,
    with_next_records,
)
from groups.model import Group, Topic
from groups.times import format_moment
from groups.use import unsubscribed_topics


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsView:
    """Optional columns and rows; lag times, from the first unread `records`, are relative to `now_ms`."""

    records: NextRecords | None = None
    now_ms: int = 0
    last_commit: bool = False
    totals: bool = False
    partitions: bool = True  # Whether tables have a row per partition; documents for programs always do
    only_with_lag: bool = False
    verbose: bool = False  # whether leader epochs, log start offsets, and what was deleted unread are shown
    topics: frozenset[str] = frozenset()  # the topics to show; empty means all

    @property
    def lag_time(self) -> bool:
        return self.records is not None

    def rows(self, group: Group, topics: Mapping[str, Topic]) -> list[PartitionLag]:
        rows = partition_lags(group, topics)
        if self.topics:
            rows = [row for row in rows if row.topic in self.topics]
        return rows if self.records is None else with_next_records(rows, self.records, self.now_ms)


PLAIN = OffsetsView()
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


def offsets_table(
    groups: Sequence[Group], offsets: Mapping[str, Sequence[PartitionLag]], view: OffsetsView
) -> Table:
    epoch = ["#LEADER-EPOCH"] if view.verbose else []
    names = ["GROUP", "TOPIC", "#PARTITION", *epoch, "#CURRENT-OFFSET"]
    names += ["#LOG-START-OFFSET"] if view.verbose else []
    names += ["#LOG-END-OFFSET", "#LAG"]
    names += ["#LAG-TIME"] if view.lag_time else []
    names += ["LAST-COMMIT"] if view.last_commit else []
    lost = view.verbose and any(row.lost for listed in offsets.values() for row in listed)

    def cells() -> Iterator[Sequence[Cell]]:
        for group in groups:
            for row in offsets[group.id]:
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

    names += ["CONSUMER-ID", "HOST", "CLIENT-ID", *(["REMARK"] if lost else [])]
    return Table(columns=columns(*names), rows=DeferredRows(lambda: list(cells())))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over partitions: known lags (None: none known; below 0 as 0), how many are unknown, the longest lag time."""

    partitions: int
    lag: int | None
    unknown: int
    longest_ms: int | None

    @classmethod
    def of(cls, rows: Sequence[PartitionLag]) -> "Totals":
        """The sums over rows of a table of offsets."""
        return cls(
            partitions=len(rows),
            lag=total_lag(row.lag for row in rows),
            unknown=sum(row.lag is None for row in rows),
            longest_ms=longest_lag_ms(rows),
        )

    def as_data(self, *, lag_time: bool) -> dict[str, object]:
        data: dict[str, object] = {**fields(self, "partitions", "lag"), "lag_unknown": self.unknown}
        return data | {"max_lag_ms": self.longest_ms} if lag_time else data

    def cells(self, *, lag_time: bool) -> tuple[Cell, ...]:
        longest = (_duration(self.longest_ms),) if lag_time else ()
        return (self.partitions, self.lag, self.unknown, *longest)


def group_totals(group: Group, rows: Sequence[PartitionLag], *, lag_time: bool) -> dict[str, object]:
    rows = each_once(rows)
    topics = [
        {"topic": topic, **Totals.of(of_topic).as_data(lag_time=lag_time)}
        for topic, of_topic in _by_topic(rows).items()
    ]
    unsubscribed = total_lag(row.lag for row in rows if not row.is_subscribed) or 0
    return {
        **Totals.of(rows).as_data(lag_time=lag_time),
        "lag_unsubscribed": None if unsubscribed_topics(group) is None else unsubscribed,
        "topics": topics,
    }


def all_totals(rows: Mapping[str, Sequence[PartitionLag]], *, lag_time: bool) -> dict[str, object]:
    return {"groups": len(rows), **Totals.of(_flat(rows)).as_data(lag_time=lag_time)}


def total_tables(rows: Mapping[str, Sequence[PartitionLag]], *, lag_time: bool) -> list[Table]:
    """Tables with a row per topic of each group, with a row per group and, for several groups, one over all."""
    headings = ("##PARTITIONS", "#LAG", "##LAG-UNKNOWN", *(("#MAX-LAG-TIME",) if lag_time else ()))
    topics, groups = [], []
    for group, listed in rows.items():
        once = each_once(listed)
        by_topic = _by_topic(once)
        topics += [
            (group, topic, *Totals.of(of_topic).cells(lag_time=lag_time))
            for topic, of_topic in by_topic.items()
        ]
        groups.append((group, len(by_topic), *Totals.of(once).cells(lag_time=lag_time)))
    tables = [
        Table(columns=columns("GROUP", "TOPIC", *headings), rows=topics),
        Table(columns=columns("GROUP", "##TOPICS", *headings), rows=groups),
    ]
    if len(rows) > 1:
        overall = (len(rows), *Totals.of(_flat(rows)).cells(lag_time=lag_time))
        tables.append(Table(columns=columns("##GROUPS", *headings), rows=[overall]))
    return tables


def _by_topic(rows: Iterable[PartitionLag]) -> dict[str, list[PartitionLag]]:
    by_topic: dict[str, list[PartitionLag]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    return dict(sorted(by_topic.items()))


def _flat(rows: Mapping[str, Sequence[PartitionLag]]) -> list[PartitionLag]:
    return [row for listed in rows.values() for row in each_once(listed)]
