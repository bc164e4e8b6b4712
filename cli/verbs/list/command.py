"""`kohort list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import OutputOptions, RepeatOptions, SourceOptions

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import Source


def list_groups(
    *,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE,…",
            help="Only these types: classic (or generic), consumer, share, streams.",
        ),
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE,…", help="Only these states: Stable, Empty, …"),
    ] = None,
    protocols: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol",
            metavar="NAME,…",
            help="Only these protocol types or assignors: consumer, connect, range, …",
        ),
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="REGEX", help="Only ids in which this matches (RE2).")
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """List groups: type, state, protocol, members."""
    from cli.selection import listing_filter
    from cli.verbs.list.view import list_document
    from cli.verbs.show import show

    wanted = listing_filter(types, states, protocols, match)

    def look(groups: Source) -> Document:
        listed = groups.list_groups()
        return list_document([group for group in listed.items if wanted(group)], listed.problems)

    show(look, source, output, repeat)
