"""`kohort describe`."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import OutputOptions, SelectionOptions, SourceOptions


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
) -> None:
    """Describe groups: offsets and lag, members, state, or where they stand on their way to another protocol."""
    from cli.cluster.choose import open_source
    from cli.errors import UsageError
    from cli.output import emit, notice
    from cli.selection import choose_groups
    from cli.views.describe import DescribeMode, describe_document, remark_on
    from cli.views.offsets import topics_of

    asked = [
        mode for mode, given in zip(DescribeMode, (offsets, members, state, migration), strict=True) if given
    ]
    if len(asked) > 1:
        raise UsageError("--members, --offsets, --state and --migration show different tables; give one")
    mode = asked[0] if asked else DescribeMode.OFFSETS
    with open_source(source) as groups:
        chosen, problems = choose_groups(groups, selection)
        described = groups.describe(chosen, offsets=mode is DescribeMode.OFFSETS)
        problems += described.problems
        found = groups.with_leaders(described.items) if mode is DescribeMode.MIGRATION else described.items
        topics = {}
        if mode is DescribeMode.OFFSETS:
            read = groups.topics(topics_of(found), end_offsets=True)
            topics, problems = {topic.name: topic for topic in read.items}, problems + read.problems
    for remark in filter(None, map(remark_on, found)):
        notice(remark)
    emit(describe_document(found, topics, mode, verbose=verbose, problems=problems), output)
