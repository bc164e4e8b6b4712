"""`kohort list`: its options, and the document that it prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import OutputOptions, RepeatOptions, SourceOptions

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import Source
    from groups.listing import GroupListing, Problem


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
    from cli.output import emit
    from cli.selection import listing_filter, opened

    wanted = listing_filter(types, states, protocols, match)

    def look(groups: Source) -> Document:
        listed = groups.list_groups()
        return list_document([group for group in listed.items if wanted(group)], listed.problems)

    if repeat.watch is not None:
        from cli.verbs.watch.repeat import repeat_every

        repeat_every(repeat.watch, look, source, output)
        return
    with opened(source) as groups:
        document = look(groups)
    emit(document, output)


def list_document(groups: Sequence[GroupListing], problems: tuple[Problem, ...]) -> Document:
    """A row per group, by id."""
    from cli.render.document import Deferred, Document, Table, columns

    data = Deferred(
        lambda: {
            "groups": [
                {
                    "group": group.id,
                    "type": group.type.value,
                    "protocol_type": group.protocol_type,
                    "protocol": group.protocol,
                    "state": group.state.value,
                    "members": group.members,
                }
                for group in groups
            ]
        }
    )
    table = Table(
        columns=columns("GROUP", "TYPE", "PROTOCOL-TYPE", "PROTOCOL", "STATE", "##MEMBERS"),
        rows=[
            (
                group.id,
                group.type.value.capitalize(),
                group.protocol_type or None,
                group.protocol or None,
                group.state.value,
                group.members,
            )
            for group in groups
        ],
    )
    return Document(command="list", data=data, blocks=[table], errors=problems)
