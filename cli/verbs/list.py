"""`kohort list`: its options, and the document that it prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cli.options import ListSelection, OutputOptions, RepeatOptions, SourceOptions

if TYPE_CHECKING:
    from cli.render.document import Document
    from cli.sources.source import Source
    from cli.topic_readers import Uses
    from groups.listing import GroupListing, Problem
    from groups.readers import TopicUse


def list_groups(
    *,
    selection: ListSelection,
    source: SourceOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """List groups: type, state, protocol, members."""
    from cli.output import emit
    from cli.selection import group_filter, opened, split_list, without_vanished
    from cli.sources.source import Read

    wanted, topics = group_filter(selection), split_list(selection.topics)

    def look(groups: Source) -> Document:
        listed = groups.select_groups(wanted, described=not topics)
        if not topics:
            return list_document(listed.items, listed.problems)
        from cli.topic_readers import readers_of, tell_missing
        from groups.model import listing_of

        read = groups.describe([group.id for group in listed.items], offsets=True)
        problems = listed.problems + without_vanished(read.problems, named=False)
        found, uses = readers_of(Read(read.items, problems), topics, named=False)
        if not found.items and not found.problems:
            tell_missing(groups, topics)
        return list_document(tuple(map(listing_of, found.items)), found.problems, uses)

    if repeat.watch is not None:
        from cli.verbs.watch.repeat import repeat_every

        repeat_every(repeat.watch, look, source, output)
        return
    with opened(source) as groups:
        document = look(groups)
    emit(document, output)


def list_document(
    groups: Sequence[GroupListing], problems: tuple[Problem, ...], uses: Uses | None = None
) -> Document:
    """A row per group, by id; with how each reads the topics that were asked for, where any were."""
    from cli.render.document import Deferred, Document, Table, columns

    data = Deferred(lambda: {"groups": [_group_data(group, uses) for group in groups]})
    reads = [] if uses is None else ["READS"]
    table = Table(
        columns=columns("GROUP", "TYPE", "PROTOCOL-TYPE", "PROTOCOL", "STATE", "##MEMBERS", *reads),
        rows=[
            (
                group.id,
                group.type.value.capitalize(),
                group.protocol_type or None,
                group.protocol or None,
                group.state.value,
                group.members,
                *(() if uses is None else (_reads_text(uses[group.id]),)),
            )
            for group in groups
        ],
    )
    return Document(command="list", data=data, blocks=[table], errors=problems)


def _group_data(group: GroupListing, uses: Uses | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "group": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state.value,
        "members": group.members,
    }
    return (
        data
        if uses is None
        else data | {"reads": {topic: use.value for topic, use in uses[group.id].items()}}
    )


def _reads_text(reads: Mapping[str, TopicUse]) -> str:
    """`orders (assigned), payments (committed)`."""
    return ", ".join(f"{topic} ({use.value})" for topic, use in reads.items())
