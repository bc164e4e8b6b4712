"""`kohort snapshot`: its options, and the contents of a snapshot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import FileOptions, SelectionOptions, SourceOptions, option

if TYPE_CHECKING:
    from cli.sources.source import ReadResult, Source
    from groups.model import Group, Problem
    from groups.snapshot import Snapshot


def snapshot(
    *,
    selection: SelectionOptions,
    file: FileOptions,
    leaders: Annotated[
        bool, option("--leaders", "Add leaders of classic groups, from __consumer_offsets of a live cluster.")
    ] = False,
    source: SourceOptions,
) -> None:
    """Save groups and their topics to a file.

    Other commands read the file with --snapshot. Saves all groups unless some are named. The file is YAML, or JSON
    if its name ends in .json.

    \b
    Examples:
      kohort snapshot --file groups.yaml
      kohort snapshot billing -b localhost:9092 --file billing.yaml
    """
    _save(selection, file, source, leaders=leaders)


def _save(selection: SelectionOptions, options: FileOptions, source: SourceOptions, *, leaders: bool) -> None:
    from cli.output import file_of, notice, status_of, write_file, write_out
    from cli.selection import describe_chosen, opened
    from groups.counts import counted
    from groups.snapshot import snapshot_parts

    file = file_of(options)
    if not (selection.groups or selection.match or selection.all_groups):
        selection = replace(selection, all_groups=True)
    with opened(source) as groups:
        described = describe_chosen(groups, selection, offsets=True)
        taken, unread = take_snapshot(groups, described, leaders=leaders)
    if file is None:
        write_out(lambda stream: stream.writelines(snapshot_parts(taken)))
    else:
        write_file(file, snapshot_parts(taken, as_json=file.suffix.lower() == ".json"))
        notice(
            f"{counted(len(taken.groups), 'group')} and {counted(len(taken.topics), 'topic')} written to {file}"
        )
    for problem in unread:
        notice(f"{problem.subject}: {problem.message}")
    if unread:
        raise typer.Exit(int(status_of(unread, shown=bool(taken.groups))))


def take_snapshot(
    source: Source, described: ReadResult[Group], *, leaders: bool = False
) -> tuple[Snapshot, tuple[Problem, ...]]:
    """Groups with their offsets, all topics, and with `leaders` also classic groups' leaders, or why not known."""
    from groups.model import Cause, Problem
    from groups.settings import own_settings
    from groups.snapshot import Snapshot, with_usable_racks

    groups = source.with_leaders(described.items) if leaders else described.items
    unled = tuple(
        Problem(subject=group.id, message=f"who leads is not known: {group.leader_problem}")
        for group in groups
        if group.leader_problem is not None
    )
    topics = source.topics(None, start_offsets=True, stable_offsets=True, end_offsets=True)
    settings = source.group_settings([group.id for group in groups])
    cluster = source.cluster()
    unset = list(settings.problems)
    if cluster.settings_problem is not None:
        cause = Cause.FORBIDDEN if "AUTHORIZATION_FAILED" in cluster.settings_problem else Cause.UNREAD
        message = f"not known: {cluster.settings_problem}"
        unset.append(Problem(subject="the brokers' settings", message=message, cause=cause))
    for problem in unset:
        if problem.cause is Cause.FORBIDDEN:  # a snapshot is whole without them
            source.notices.add(f"{problem.subject}: {problem.message}")
    unread = tuple(problem for problem in unset if problem.cause is not Cause.FORBIDDEN)
    snapshot = Snapshot(
        cluster=cluster,
        topics={topic.name: with_usable_racks(topic) for topic in topics.items},
        groups={
            group.id: replace(group, settings=own_settings(settings.by_group.get(group.id)))
            for group in groups
        },
    )
    return snapshot, described.problems + unled + topics.problems + unread
