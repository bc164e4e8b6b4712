"""`kohort undo`."""

from typing import Annotated

import typer

from cli.consent import EmptyGroupConsent
from cli.options import OutputOptions, SourceOptions, option


def undo(
    *,
    entry: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="Entry of the journal, or its first 4 digits; by default the last change of this cluster.",
            show_default=False,
        ),
    ] = None,
    partly: Annotated[bool, option("--partly", "Restore what is possible, if the rest is not.")] = False,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Undo a change: restore what its journal entry replaced.

    Shows what the cluster has now and what is restored; nothing is changed without --execute. All of a change is
    restored or none, unless --partly is given. An undo is in the journal too, so it can be undone.

    \b
    Examples:
      kohort undo -b localhost:9092
      kohort undo 4F2A91C3 --execute
    """
    from cli.verbs.undo.action import undo_entry

    undo_entry(entry, consent, source, output, partly=partly)
