"""The way of every change: show it, ask, make exactly what was shown, say what was done and what was not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Protocol

import typer

from cli.consent import ConsentOptions, ask
from cli.counts import counted
from cli.errors import ExitStatus
from cli.options import OutputOptions
from cli.output import arranged, emit, notice, status_of, write_out
from cli.render.document import Document
from cli.render.formats import render
from cli.render.output_format import FOR_PROGRAMS, OutputFormat

PREVIEW = "this is what would be done; nothing was changed. --execute does it"
NOTHING_DONE = "nothing was changed"
GROUPS_NAMED = 5
"""Of more groups only sums are said; every one is in the document."""


class Change(Protocol):
    """What a command would do to a cluster, all of it known before anything is sent."""

    @property
    def question(self) -> str:
        """What is to be agreed to: `set 12 offsets of 2 groups`."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        ...

    @property
    def refused(self) -> bool:
        """Whether the cluster would not take a part of it, or did not."""
        ...

    @property
    def done(self) -> str | None:
        """What was done, for people; None when nothing was."""
        ...

    def document(self) -> Document:
        """What is to be shown: before `apply` the change, after it the change and what became of it."""
        ...

    def apply(self) -> None:
        """Send it."""
        ...


def carry_out(change: Change, consent: ConsentOptions, output: OutputOptions) -> None:
    """Show a change and, with consent, make it. Leaves with the exit status."""
    if consent.place is not None:
        notice(f"on {consent.place}")
    if not consent.execute or change.is_empty:
        if not change.is_empty:
            notice(PREVIEW)
        _leave(change, output, asked=consent.execute)
        return
    programs = output.output in FOR_PROGRAMS
    preview = arranged(change.document(), output)
    if not programs:
        write_out(lambda stream: render(preview, output.output, stream))
    if not consent.is_given:
        if programs:
            render(preview, OutputFormat.TABLE, sys.stderr)
        for error in preview.errors:
            notice(f"{error.subject}: {error.message}")
        if not ask(f"about to {change.question}.", consent.place):
            notice(NOTHING_DONE)
            raise typer.Exit(int(ExitStatus.FALSE))
    change.apply()
    if change.done:
        notice(change.done)
    if programs:
        _leave(change, output)
        return
    document = change.document()
    for error in document.errors:
        if consent.is_given or error not in preview.errors:
            notice(f"{error.subject}: {error.message}")
    if document.errors:
        raise typer.Exit(int(ExitStatus.REFUSED if change.refused else ExitStatus.UNREADABLE))


def _leave(change: Change, output: OutputOptions, *, asked: bool = False) -> None:
    """Print the document; `asked`: the change was to be made, but there may be nothing that can be."""
    document = change.document()
    if asked and change.is_empty and document.rows_or_text and document.errors:
        notice(NOTHING_DONE)
    kept = change.is_empty and status_of(document.errors, shown=False) is ExitStatus.REFUSED
    emit(document, output, ExitStatus.REFUSED if change.refused or kept else ExitStatus.DONE)


def summed(verb: str, done: Mapping[str, int], what: str) -> str | None:
    """`set 2 offsets of payments; 3 offsets of orders`, of many groups only sums; None where nothing was done."""
    counts = {group: count for group, count in done.items() if count}
    if not counts:
        return None
    if len(counts) > GROUPS_NAMED:
        return f"{verb} {counted(sum(counts.values()), what)} of {len(counts)} groups"
    return f"{verb} {'; '.join(f'{counted(count, what)} of {group}' for group, count in counts.items())}"
