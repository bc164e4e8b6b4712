"""`kohort journal`."""

from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions
from cli.verbs.journal.options import JournalOptions


def journal(
    *,
    entry: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="Entry to show whole, by its first 4 digits or more.",
            show_default=False,
        ),
    ] = None,
    options: JournalOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """List the changes that Kohort has made.

    Or show one: each value before and after it. Every change has an entry, written before anything is sent and
    completed after it. One that was not completed is unknown: the command was killed, or is running. A source on
    the command line limits the list to its cluster.

    \b
    Examples:
      kohort journal --since 1d
      kohort journal 4F2A91C3
    """
    from cli.verbs.journal.action import show_journal

    show_journal(entry, options, source, output)
