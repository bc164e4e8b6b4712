"""`kohort offsets export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OnlyTopics, SelectionOptions, SourceOptions


def export(
    *,
    selection: SelectionOptions,
    topic: OnlyTopics = None,
    with_group: Annotated[
        bool, typer.Option("--with-group", help="With the group's name in each line also for one group.")
    ] = False,
    file: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Where to write; else standard output.")
    ] = None,
    source: SourceOptions,
) -> None:
    """Write committed offsets as CSV, as kafka-consumer-groups --export does.

    topic,partition,offset for one group that is named, group,topic,partition,offset for several; no header.
    """
    from cli.counts import counted
    from cli.errors import CommandError
    from cli.opening import opened
    from cli.output import notice, status_of, write_out
    from cli.selection import describe_chosen
    from cli.verbs.offsets.copies import exported
    from cli.verbs.offsets.plans import parse_scopes
    from groups.offsets.offsets_csv import write_offsets

    scopes = parse_scopes(topic)
    with opened(source) as groups:
        read = describe_chosen(groups, selection, offsets=True)
    rows, unusable = exported(read.items, scopes)
    with_group = with_group or len(set(selection.groups or ())) != 1
    text = write_offsets(rows, with_group=with_group)
    if file is None:
        write_out(lambda stream: stream.write(text))
    else:
        try:
            file.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None
        notice(f"{counted(len(rows), 'offset')} written to {file}")
    unread = (*read.problems, *unusable)
    for problem in unread:
        notice(f"{problem.subject}: {problem.message}")
    if unread:
        raise typer.Exit(int(status_of(unread, shown=bool(read.items))))
