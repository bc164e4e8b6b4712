"""Members of groups in `kohort describe`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cli.render.cells import Cell, partitions_text
from cli.render.document import Table, columns
from cli.verbs.describe import streams
from groups.model import Group, GroupType, Member, MemberProtocol


def upgraded(group: Group, member: Member) -> bool | None:
    """Whether a consumer group's member uses the consumer protocol; None for other groups."""
    if group.type is not GroupType.CONSUMER or member.protocol is None:
        return None
    return member.protocol is MemberProtocol.CONSUMER


def member_data(group: Group, member: Member) -> dict[str, Any]:
    """A member in the JSON document."""
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
        **(streams.member_data(member) if group.type is GroupType.STREAMS else {}),
    }


def _partitions_data(partitions: Mapping[str, tuple[int, ...]] | None) -> dict[str, list[int]] | None:
    return None if partitions is None else {topic: list(partitions[topic]) for topic in sorted(partitions)}


def members_table(groups: Sequence[Group], *, verbose: bool) -> Table:
    """A row per member."""
    static = any(member.instance for group in groups for member in group.members)
    kinds = {upgraded(group, member) for group in groups for member in group.members}
    migrating = verbose and {True, False} <= kinds
    of_streams = any(group.members for group in groups if group.type is GroupType.STREAMS)
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
    names += streams.member_headings(verbose=verbose) if of_streams else []

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
        return (*cells, *streams.member_cells(member, verbose=verbose)) if of_streams else cells

    rows = [row(group, member) for group in groups for member in group.members]
    return Table(columns=columns(*names), rows=rows)


def _subscription_text(member: Member) -> str | None:
    if member.subscription is None:
        return None
    regex = member.subscription.regex
    parts = [",".join(sorted(member.subscription.topics))] if member.subscription.topics else []
    parts += [f"regex {regex}"] if regex else []
    return "; ".join(parts) or None
