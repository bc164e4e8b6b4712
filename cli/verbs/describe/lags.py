"""The committed offsets of groups, read some groups at a time, and the document of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from cli.render.document import Block, Deferred, Document, Late, fields
from cli.render.streamed import Parts, Streamed
from cli.selection import split_list
from cli.sources.source import ReadResult, Source
from cli.verbs.describe.entries import group_data
from cli.verbs.describe.offsets import (
    OffsetsPart,
    OffsetsView,
    TotalsOfGroups,
    lag_time_remarks,
    lagging,
    offsets_table,
    unsubscribed_remarks,
)
from cli.verbs.describe.options import DescribeOptions
from cli.verbs.describe.remarks import missing_commit_times, pending_remarks, state_remarks
from cli.verbs.describe.roles import with_unknown_leaders, without_partitions
from groups.counts import counted
from groups.lag import (
    NextRecords,
    lag_columns,
    partition_lags,
    topics_with_offsets,
    unread_offsets,
)
from groups.model import Group, Problem, Topic


def _remarks(part: OffsetsPart, view: OffsetsView) -> Iterator[tuple[str, ...]]:
    """The remarks on these groups by kind, and those of reading them."""
    yield state_remarks(part.groups)
    yield without_partitions(part.groups)
    yield pending_remarks(part.groups, view.now_ms)
    yield unsubscribed_remarks(part.rows) if view.totals else ()
    yield lag_time_remarks(part.rows, view.now_ms) if view.lag_time else ()
    yield part.remarks


def _left_out(count: int) -> tuple[str, ...]:
    return (f"{counted(count, 'partition')} left out: their lag is not known",) if count else ()


def read_offsets(
    source: Source,
    described: Iterable[ReadResult[Group]],
    options: DescribeOptions,
    topics: Sequence[str] | None,
    *,
    whole: bool,
    of_rows: bool,
) -> Document:
    """The document of groups with their committed offsets, limited to the topics if any are named; see
    `offsets_document`. What is more than offsets is requested of all groups at once."""
    if options.lag_time or options.last_commit or options.verbose:
        described, whole = [_joined(described)], True
    view = OffsetsView(
        now_ms=time.time_ns() // 1_000_000,
        partitions=options.offsets or options.last_commit or not options.totals,
        topics=frozenset(split_list(topics)),
        **fields(options, "lag_time", "last_commit", "totals", "only_with_lag", "verbose"),
    )
    parts = (_read_part(source, read, view) for read in described)
    return offsets_document(parts, view, whole=whole, of_rows=of_rows)


def _joined(described: Iterable[ReadResult[Group]]) -> ReadResult[Group]:
    parts = [*described]
    return ReadResult(
        tuple(group for part in parts for group in part.items),
        tuple(problem for part in parts for problem in part.problems),
    )


def _read_part(source: Source, described: ReadResult[Group], view: OffsetsView) -> OffsetsPart:
    """The ends of logs are read after the offsets of the groups, so that they are not before them."""
    groups, only = with_unknown_leaders(source, described.items), view.topics
    if only:
        groups = tuple(
            replace(
                group,
                offsets=group.offsets
                and {topic: group.offsets[topic] for topic in group.offsets if topic in only},
            )
            for group in groups
        )
    names = topics_with_offsets(groups)
    read = source.topics(
        names & only if only else names, end_offsets=True, start_offsets=view.lag_time or view.verbose
    )
    topics = {topic.name: topic for topic in read.items}
    problems, remarks = described.problems + read.problems, tuple[str, ...]()
    records: NextRecords = {}
    if view.last_commit:
        timed = source.with_commit_times(groups)
        groups, problems = timed.items, problems + timed.problems
        remarks += missing_commit_times(groups, any_problem=bool(timed.problems))
    if view.lag_time:
        columns = (columns for group in groups for columns in lag_columns(group, topics, once=False))
        unread = source.next_records(unread_offsets(columns))
        records, problems = unread.records, problems + unread.problems
        remarks += () if unread.remark is None else (unread.remark,)
    return replace(offsets_part(groups, topics, view, records), problems=problems, remarks=remarks)


def offsets_part(
    groups: Sequence[Group], topics: Mapping[str, Topic], view: OffsetsView, records: NextRecords
) -> OffsetsPart:
    """The rows of groups; `topics` have the ends of their logs, and `records` is what comes next in them."""
    timed = records if view.lag_time else None
    rows = {group.id: partition_lags(group, topics, timed, view.now_ms) for group in groups}
    if view.topics:
        rows = {group: [row for row in listed if row.topic in view.topics] for group, listed in rows.items()}
    if not view.only_with_lag:
        return OffsetsPart(groups=groups, rows=rows)
    rows, unknown = lagging(rows)
    return OffsetsPart(groups=[group for group in groups if group.id in rows], rows=rows, left_out=unknown)


class _Found:
    """What was found in the parts of an answer so far."""

    def __init__(self, view: OffsetsView) -> None:
        self.late, self.totals = Late(), TotalsOfGroups(lag_time=view.lag_time)
        self._view = view
        self._left_out = 0
        self._by_kind: list[list[str]] = []
        self._known: set[Problem] = set()

    def in_each(self, parts: Iterable[OffsetsPart]) -> Iterator[OffsetsPart]:
        for part in parts:
            if self._view.totals:
                self.totals.add(part.rows)
            self._left_out += part.left_out
            remarks = [*_remarks(part, self._view)]
            self._by_kind = self._by_kind or [[] for _ in remarks]
            for of_kind, found in zip(self._by_kind, remarks, strict=True):
                of_kind.extend(found)
                self.late.remarks += found
            self.late.errors += [problem for problem in part.problems if problem not in self._known]
            self._known.update(part.problems)
            yield part
        self.late.remarks += _left_out(self._left_out)

    @property
    def remarks(self) -> tuple[str, ...]:
        """All remarks, by kind."""
        texts = [*map(tuple, self._by_kind)]
        return tuple(chain(*texts[:2], _left_out(self._left_out), *texts[2:]))


def offsets_document(
    parts: Iterable[OffsetsPart], view: OffsetsView, *, whole: bool = True, of_rows: bool = True
) -> Document:
    """The document; unless it must be `whole`, a long one is read while it is printed. Without `of_rows`, neither rows
    nor data are printed if only totals are wanted."""
    found = _Found(view)
    held = Parts(found.in_each(parts), None if whole else _size)
    if not (of_rows or view.partitions):
        held.drop()

    def entries(part: OffsetsPart) -> Iterator[dict[str, object]]:
        return (group_data(group, part.rows[group.id], view) for group in part.groups)

    def data() -> dict[str, object]:
        groups = Streamed(held, entries)
        of_all = {"totals": Deferred(lambda: found.totals.data)} if view.totals else {}
        return {"groups": [*groups] if held.is_complete else groups, **of_all}

    blocks: list[Block] = [offsets_table(held, view)] if view.partitions else []
    if view.totals:
        blocks += found.totals.tables(held)
    return Document(
        command="describe",
        data=Deferred(data),
        blocks=blocks,
        errors=tuple(found.late.errors) if held.is_complete else (),
        remarks=found.remarks if held.is_complete else (),
        late=None if held.is_complete else found.late,
    )


def _size(part: OffsetsPart) -> int:
    return sum(map(len, part.rows.values()))
