"""`kohort list` and `kohort lag`, its short name with `--lag`: their options, and the document that they print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import (
    ClustersOptions,
    ComparedOptions,
    ListSelection,
    OutputOptions,
    RepeatOptions,
    SelectionOptions,
    SourceOptions,
    option,
)

if TYPE_CHECKING:
    from cli.group_lags import GroupLags
    from cli.render.cells import Cell
    from cli.render.document import Document
    from cli.sources.source import ReadResult, Source
    from cli.topic_readers import Uses
    from groups.listing import GroupFilter, GroupListing, Problem
    from groups.model import Group
    from groups.use import LastUse


OnlyWithLag = Annotated[bool, option("--only-with-lag", "Show only groups with lag; implies --lag.")]
Verbose = Annotated[bool, option("--verbose", "Show ids in full, however wide the terminal is.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LagSelection(ListSelection):
    """All groups that pass every filter, or those that are named."""

    groups: Annotated[
        list[str] | None, typer.Argument(metavar="[GROUP]…", help="Group ids; by default all groups.")
    ] = None


def list_groups(
    *,
    selection: ListSelection,
    lag: Annotated[bool, option("--lag", "Add lag, lag in time and partitions, and the total.")] = False,
    only_with_lag: OnlyWithLag = False,
    verbose: Verbose = False,
    source: ComparedOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """List groups with type, state, protocol and members.

    \b
    Examples:
      kohort list
      kohort list --state Empty --type classic -b localhost:9092
      kohort list --lag --sort LAG-TIME:desc
      kohort list --compare old new
    """
    with_lag = lag or only_with_lag or source.compare is not None
    show_list(selection, source, output, repeat, lag=with_lag, only_with_lag=only_with_lag, verbose=verbose)


def list_lag(
    *,
    selection: LagSelection,
    only_with_lag: Annotated[bool, option("--only-with-lag", "Show only groups with lag.")] = False,
    verbose: Verbose = False,
    source: ClustersOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """Show lag of groups, in records and in time.

    The same as kohort list --lag; kohort describe shows the partitions, and
    kohort help consumer lag explains the figures.

    \b
    Examples:
      kohort lag
      kohort lag billing checkout -b localhost:9092
      kohort lag --only-with-lag --sort LAG-TIME:desc
    """
    show_list(selection, source, output, repeat, lag=True, only_with_lag=only_with_lag, verbose=verbose)


def show_list(
    selection: SelectionOptions,
    source: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
    *,
    lag: bool = False,
    only_with_lag: bool = False,
    verbose: bool = False,
) -> None:
    """Print the groups that pass the filters, or those that are named, once or repeatedly."""
    from cli.render.document import VERBOSE
    from cli.selection import group_filter
    from cli.verbs.watch import show_read

    filters = group_filter(selection)

    def read_document(groups: Source) -> Document:
        document = _read_document(groups, filters, selection, lag=lag, only_with_lag=only_with_lag)
        return replace(document, more="" if verbose else VERBOSE)

    if isinstance(source, ComparedOptions) and source.compare is not None:
        from cli.verbs.list_comparison import compared

        show_read(read_document, source, output, repeat, compared)
    else:
        show_read(read_document, source, output, repeat)


def _read_document(
    source: Source, filters: GroupFilter, selection: SelectionOptions, *, lag: bool, only_with_lag: bool
) -> Document:
    if not (lag or needs_description(selection)):
        listed = source.select_groups(filters, described=True)
        return list_document(listed.items, listed.problems)
    from groups.model import listing_of

    uses: Uses | None = None
    if selection.groups:
        from cli.selection import describe_chosen

        read = describe_chosen(source, selection, offsets=True)
    else:
        listed = source.select_groups(filters, described=False)
        read, uses = described_of(source, listed, selection)
    last_uses = None
    if selection.unused_for is not None:
        from groups.use import last_use

        last_uses = {group.id: last_use(group) for group in read.items}
    lags = None
    if lag:
        from cli.group_lags import read_lags

        lags = read_lags(source, read, only_with_lag=only_with_lag)
        read = lags.read
    return list_document(tuple(map(listing_of, read.items)), read.problems, uses, last_uses, lags)


def needs_description(selection: SelectionOptions) -> bool:
    """Whether `--topic` or `--unused-for` select among the groups of a list."""
    return bool(selection.topics) or selection.unused_for is not None


def described_of(
    source: Source, listed: ReadResult[GroupListing], selection: SelectionOptions
) -> tuple[ReadResult[Group], Uses | None]:
    """The listed groups that `--topic` and `--unused-for` select, described, and how they read these topics."""
    from cli.selection import split_list, without_deleted_groups
    from cli.sources.source import ReadResult

    topics = split_list(selection.topics)
    described = source.describe([group.id for group in listed.items], offsets=True)
    problems = listed.problems + without_deleted_groups(described.problems, named=False)
    read, uses = ReadResult(described.items, problems), None
    if topics:
        from cli.topic_readers import notify_missing_topics, readers_of

        read, uses = readers_of(read, topics, named=False)
        if not read.items and not read.problems:
            notify_missing_topics(source, topics)
    if selection.unused_for is not None:
        from cli.unused import unused_groups

        read = unused_groups(source, read, selection.unused_for, named=False)
    return read, uses


def list_document(
    groups: Sequence[GroupListing],
    problems: tuple[Problem, ...],
    uses: Uses | None = None,
    last_uses: Mapping[str, LastUse] | None = None,
    lags: GroupLags | None = None,
) -> Document:
    """A row per group, by id; if requested, with how the group reads the topics, with its last use, and with its lag,
    in a table that ends with the total."""
    from cli.render.document import Block, Deferred, Document, Table, Text, columns

    names = ["GROUP", "TYPE", "PROTOCOL-TYPE", "ASSIGNOR", "STATE", "##MEMBERS"]
    if lags is not None:
        from cli.group_lags import LAG

        names = ["GROUP", "STATE", "##MEMBERS", *LAG]  # The others would not leave room in 80 columns
    names += [] if uses is None else ["READS"]
    if last_uses is not None:
        from cli.unused import LAST_USE, last_use_cells

        names += LAST_USE

    def cells(group: GroupListing) -> Sequence[Cell]:
        row: tuple[Cell, ...] = (group.state.value, group.members)
        if lags is not None:
            row = (group.id, *row, *lags.by_group[group.id].cells)
        else:
            kind = group.type.value.capitalize()
            row = (group.id, kind, group.protocol_type or None, group.protocol or None, *row)
        if uses is not None:
            row += (", ".join(f"{topic} ({use.value})" for topic, use in uses[group.id].items()),)
        return row if last_uses is None else row + last_use_cells(last_uses[group.id])

    def data() -> dict[str, object]:
        data: dict[str, object] = {"groups": [_group_data(group, uses, last_uses, lags) for group in groups]}
        return data if lags is None else data | {"totals": lags.total_data}

    blocks: list[Block] = [Table(columns=columns(*names), rows=[cells(group) for group in groups])]
    blocks += [Text(lags.total_text)] if lags is not None and groups else []
    remarks = () if lags is None else lags.remarks
    return Document(command="list", data=Deferred(data), blocks=blocks, errors=problems, remarks=remarks)


def _group_data(
    group: GroupListing,
    uses: Uses | None,
    last_uses: Mapping[str, LastUse] | None,
    lags: GroupLags | None,
) -> dict[str, object]:
    data: dict[str, object] = {
        "group": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state.value,
        "members": group.members,
    }
    if lags is not None:
        data |= lags.by_group[group.id].data
    if uses is not None:
        data["reads"] = {topic: use.value for topic, use in uses[group.id].items()}
    if last_uses is not None:
        from cli.unused import last_use_data

        data |= last_use_data(last_uses[group.id])
    return data
