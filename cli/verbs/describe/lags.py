"""The committed offsets of groups, read some groups at a time, and the document of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

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
    partition_lags,
    topics_with_offsets,
    unread_offsets,
    with_next_records,
)
from groups.model import Group, Problem, Topic


def _all_remarks(part: OffsetsPart, view: OffsetsView) -> tuple[str, ...]:
    """The remarks on these groups, and those of reading them."""
    remarks = (*state_remarks(part.groups), *without_partitions(part.groups), *_left_out(part.left_out))
    remarks += pending_remarks(part.groups, view.now_ms)
    if view.totals:
        remarks += unsubscribed_remarks(part.rows)
    if view.lag_time:
        remarks += lag_time_remarks(part.rows, view.now_ms)
    return remarks + part.remarks


def _left_out(count: int) -> tuple[str, ...]:
    return (f"{counted(count, 'partition')} left out: their lag is not known",) if count else ()


def read_offsets(
    source: Source,
    described: Iterable[ReadResult[Group]],
    options: DescribeOptions,
    topics: Sequence[str] | None,
    *,
    whole: bool,
) -> Document:
    """The document of groups with their committed offsets, limited to the topics if any are named; `whole`: nothing is
    printed before everything is read. What is more than offsets is asked of all groups at once."""
    if options.lag_time or options.last_commit or options.verbose:
        described, whole = [_joined(described)], True
    view = OffsetsView(
        now_ms=time.time_ns() // 1_000_000,
        partitions=options.offsets or options.last_commit or not options.totals,
        topics=frozenset(split_list(topics)),
        **fields(options, "lag_time", "last_commit", "totals", "only_with_lag", "verbose"),
    )
    return offsets_document((_read_part(source, read, view) for read in described), view, whole=whole)


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
        unread = source.next_records(unread_offsets(partition_lags(group, topics) for group in groups))
        records, problems = unread.records, problems + unread.problems
        remarks += () if unread.remark is None else (unread.remark,)
    return replace(offsets_part(groups, topics, view, records), problems=problems, remarks=remarks)


def offsets_part(
    groups: Sequence[Group], topics: Mapping[str, Topic], view: OffsetsView, records: NextRecords
) -> OffsetsPart:
    """The rows of groups; `topics` have the ends of their logs, and `records` is what comes next in them."""
    rows = {group.id: partition_lags(group, topics) for group in groups}
    if view.topics:
        rows = {group: [row for row in listed if row.topic in view.topics] for group, listed in rows.items()}
    if view.lag_time:
        rows = {group: with_next_records(listed, records, view.now_ms) for group, listed in rows.items()}
    if not view.only_with_lag:
        return OffsetsPart(groups=groups, rows=rows)
    rows, unknown = lagging(rows)
    return OffsetsPart(groups=[group for group in groups if group.id in rows], rows=rows, left_out=unknown)


def offsets_document(parts: Iterable[OffsetsPart], view: OffsetsView, *, whole: bool = True) -> Document:
    """The document; unless it must be `whole`, a long one is read while it is printed."""
    late, totals = Late(), TotalsOfGroups(lag_time=view.lag_time)

    def noted() -> Iterator[OffsetsPart]:
        left_out = 0
        for part in parts:
            if view.totals:
                totals.add(part.rows)
            left_out += part.left_out
            late.remarks += _all_remarks(replace(part, left_out=0), view)
            late.errors += [problem for problem in part.problems if problem not in late.errors]
            yield part
        late.remarks += _left_out(left_out)

    held = Parts(noted(), None if whole else _size)
    errors, remarks = tuple[Problem, ...](), tuple[str, ...]()
    if held.is_complete:
        all_of_it = OffsetsPart.joined(held.first)
        held.first, errors, remarks = [all_of_it], all_of_it.problems, _all_remarks(all_of_it, view)

    def entries(part: OffsetsPart) -> Iterator[dict[str, object]]:
        return (group_data(group, part.rows[group.id], view) for group in part.groups)

    def data() -> dict[str, object]:
        groups = Streamed(held, entries)
        of_all = {"totals": Deferred(lambda: totals.data)} if view.totals else {}
        return {"groups": [*groups] if held.is_complete else groups, **of_all}

    blocks: list[Block] = [offsets_table(held, view)] if view.partitions else []
    if view.totals:
        blocks += totals.tables(held)
    return Document(
        command="describe",
        data=Deferred(data),
        blocks=blocks,
        errors=errors,
        remarks=remarks,
        late=None if held.is_complete else late,
    )


def _size(part: OffsetsPart) -> int:
    return sum(map(len, part.rows.values()))
