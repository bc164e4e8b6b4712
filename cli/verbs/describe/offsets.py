"""Committed offsets and lag in `kohort describe`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.render.cells import Cell, Duration
from cli.render.document import DeferredRows, Table, columns
from groups.counts import counted, first_names
from groups.lag import NextRecords, PartitionLag, partition_lags, total_lag, with_next_records
from groups.model import Group, Topic
from groups.times import format_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsView:
    """The optional columns and rows of the table of offsets.

    `records` are the first unread records (`cli.sources.source.FoundRecords`) if lag times are requested; lag times
    are relative to `now_ms`.
    """

    records: NextRecords | None = None
    now_ms: int = 0
    last_commit: bool = False
    totals: bool = False
    only_with_lag: bool = False
    log_start: bool = False
    topics: frozenset[str] = frozenset()
    """The topics to show; empty means all."""

    @property
    def lag_time(self) -> bool:
        """Whether there is a column of lag times."""
        return self.records is not None

    def rows(self, group: Group, topics: Mapping[str, Topic]) -> list[PartitionLag]:
        """The rows of a group, with and without lag."""
        rows = partition_lags(group, topics)
        if self.topics:
            rows = [row for row in rows if row.topic in self.topics]
        return rows if self.records is None else with_next_records(rows, self.records, self.now_ms)


PLAIN = OffsetsView()


def lagging(rows: Mapping[str, Sequence[PartitionLag]]) -> tuple[dict[str, list[PartitionLag]], int]:
    """The groups and rows that are known to lag, and the number of rows with unknown lag.

    A negative lag is kept: nothing can be read from an offset beyond the end of the log.
    """
    behind = {group: [row for row in own if row.lag] for group, own in rows.items()}
    unknown = sum(row.lag is None for own in rows.values() for row in own)
    return {group: own for group, own in behind.items() if own}, unknown


def offset_data(row: PartitionLag, view: OffsetsView, group: Group) -> dict[str, Any]:
    """A partition in the JSON document."""
    pending = {} if group.pending is None else group.pending.partitions
    data = {
        "topic": row.topic,
        "partition": row.partition,
        "committed": row.committed,
        "end": row.end,
        "lag": row.lag,
        "leader_epoch": row.leader_epoch,
        "metadata": row.metadata,
        "member": row.member and row.member.id,
        "pending": row.partition in pending.get(row.topic, ()) or None,
    }
    if view.log_start:
        data |= {"log_start": row.log_start, "lost": row.lost}
    if view.lag_time:
        data |= {"lag_ms": row.lag_ms, "lag_ms_remark": why_no_lag_time(row, view.now_ms)}
    if view.last_commit:
        data["last_commit_ms"] = row.last_commit_ms
    return data


def offsets_table(
    groups: Sequence[Group],
    offsets: Mapping[str, Sequence[PartitionLag]],
    view: OffsetsView,
    *,
    verbose: bool,
) -> Table:
    """A row per partition of each group."""
    epoch = ["#LEADER-EPOCH"] if verbose else []
    names = ["GROUP", "TOPIC", "#PARTITION", *epoch, "#CURRENT-OFFSET"]
    names += ["#LOG-START-OFFSET"] if view.log_start else []
    names += ["#LOG-END-OFFSET", "#LAG"]
    names += ["#LAG-TIME"] if view.lag_time else []
    names += ["LAST-COMMIT"] if view.last_commit else []
    more = view.lag_time or view.last_commit
    lost = view.log_start and any(row.lost for own in offsets.values() for row in own)

    def cells() -> Iterator[Sequence[Cell]]:
        for group in groups:
            for row in offsets[group.id]:
                member = row.member
                yield (
                    group.id,
                    row.topic,
                    row.partition,
                    *((row.leader_epoch,) if verbose else ()),
                    row.committed,
                    *((row.log_start,) if view.log_start else ()),
                    row.end,
                    row.lag,
                    *(_times(row, view) if more else ()),
                    None if member is None else member.id,
                    None if member is None else member.client.host,
                    None if member is None else member.client.id,
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


_NAMED = 5


def _lost_text(row: PartitionLag) -> str:
    """A remark on unread records that were deleted; empty if none were."""
    if not row.lost:
        return ""
    return f"{counted(row.lost, 'offset')} before the log start: deleted unread"


def _times(row: PartitionLag, view: OffsetsView) -> tuple[Cell, ...]:
    lag = (None if row.lag_ms is None else Duration(row.lag_ms),) if view.lag_time else ()
    if not view.last_commit:
        return lag
    return (*lag, None if row.last_commit_ms is None else format_moment(row.last_commit_ms))
