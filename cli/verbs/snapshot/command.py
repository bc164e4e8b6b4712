"""`kohort snapshot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import SelectionOptions, SourceOptions


def snapshot(
    *,
    selection: SelectionOptions,
    file: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="Where to write; YAML, or JSON when it ends in .json."
        ),
    ] = None,
    leaders: Annotated[
        bool,
        typer.Option(
            "--leaders", help="Note who leads classic groups: reads __consumer_offsets of a live cluster."
        ),
    ] = False,
    source: SourceOptions,
) -> None:
    """Save groups, with the topics they read, to a file that every command takes as --snapshot.

    All groups, unless some are named. Without -o the YAML goes to standard output.
    """
    from dataclasses import replace

    from cli.counts import counted
    from cli.errors import CommandError
    from cli.opening import opened
    from cli.output import notice, status_of, write_out
    from cli.selection import describe_chosen
    from cli.verbs.snapshot.action import take_snapshot
    from groups.snapshot import snapshot_text, write_snapshot

    if not (selection.groups or selection.match or selection.all_groups):
        selection = replace(selection, all_groups=True)
    with opened(source) as groups:
        described = describe_chosen(groups, selection, offsets=True)
        taken, unread = take_snapshot(groups, described, leaders=leaders)
    if file is None:
        write_out(lambda stream: stream.write(snapshot_text(taken)))
    else:
        try:
            write_snapshot(taken, file)
        except OSError as error:
            raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None
        notice(
            f"{counted(len(taken.groups), 'group')} and {counted(len(taken.topics), 'topic')} written to {file}"
        )
    for problem in unread:
        notice(f"{problem.subject}: {problem.message}")
    if unread:
        raise typer.Exit(int(status_of(unread, shown=bool(taken.groups))))
