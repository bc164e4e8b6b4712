"""`kohort list`."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions


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
) -> None:
    """List groups: type, state, protocol, members."""
    from cli.cluster.choose import open_source
    from cli.output import emit
    from cli.selection import listing_filter
    from cli.views.listing import list_document

    wanted = listing_filter(types, states, protocols, match)
    with open_source(source) as groups:
        listed = groups.list_groups()
    emit(list_document([group for group in listed.items if wanted(group)], listed.problems), output)
