"""`kohort describe`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cli.optional_value import with_value
from cli.options import OutputOptions, RepeatOptions, SelectionOptions, SourceOptions, option
from groups.listing import GroupState

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import ReadResult, Source
    from groups.model import Group


STATE_TABLE = "(table)"
"""The value of `--state` if it was given without one."""


def _are_states(text: str) -> bool:
    try:
        return all(map(GroupState.parse, text.split(",")))
    except ValueError:
        return False


with_table = partial(with_value, option="--state", default=STATE_TABLE, is_value=_are_states)
"""Allows `--state` without a value, even before a group, like kafka-consumer-groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeSelection(SelectionOptions):
    """The described groups; `--state` alone selects a table."""

    states: Annotated[
        list[str] | None,
        option(
            "--state",
            "Show state, coordinator and assignor. With states: only groups in these, in any table.",
            "[STATE,…]",
        ),
    ] = None


def describe(
    *,
    selection: DescribeSelection,
    members: Annotated[bool, typer.Option("--members", help="Show members and their assignments.")] = False,
    offsets: Annotated[
        bool, typer.Option("--offsets", help="Show committed offsets and lag (the default).")
    ] = False,
    migration: Annotated[
        bool,
        typer.Option(
            "--migration", help="Show protocol, leader and successor, and what each member waits for."
        ),
    ] = False,
    lag_time: Annotated[
        bool,
        typer.Option("--lag-time", help="Add the age of the oldest unread record."),
    ] = False,
    last_commit: Annotated[
        bool, typer.Option("--last-commit", help="Add the time when each offset was committed.")
    ] = False,
    totals: Annotated[
        bool, typer.Option("--totals", help="Add total lag by topic, by group and of all groups.")
    ] = False,
    authorized_operations: Annotated[
        bool,
        typer.Option(
            "--authorized-operations", help="Add the operations that this user may perform on each group."
        ),
    ] = False,
    only_with_lag: Annotated[
        bool, typer.Option("--only-with-lag", help="Show only partitions and groups with lag.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", help="Add epochs, targets, subscriptions, log start offsets; show ids in full."
        ),
    ] = False,
    source: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """Show offsets, lag, members or state of groups.

    --migration shows how far a group is on its path to another protocol.

    \b
    Examples:
      kohort describe billing
      kohort describe --all-groups --only-with-lag
      kohort describe checkout --members --verbose
    """
    from cli.errors import UsageError
    from cli.output import emit
    from cli.render.document import VERBOSE
    from cli.selection import describe_chosen, opened, split_list
    from cli.verbs.describe.action import offsets_document
    from cli.verbs.describe.view import DescribeMode, describe_document, with_operations

    state = STATE_TABLE in (selection.states or ())
    selection = replace(selection, states=[each for each in selection.states or () if each != STATE_TABLE])
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

    def read_document(groups: Source) -> Document:
        described = describe_chosen(groups, selection, offsets=mode is DescribeMode.OFFSETS)
        document = document_of(groups, described)
        if authorized_operations:
            operations = groups.authorized_operations(described.items)
            document = with_operations(document, described.items, operations)
        return replace(document, more="" if verbose else VERBOSE)

    def document_of(groups: Source, described: ReadResult[Group]) -> Document:
        if mode is DescribeMode.OFFSETS:
            return offsets_document(
                groups,
                described,
                lag_time=lag_time,
                last_commit=last_commit,
                totals=totals,
                only_with_lag=only_with_lag,
                verbose=verbose,
                only_topics=split_list(selection.topics),
            )
        found, problems = described.items, described.problems
        if mode is DescribeMode.MIGRATION:
            found = groups.with_leaders(found)
        elif mode is DescribeMode.MEMBERS and verbose:
            read = groups.with_topology_nodes(found)
            found, problems = read.items, problems + read.problems
        return describe_document(found, {}, mode, verbose=verbose, problems=problems)

    if repeat.watch is not None:
        from cli.verbs.watch.repeat import repeat_every

        repeat_every(repeat.watch, read_document, source, output)
        return
    with opened(source) as groups:
        document = read_document(groups)
    emit(document, output)
