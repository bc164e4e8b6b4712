"""`kohort list`: its options, and the document that it prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from cli.options import ClustersOptions, ListSelection, OutputOptions, RepeatOptions, SelectionOptions, option

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import ReadResult, Source
    from cli.topic_readers import Uses
    from groups.listing import GroupFilter, GroupListing, Problem
    from groups.model import Group
    from groups.use import LastUse


def list_groups(
    *,
    selection: ListSelection,
    verbose: Annotated[bool, option("--verbose", "Show ids in full, however wide the terminal is.")] = False,
    source: ClustersOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """List groups with type, state, protocol and members.

    \b
    Examples:
      kohort list
      kohort list --state Empty --type classic -b localhost:9092
    """
    _list(selection, source, output, repeat, verbose=verbose)


def _list(
    selection: ListSelection,
    source: ClustersOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
    *,
    verbose: bool,
) -> None:
    from cli.render.document import VERBOSE
    from cli.selection import group_filter
    from cli.verbs.watch import show_read

    filters = group_filter(selection)

    def read_document(groups: Source) -> Document:
        document = _read_document(groups, filters, selection)
        return replace(document, more="" if verbose else VERBOSE)

    show_read(read_document, source, output, repeat)


def _read_document(source: Source, filters: GroupFilter, selection: ListSelection) -> Document:
    from groups.model import listing_of

    listed = source.select_groups(filters, described=not needs_description(selection))
    if not needs_description(selection):
        return list_document(listed.items, listed.problems)
    read, uses = described_of(source, listed, selection)
    last_uses = None
    if selection.unused_for is not None:
        from groups.use import last_use

        last_uses = {group.id: last_use(group) for group in read.items}
    return list_document(tuple(map(listing_of, read.items)), read.problems, uses, last_uses)


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
) -> Document:
    """A row per group, by id; if requested, with how the group reads the topics, and with its last use."""
    from cli.render.document import Deferred, Document, Table, columns

    if last_uses is not None:
        from cli.unused import LAST_USE, last_use_cells
    data = Deferred(lambda: {"groups": [_group_data(group, uses, last_uses) for group in groups]})
    more = ([] if uses is None else ["READS"]) + ([] if last_uses is None else [*LAST_USE])
    table = Table(
        columns=columns("GROUP", "TYPE", "PROTOCOL-TYPE", "ASSIGNOR", "STATE", "##MEMBERS", *more),
        rows=[
            (
                group.id,
                group.type.value.capitalize(),
                group.protocol_type or None,
                group.protocol or None,
                group.state.value,
                group.members,
                *(
                    ()
                    if uses is None
                    else (", ".join(f"{topic} ({use.value})" for topic, use in uses[group.id].items()),)
                ),
                *(() if last_uses is None else last_use_cells(last_uses[group.id])),
            )
            for group in groups
        ],
    )
    return Document(command="list", data=data, blocks=[table], errors=problems)


def _group_data(
    group: GroupListing, uses: Uses | None, last_uses: Mapping[str, LastUse] | None
) -> dict[str, object]:
    data: dict[str, object] = {
        "group": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state.value,
        "members": group.members,
    }
    if uses is not None:
        data["reads"] = {topic: use.value for topic, use in uses[group.id].items()}
    if last_uses is not None:
        from cli.unused import last_use_data

        data |= last_use_data(last_uses[group.id])
    return data
