"""The document of `kohort describe`: the same facts and columns as kafka-consumer-groups, and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from cli.render.cells import partitions_text
from cli.render.document import Cell, Document, Table, columns
from cli.views.migration import migration_blocks, migration_data
from cli.views.offsets import OffsetRow, offset_rows
from coordinator.model import Group, GroupState, GroupType, Member, MemberProtocol, Node, Problem, Topic
from migration.inspection import inspect


class DescribeMode(Enum):
    """Which table is shown; the data are those that the table rests on."""

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
) -> Document:
    """`topics` give end offsets, where they were read."""
    if mode is DescribeMode.MIGRATION:
        return _migration_document(groups, verbose=verbose, problems=problems)
    offsets = (
        {group.id: offset_rows(group, topics) for group in groups} if mode is DescribeMode.OFFSETS else {}
    )
    if mode is DescribeMode.OFFSETS:
        table = _offsets_table(groups, offsets, verbose=verbose)
    elif mode is DescribeMode.MEMBERS:
        table = _members_table(groups, verbose=verbose)
    else:
        table = _state_table(groups, verbose=verbose)
    data = [group_data(group, offsets.get(group.id)) for group in groups]
    return Document(command="describe", data={"groups": data}, blocks=[table], errors=problems)


def _migration_document(groups: Sequence[Group], *, verbose: bool, problems: tuple[Problem, ...]) -> Document:
    inspected = [inspect(group) for group in groups]
    return Document(
        command="describe",
        data={"groups": [{**group_data(each.group, None), **migration_data(each)} for each in inspected]},
        blocks=list(migration_blocks(inspected, verbose=verbose)),
        errors=problems,
    )


def group_data(group: Group, offsets: Sequence[OffsetRow] | None) -> dict[str, Any]:
    """A group of the JSON document; offsets are null when they were not asked for."""
    numbers = (
        {"generation": group.generation}
        if group.type is GroupType.CLASSIC
        else {"group_epoch": group.group_epoch, "assignment_epoch": group.assignment_epoch}
    )
    return {
        "group": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state.value,
        "coordinator": _node_data(group.coordinator),
        **numbers,
        "members": [_member_data(group, member) for member in group.members],
        "offsets": None if offsets is None else [row.as_data() for row in offsets if row.topic is not None],
    }


def remark_on(group: Group) -> str | None:
    """What kafka-consumer-groups says beside the table; None when the group is at rest."""
    if group.state is GroupState.EMPTY:
        return f"Consumer group '{group.id}' has no active members."
    if group.state in (GroupState.STABLE, GroupState.UNKNOWN, GroupState.DEAD):
        return None
    return f"Warning: Consumer group '{group.id}' is rebalancing."


def upgraded(group: Group, member: Member) -> bool | None:
    """Whether a consumer group's member speaks the consumer protocol; None where the question has no sense."""
    if group.type is not GroupType.CONSUMER or member.protocol is None:
        return None
    return member.protocol is MemberProtocol.CONSUMER


def _node_data(node: Node | None) -> dict[str, Any] | None:
    return None if node is None else {"id": node.id, "host": node.host, "port": node.port}


def _member_data(group: Group, member: Member) -> dict[str, Any]:
    wanted = member.subscription
    return {
        "id": member.id,
        "instance": member.instance,
        "client_id": member.client.id,
        "host": member.client.host,
        "rack": member.rack,
        "protocol": member.protocol and member.protocol.value,
        "upgraded": upgraded(group, member),
        "subscription": wanted and {"topics": sorted(wanted.topics), "regex": wanted.regex},
        "owned": _partitions_data(member.owned),
        "target": _partitions_data(member.target),
        "epoch": member.epoch,
        "target_epoch": group.assignment_epoch,
    }


def _partitions_data(partitions: Mapping[str, tuple[int, ...]] | None) -> dict[str, list[int]] | None:
    return None if partitions is None else {topic: list(partitions[topic]) for topic in sorted(partitions)}


def _offsets_table(
    groups: Sequence[Group], offsets: Mapping[str, Sequence[OffsetRow]], *, verbose: bool
) -> Table:
    epoch = ["#LEADER-EPOCH"] if verbose else []
    names = ["GROUP", "TOPIC", "#PARTITION", *epoch, "#CURRENT-OFFSET", "#LOG-END-OFFSET", "#LAG"]

    def cells() -> Iterator[Sequence[Cell]]:
        for group in groups:
            for row in offsets[group.id]:
                epochs = (row.leader_epoch,) if verbose else ()
                numbers = (row.committed, row.end, row.lag)
                yield (
                    group.id,
                    row.topic,
                    row.partition,
                    *epochs,
                    *numbers,
                    row.member,
                    row.host,
                    row.client_id,
                )

    return Table(columns=columns(*names, "CONSUMER-ID", "HOST", "CLIENT-ID"), rows=list(cells()))


def _members_table(groups: Sequence[Group], *, verbose: bool) -> Table:
    static = any(member.instance for group in groups for member in group.members)
    kinds = {upgraded(group, member) for group in groups for member in group.members}
    migrating = verbose and {True, False} <= kinds
    names = [
        "GROUP",
        "CONSUMER-ID",
        *(["GROUP-INSTANCE-ID"] if static else []),
        "HOST",
        "CLIENT-ID",
        "##PARTITIONS",
    ]
    if verbose:
        names += ["#CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "#TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        names += ["UPGRADED"] if migrating else []
        names += ["SUBSCRIPTION"]

    def row(group: Group, member: Member) -> Sequence[Cell]:
        instance = (member.instance,) if static else ()
        count = None if member.owned is None else sum(map(len, member.owned.values()))
        cells: tuple[Cell, ...] = (
            group.id,
            member.id,
            *instance,
            member.client.host,
            member.client.id,
            count,
        )
        if verbose:
            cells += (member.epoch, partitions_text(member.owned), group.assignment_epoch)
            cells += (partitions_text(member.target),)
            cells += (upgraded(group, member),) if migrating else ()
            cells += (_subscription_text(member),)
        return cells

    rows = [row(group, member) for group in groups for member in group.members]
    return Table(columns=columns(*names), rows=rows)


def _subscription_text(member: Member) -> str | None:
    if member.subscription is None:
        return None
    regex = member.subscription.regex
    parts = [",".join(sorted(member.subscription.topics))] if member.subscription.topics else []
    parts += [f"regex {regex}"] if regex else []
    return "; ".join(parts) or None


def _state_table(groups: Sequence[Group], *, verbose: bool) -> Table:
    epochs = ["#GROUP-EPOCH", "#TARGET-ASSIGNMENT-EPOCH"] if verbose else []
    names = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", *epochs, "##MEMBERS"]

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
