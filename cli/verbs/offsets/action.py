"""`kohort offsets delete` and `export`."""

from collections.abc import Sequence

import typer

from cli.changing import carry_out
from cli.consent import EmptyGroupConsent
from cli.errors import UsageError
from cli.options import FileOptions, OffsetsSelection, OutputOptions, SourceOptions
from cli.output import as_utf8, file_of, notice, status_of, write_file, write_out
from cli.selection import (
    choose_groups,
    describe_chosen,
    group_filter,
    opened,
    opened_for_change,
    with_close_names,
)
from cli.verbs.offsets.change import OffsetsDeletions
from cli.verbs.offsets.facts import all_places, find_groups, left_out, parse_scopes
from cli.waiting import wait_until_empty
from groups.counts import counted
from groups.listing import Cause
from groups.model import NOTHING_COMMITTED, Group, Problem, TopicPartition
from groups.offsets.model import TopicScope, committed_in
from groups.offsets.offsets_csv import write_offsets
from groups.offsets.plan import plan_offsets_deletion


def delete_offsets(
    selection: OffsetsSelection,
    topics: Sequence[str] | None,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
    *,
    all_topics: bool,
) -> None:
    scopes = parse_scopes(topics)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        chosen, problems = choose_groups(groups, selection)
        types, named = group_filter(selection).types, bool(selection.groups)
        wait_until_empty(groups, chosen, consent, leaving_out=left_out(types, named=named))
        if all_topics == bool(scopes):
            raise UsageError("--topic TOPIC[:0,1] (repeatable) or --all-topics is required")
        read = find_groups(groups, chosen, named=named, types=types)
        absent = (
            Problem(subject=name, message="no such group", cause=Cause.ABSENT, group=name)
            for name in sorted(read.absent)
        )
        plans = []
        for group in filter(read.exists, read.groups):
            if all_topics:
                scopes = tuple(map(TopicScope, sorted({topic for topic, _ in all_places(group)})))
            plan = plan_offsets_deletion(group, scopes, read.problems.get(group.id, ()))
            if named or plan.offsets:  # a group without such offsets is left out unless it is named
                plans.append(plan)
        problems = (*problems, *with_close_names(groups, tuple(absent)), *read.others)
        carry_out(
            OffsetsDeletions(plans=tuple(plans), problems=problems, writer=writer), consent, output, groups
        )


def export_offsets(
    selection: OffsetsSelection,
    topics: Sequence[str] | None,
    options: FileOptions,
    source: SourceOptions,
    *,
    with_group: bool,
) -> None:
    """Write the offsets of the selected groups as CSV."""
    file = file_of(options)
    scopes = parse_scopes(topics)
    with opened(source) as groups:
        read = describe_chosen(groups, selection, offsets=True)
    rows, unusable = exported(read.items, scopes)
    text = write_offsets(rows, with_group=with_group or len(set(selection.groups or ())) != 1)
    if file is None:
        write_out(lambda stream: as_utf8(stream).write(text))
    else:
        write_file(file, [text], newline="")
        notice(f"{counted(len(rows), 'offset')} written to {file}")
    unread = (*read.problems, *unusable)
    for problem in unread:
        notice(f"{problem.subject}: {problem.message}")
    if unread:
        raise typer.Exit(int(status_of(unread, shown=bool(read.items))))


def exported(
    groups: Sequence[Group], scopes: Sequence[TopicScope]
) -> tuple[list[tuple[str, TopicPartition, int]], tuple[Problem, ...]]:
    """Rows of a CSV file by group, topic and partition, and problems of partitions that have none."""
    rows: list[tuple[str, TopicPartition, int]] = []
    problems: list[Problem] = []
    for group in groups:
        committed = group.offsets or {}
        for topic, number in committed_in(scopes, committed):
            partition, offset = (topic, number), committed[topic][number].offset
            if offset == NOTHING_COMMITTED:
                continue  # a share group has not started to deliver this partition
            if offset is None or offset < 0:
                message = f"its committed offset is {offset or 'not known'}"
                problems.append(Problem(subject=f"{group.id}, {topic}-{number}", message=message))
            else:
                rows.append((group.id, partition, offset))
    return rows, tuple(problems)
