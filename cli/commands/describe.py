"""`kohort describe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import OutputOptions, RepeatOptions, SelectionOptions, SourceOptions

if TYPE_CHECKING:
    from cli.cluster.port import Source
    from cli.render.document import Document


def describe(
    *,
    selection: SelectionOptions,
    members: Annotated[bool, typer.Option("--members", help="Show members and what they own.")] = False,
    offsets: Annotated[
        bool, typer.Option("--offsets", help="Show committed offsets and lag (the default).")
    ] = False,
    state: Annotated[bool, typer.Option("--state", help="Show state, coordinator and assignor.")] = False,
    migration: Annotated[
        bool,
        typer.Option(
            "--migration", help="Show protocol, leader and successor, and what each member waits for."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Add epochs, targets, leader epochs, subscriptions.")
    ] = False,
    source: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """Describe groups: offsets and lag, members, state, or where they stand on their way to another protocol."""
    from dataclasses import replace

    from cli.errors import UsageError
    from cli.selection import choose_groups
    from cli.views.describe import DescribeMode, describe_document, remark_on
    from cli.views.offsets import topics_of
    from cli.watch.show import show

    asked = [
        mode for mode, given in zip(DescribeMode, (offsets, members, state, migration), strict=True) if given
    ]
    if len(asked) > 1:
        raise UsageError("--members, --offsets, --state and --migration show different tables; give one")
    mode = asked[0] if asked else DescribeMode.OFFSETS

    def look(groups: Source) -> Document:
        chosen, problems = choose_groups(groups, selection)
        described = groups.describe(chosen, offsets=mode is DescribeMode.OFFSETS)
        problems += described.problems
        found = groups.with_leaders(described.items) if mode is DescribeMode.MIGRATION else described.items
        topics = {}
        if mode is DescribeMode.OFFSETS:
            read = groups.topics(topics_of(found), end_offsets=True)
            topics, problems = {topic.name: topic for topic in read.items}, problems + read.problems
        document = describe_document(found, topics, mode, verbose=verbose, problems=problems)
        return replace(document, remarks=tuple(filter(None, map(remark_on, found))))

    show(look, source, output, repeat)
