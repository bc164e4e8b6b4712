"""Read the facts for the table of committed offsets: log end offsets, times of records and of commits."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from cli.render.document import Document
from cli.sources.source import ReadResult, Source
from cli.verbs.describe.offsets import OffsetsView
from cli.verbs.describe.view import DescribeMode, describe_document
from groups.lag import NextRecords, partition_lags, topics_with_offsets, unread_offsets
from groups.model import Group, GroupType


def offsets_document(
    source: Source,
    described: ReadResult[Group],
    *,
    lag_time: bool,
    last_commit: bool,
    totals: bool,
    only_with_lag: bool,
    verbose: bool,
    only_topics: Collection[str] = (),
) -> Document:
    """The document of groups with their committed offsets, limited to `only_topics` if any are named."""
    groups, only = described.items, frozenset(only_topics)
    if only:
        groups = tuple(_of_topics(group, only) for group in groups)
    wanted = topics_with_offsets(groups)
    read = source.topics(
        wanted & only if only else wanted, end_offsets=True, start_offsets=lag_time or verbose
    )
    topics = {topic.name: topic for topic in read.items}
    problems, remarks = described.problems + read.problems, tuple[str, ...]()
    records: NextRecords | None = None
    if last_commit:
        timed = source.with_commit_times(groups)
        groups, problems = timed.items, problems + timed.problems
        remarks += _missing_commit_times(groups, any_problem=bool(timed.problems))
    if lag_time:
        found = source.next_records(unread_offsets(partition_lags(group, topics) for group in groups))
        records, problems = found.records, problems + found.problems
        remarks += () if found.remark is None else (found.remark,)
    view = OffsetsView(
        records=records,
        now_ms=time.time_ns() // 1_000_000,
        last_commit=last_commit,
        totals=totals,
        only_with_lag=only_with_lag,
        log_start=verbose,
        topics=only,
    )
    document = describe_document(
        groups, topics, DescribeMode.OFFSETS, verbose=verbose, problems=problems, view=view
    )
    return replace(document, remarks=document.remarks + remarks)


def _of_topics(group: Group, topics: frozenset[str]) -> Group:
    """The group with its committed offsets of certain topics only."""
    if group.offsets is None:
        return group
    return replace(group, offsets={topic: own for topic, own in group.offsets.items() if topic in topics})


def _missing_commit_times(groups: Sequence[Group], *, any_problem: bool) -> tuple[str, ...]:
    """A remark on missing times of commits that no problem explains."""
    share = [group.id for group in groups if group.type is GroupType.SHARE]
    remarks = tuple(
        f"{group}: the last commit of a share group is not known: its offsets are in __share_group_state"
        for group in share
    )
    without = [
        group.id
        for group in groups
        if group.type is not GroupType.SHARE
        and any(each.timestamp is None for own in (group.offsets or {}).values() for each in own.values())
    ]
    if without and not any_problem:
        more = f" and {len(without) - 1} more groups" if len(without) > 1 else ""
        remarks += (f"{without[0]}{more}: the source does not show when offsets were committed",)
    return remarks
