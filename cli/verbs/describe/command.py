"""`kohort describe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import OutputOptions, RepeatOptions, SelectionOptions, SourceOptions

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import Source


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
    lag_time: Annotated[
        bool,
        typer.Option("--lag-time", help="Add how long ago the first record was written that is not read."),
    ] = False,
    last_commit: Annotated[
        bool, typer.Option("--last-commit", help="Add when each offset was committed.")
    ] = False,
    totals: Annotated[
        bool, typer.Option("--totals", help="Add sums of lag by topic, by group and over all groups.")
    ] = False,
    only_with_lag: Annotated[
        bool, typer.Option("--only-with-lag", help="Only partitions, and groups, that lag.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Add epochs, targets, leader epochs, subscriptions.")
    ] = False,
    source: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """Describe groups: offsets and lag, members, state, or where they stand on their way to another protocol."""
    from cli.errors import UsageError
    from cli.output import emit
    from cli.selection import describe_chosen, opened
    from cli.verbs.describe.action import offsets_document
    from cli.verbs.describe.view import DescribeMode, describe_document

    asked = [
        mode for mode, given in zip(DescribeMode, (offsets, members, state, migration), strict=True) if given
    ]
    if len(asked) > 1:
        raise UsageError("--members, --offsets, --state and --migration show different tables; give one")
    mode = asked[0] if asked else DescribeMode.OFFSETS
    if mode is not DescribeMode.OFFSETS and (lag_time or last_commit or totals or only_with_lag):
        raise UsageError(
            "--lag-time, --last-commit, --totals and --only-with-lag are about offsets; "
            f"leave --{mode.value} out"
        )

    def look(groups: Source) -> Document:
        described = describe_chosen(groups, selection, offsets=mode is DescribeMode.OFFSETS)
        if mode is DescribeMode.OFFSETS:
            return offsets_document(
                groups,
                described,
                lag_time=lag_time,
                last_commit=last_commit,
                totals=totals,
                only_with_lag=only_with_lag,
                verbose=verbose,
            )
        migrating = mode is DescribeMode.MIGRATION
        found = groups.with_leaders(described.items) if migrating else described.items
        return describe_document(found, {}, mode, verbose=verbose, problems=described.problems)

    if repeat.watch is not None:
        from cli.verbs.watch.repeat import repeat_every

        repeat_every(repeat.watch, look, source, output)
        return
    with opened(source) as groups:
        document = look(groups)
    emit(document, output)
