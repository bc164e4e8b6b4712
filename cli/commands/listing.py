"""`kohort list`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

import typer

from cli.options import OutputOptions, SourceOptions
from coordinator.model import GroupListing, GroupState, GroupType

T = TypeVar("T")


def list_groups(
    source: SourceOptions,
    output: OutputOptions,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="Only these types: classic (or generic), consumer, share, streams."),
    ] = None,
    states: Annotated[
        list[str] | None, typer.Option("--state", help="Only these states: Stable, Empty, …")
    ] = None,
    protocols: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol", help="Only these protocol types or assignors: consumer, connect, range, …"
        ),
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="REGEX", help="Only ids in which this matches (RE2).")
    ] = None,
) -> None:
    """List groups: type, state, protocol, members."""
    from cli.cluster.choose import open_source
    from cli.output import emit
    from cli.selection import name_filter
    from cli.views.listing import list_document

    wanted_types, wanted_states = _parse(GroupType.parse, types), _parse(GroupState.parse, states)
    wanted_protocols, wanted_name = _parse(str, protocols), name_filter(match)

    def wanted(group: GroupListing) -> bool:
        return (
            (not wanted_types or group.type in wanted_types)
            and (not wanted_states or group.state in wanted_states)
            and (not wanted_protocols or bool({group.protocol_type, group.protocol} & wanted_protocols))
            and wanted_name(group.id)
        )

    with open_source(source) as groups:
        listed = groups.list_groups()
    emit(list_document([group for group in listed.items if wanted(group)], listed.problems), output)


def _parse(parse: Callable[[str], T], values: Iterable[str] | None) -> set[T]:
    from cli.errors import UsageError
    from cli.selection import split_list

    try:
        return {parse(value) for value in split_list(values)}
    except ValueError as error:
        raise UsageError(str(error)) from None
