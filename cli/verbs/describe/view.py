"""The document of `kohort describe`: the same facts and columns as kafka-consumer-groups, and more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from cli.render.cells import Cell
from cli.render.document import Block, Deferred, Document, Table, columns
from cli.verbs.describe import streams
from cli.verbs.describe.members import member_data, members_table
from cli.verbs.describe.offsets import (
    PLAIN,
    OffsetsView,
    lag_time_remarks,
    lagging,
    offset_data,
    offsets_table,
    unsubscribed_remarks,
)
from cli.verbs.describe.totals import all_totals, group_totals, total_tables
from groups.lag import PartitionLag
from groups.model import Group, GroupState, GroupType, Node, Problem, Topic
from groups.transactions import pending_remedy, pending_text

if TYPE_CHECKING:
    from cli.sources.source import AuthorizedOperations


class DescribeMode(Enum):
    """The table to show; the JSON document contains the same facts."""

    OFFSETS = "offsets"
    MEMBERS = "members"
    STATE = "state"
    MIGRATION = "migration"


def describe_document(
    groups: Sequence[Group],
    topics: Mapping[str, Topic],
    mode: DescribeMode,
    *,
    verbose: bool,
    problems: tuple[Problem, ...],
    view: OffsetsView = PLAIN,
) -> Document:
    """The document; `topics` have the end offsets, if they were read."""
    if mode is DescribeMode.MIGRATION:
        return _migration_document(groups, verbose=verbose, problems=problems)
    if mode is DescribeMode.OFFSETS:
        return _offsets_document(groups, topics, view, verbose=verbose, problems=problems)
    if mode is DescribeMode.MEMBERS:
        blocks: list[Block] = [members_table(groups, verbose=verbose)]
        if verbose and any(group.topology for group in groups):
            blocks += streams.topology_tables(groups)
    else:
        blocks = [_state_table(groups, verbose=verbose)]
    data = Deferred(lambda: {"groups": [group_data(group, None) for group in groups]})
    remarks = tuple(filter(None, map(remark_on, groups)))
    return Document(command="describe", data=data, blocks=blocks, errors=problems, remarks=remarks)


def _offsets_document(
    groups: Sequence[Group],
    topics: Mapping[str, Topic],
    view: OffsetsView,
    *,
    verbose: bool,
    problems: tuple[Problem, ...],
) -> Document:
    rows = {group.id: view.rows(group, topics) for group in groups}
    remarks: tuple[str, ...] = ()
    if view.only_with_lag:
        rows, unknown = lagging(rows)
        groups = [group for group in groups if group.id in rows]
        remarks = (
            ()
            if not unknown
            else (f"{unknown} partition{'' if unknown == 1 else 's'} left out: their lag is not known",)
        )

    def data() -> dict[str, Any]:
        found: dict[str, Any] = {"groups": [group_data(group, rows[group.id], view) for group in groups]}
        return found | ({"totals": all_totals(rows, lag_time=view.lag_time)} if view.totals else {})

    blocks: list[Block] = [offsets_table(groups, rows, view, verbose=verbose)]
    if view.totals:
        blocks += total_tables(rows, lag_time=view.lag_time)
    remarks = (*filter(None, map(remark_on, groups)), *remarks, *pending_remarks(groups, view.now_ms))
    if view.totals:
        remarks += unsubscribed_remarks(rows)
    if view.lag_time:
        remarks += lag_time_remarks(rows, view.now_ms)
    return Document(command="describe", data=Deferred(data), blocks=blocks, errors=problems, remarks=remarks)


def with_operations(
    document: Document, groups: Sequence[Group], authorized: AuthorizedOperations
) -> Document:
    """The document with the authorized operations of each group: one more table, and a field of every group."""
    known = authorized.by_group

    def data() -> dict[str, Any]:
        found = [
            {
                **group,
                "authorized_operations": list(known[group["group"]]) if group["group"] in known else None,
            }
            for group in document.data["groups"]
        ]
        return {**document.data, "groups": found}

    rows = [(group.id, ", ".join(known[group.id]) if group.id in known else None) for group in groups]
    table = Table(columns=columns("GROUP", "AUTHORIZED-OPERATIONS"), rows=rows)
    remarks = document.remarks
    if any(group.id not in known for group in groups) and not authorized.problems:
        remarks += (
            "authorized operations are only known of a live cluster, and of brokers from Kafka 2.3 on",
        )
    return replace(
        document,
        data=Deferred(data),
        blocks=[*document.blocks, table],
        errors=document.errors + authorized.problems,
        remarks=remarks,
    )


def _migration_document(groups: Sequence[Group], *, verbose: bool, problems: tuple[Problem, ...]) -> Document:
    # They import assignors and numpy, which takes longer than most requests.
    from cli.verbs.describe.migration import migration_blocks, migration_data
    from migration.inspection import inspect

    inspected = [inspect(group) for group in groups]
    return Document(
        command="describe",
        data=Deferred(
            lambda: {
                "groups": [{**group_data(each.group, None), **migration_data(each)} for each in inspected]
            }
        ),
        blocks=list(migration_blocks(inspected, verbose=verbose)),
        errors=problems,
        remarks=tuple(filter(None, map(remark_on, groups))),
    )


def group_data(
    group: Group, offsets: Sequence[PartitionLag] | None, view: OffsetsView = PLAIN
) -> dict[str, Any]:
    """A group of the JSON document; offsets are null if they were not requested."""
    numbers = (
        {"generation": group.generation}
        if group.type is GroupType.CLASSIC
        else {"group_epoch": group.group_epoch, "assignment_epoch": group.assignment_epoch}
    )
    totals = (
        {"totals": group_totals(group, offsets, lag_time=view.lag_time)}
        if offsets is not None and view.totals
        else {}
    )
    of_streams = group.type is GroupType.STREAMS
    return {
        "group": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state.value,
        "coordinator": _node_data(group.coordinator),
        **numbers,
        **({"topology": streams.topology_data(group.topology)} if of_streams else {}),
        "members": [member_data(group, member) for member in group.members],
        "offsets": None if offsets is None else [offset_data(row, view, group) for row in offsets],
        **totals,
    }


_KINDS = {GroupType.SHARE: "Share", GroupType.STREAMS: "Streams"}


def remark_on(group: Group) -> str | None:
    """The remark of Kafka's tools on a group's state; None for a stable group."""
    named = f"{_KINDS.get(group.type, 'Consumer')} group '{group.id}'"
    if group.state is GroupState.EMPTY:
        return f"{named} has no active members."
    if group.state in (GroupState.STABLE, GroupState.UNKNOWN, GroupState.DEAD):
        return None
    if group.state is GroupState.NOT_READY:
        return f"Warning: {named} is not ready: most likely a source topic of its topology is missing."
    return f"Warning: {named} is rebalancing."


def pending_remarks(groups: Sequence[Group], now_ms: int) -> tuple[str, ...]:
    """A line for each group with offsets in open transactions."""
    return tuple(
        f"{group.id}: {pending_text(group.pending, now_ms)} {pending_remedy(group.pending)}"
        for group in groups
        if group.pending is not None and group.pending.partitions
    )


def _node_data(node: Node | None) -> dict[str, Any] | None:
    return None if node is None else {"id": node.id, "host": node.host, "port": node.port}


def _state_table(groups: Sequence[Group], *, verbose: bool) -> Table:
    epochs = ["#GROUP-EPOCH", "#TARGET-ASSIGNMENT-EPOCH"] if verbose else []
    names = ["GROUP", "COORDINATOR", "ASSIGNOR", "STATE", *epochs, "##MEMBERS"]

    def row(group: Group) -> Sequence[Cell]:
        node = group.coordinator
        coordinator = None if node is None else f"{node.host}:{node.port} ({node.id})"
        numbers = (group.group_epoch, group.assignment_epoch) if verbose else ()
        return (
            group.id,
            coordinator,
            group.protocol or None,
            group.state.value,
            *numbers,
            len(group.members),
        )

    return Table(columns=columns(*names), rows=[row(group) for group in groups])
