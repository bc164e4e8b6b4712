"""The lag of whole groups, in records and in time, and of all of them: `--lag` of `kohort list`."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cli.render.cells import Cell, Duration
from cli.sources.source import ReadResult, Source
from groups.commits import unreadable
from groups.counts import counted, first_names
from groups.lag import LagColumns, LagSums, lag_columns, topics_with_offsets, unread_offsets
from groups.model import Cause, Group
from groups.times import duration_text

LAG = ("#LAG", "#LAG-TIME", "##PARTITIONS", "#WITHOUT-OFFSET")  # Headings of `GroupLag.cells`
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLag:
    """Sums over the partitions that a group owns or has committed to, or over those of several groups."""

    sums: LagSums
    without_offset: int | None  # Partitions without a committed offset; None: offsets could not be read

    @property
    def partitions(self) -> int | None:
        """Their number, which is not known if offsets could not be read."""
        return None if self.without_offset is None else self.sums.partitions

    @property
    def cells(self) -> tuple[Cell, ...]:
        longest_ms = self.sums.longest.ms
        longest = None if longest_ms is None else Duration(longest_ms)
        return self.sums.lag, longest, self.partitions, self.without_offset

    @property
    def data(self) -> dict[str, object]:
        longest_ms = self.sums.longest.ms
        return {
            "lag": self.sums.lag,
            "lag_unknown": self.sums.unknown,
            "lag_s": None if longest_ms is None else longest_ms / 1000,
            "partitions": self.partitions,
            "without_offset": self.without_offset,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLags:
    """The lag of the groups to show, and of all of them together."""

    read: ReadResult[Group]
    by_group: Mapping[str, GroupLag]
    total: GroupLag
    remarks: tuple[str, ...] = ()

    @property
    def total_data(self) -> dict[str, object]:
        return {"groups": len(self.by_group), **self.total.data}

    @property
    def total_text(self) -> str:
        """`Total of 3 groups: lag 1,200, longest 5 min, 40 partitions, 2 without offset.`"""
        totals, without = self.total.sums, self.total.without_offset
        parts = [f"lag {'unknown' if totals.lag is None else format(totals.lag, ',')}"]
        if totals.longest.ms is not None:
            parts.append(f"longest {duration_text(totals.longest.ms)}")
        parts.append(counted(totals.partitions, "partition"))
        parts += [f"{without:,} without offset"] if without else []
        other = totals.unknown - (without or 0)
        parts += [f"{other:,} with unknown lag"] if other > 0 else []
        return f"Total of {counted(len(self.by_group), 'group')}: {', '.join(parts)}."


def read_lags(source: Source, described: ReadResult[Group], *, only_with_lag: bool) -> GroupLags:
    """Read what is missing of the lag of groups that were described with their offsets. The rows of a group are
    computed when they are needed, twice: those of all groups take much more memory than their offsets."""
    groups = described.items
    logs = source.topics(topics_with_offsets(groups), end_offsets=True, start_offsets=True)
    topics = {topic.name: topic for topic in logs.items}
    unread = source.next_records(
        unread_offsets(columns for group in groups for columns in lag_columns(group, topics, once=True))
    )
    now_ms = time.time_ns() // 1_000_000
    by_group, total, missed, unknown = dict[str, GroupLag](), LagSums(), False, 0
    for group in groups:
        columns = [*lag_columns(group, topics, unread.records, now_ms, once=True)]
        sums = LagSums.over(map(LagSums.of, columns))
        is_behind = any(any(of_topic.lags) for of_topic in columns)
        missed = missed or is_behind or sums.unknown > 0
        if only_with_lag and not is_behind:
            unknown += group.offsets is None or sums.unknown > 0
            continue
        by_group[group.id] = GroupLag(sums=sums, without_offset=_without_offset(group, columns))
        total = total.with_(sums)
    remarks = [unread.remark] if unread.remark is not None and missed else []
    forbidden = [problem for problem in unread.problems if problem.cause is Cause.FORBIDDEN]
    if forbidden:  # The lags are whole without them
        names = first_names([problem.subject for problem in forbidden], _NAMED, "topics")
        remarks.append(f"{names}: {forbidden[0].message}")
    remarks += [f"{counted(unknown, 'group')} left out: whether they lag is not known"] if unknown else []
    without = [lag.without_offset for lag in by_group.values() if lag.without_offset is not None]
    unread_problems = tuple(problem for problem in unread.problems if problem not in forbidden)
    return GroupLags(
        read=ReadResult(
            tuple(group for group in groups if group.id in by_group),
            described.problems + logs.problems + unread_problems,
        ),
        by_group=by_group,
        total=GroupLag(sums=total, without_offset=sum(without) if without or not by_group else None),
        remarks=tuple(remarks),
    )


def _without_offset(group: Group, columns: Iterable[LagColumns]) -> int | None:
    if group.offsets is None:
        return None
    unread = {*unreadable(group.offsets)}
    return sum(
        position is None and (of_topic.topic, number) not in unread
        for of_topic in columns
        for number, position in zip(of_topic.numbers, of_topic.commits.positions, strict=True)
    )
