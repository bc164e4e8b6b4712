"""Groups in a migration, as `kohort describe --migration` shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.render.cells import Cell, partitions_text
from cli.render.document import Block, Heading, Table, Text, columns, led
from cli.render.lines import Role
from groups.counts import share
from groups.model import GroupType, MemberProtocol
from groups.succession import Succession, after_load
from groups.waits import Wait, WaitKind
from migration.clients import version_text
from migration.inspection import InspectedMember, Inspection

_NOTHING = "nothing"


def migration_data(found: Inspection) -> dict[str, Any]:
    """Fields added to a group of the describe document."""
    return {
        "migration": {
            "standing": found.standing,
            "upgrade_blocked_by": None
            if found.upgrade_blocked_by is None
            else list(found.upgrade_blocked_by),
            "leader": None if found.succession is None else found.succession.leader,
            "leader_problem": found.group.leader_problem,
            "succession": _succession_data(found),
            "members": [_member_data(member) for member in found.members],
        }
    }


def _succession_data(found: Inspection) -> dict[str, Any] | None:
    order = found.succession
    if order is None:
        return None
    return {
        "order": list(order.order),
        "certain": order.certain,
        "why": order.why,
        "after_load": after_load(found.group),
    }


def _member_data(found: InspectedMember) -> dict[str, Any]:
    member, library = found.member, found.client.library
    return {
        "id": member.id,
        "label": found.label,
        "instance": member.instance,
        "client_id": member.client.id,
        "host": member.client.host,
        "library": library and library.name,
        "library_version": found.client.version and version_text(found.client.version),
        "library_known_by": found.client.known_by,
        "protocol": member.protocol and member.protocol.value,
        "assignors": None if found.assignors is None else list(found.assignors),
        "all_assignors": found.all_assignors,
        "epoch": found.epoch,
        "leads": found.leads,
        "rank": found.rank,
        "user_data_bytes": found.user_data_bytes,
        "writes_user_data": found.writes_user_data,
        "waits": None if found.waits is None else [_wait_data(wait) for wait in found.waits],
    }


def _wait_data(wait: Wait) -> dict[str, Any]:
    return {
        "for": wait.kind.value,
        "partitions": {topic: list(numbers) for topic, numbers in wait.partitions.items()},
        "member": wait.member,
    }


def migration_blocks(groups: Sequence[Inspection], *, verbose: bool) -> Iterator[Block]:
    """For each group, its stage, leader and blockers, and a row per member; all tables have the same columns."""
    shown = _ShownColumns(
        verbose=verbose,
        leads=any(each.succession is not None for each in groups),
        user_data=any(member.user_data_bytes is not None for each in groups for member in each.members),
    )
    for each in groups:
        yield from _group_blocks(each, shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownColumns:
    """The optional columns of the tables."""

    verbose: bool
    leads: bool
    user_data: bool


def _group_blocks(found: Inspection, shown: _ShownColumns) -> Iterator[Block]:
    labels = {each.member.id: each.label for each in found.members}
    yield Heading(found.group.id)
    yield Text(f"{found.standing} {_state(found)}")
    if found.succession is not None:
        yield Text(_leading(found, found.succession, labels))
    upgrade = _upgrade(found)
    if upgrade:
        yield led(upgrade, Role.WARNING) if found.upgrade_blocked_by else Text(upgrade)
    if found.members:
        yield _table(found, labels, shown)


def _state(found: Inspection) -> str:
    group = found.group
    if group.type is not GroupType.CLASSIC:
        return (
            f"State {group.state.value}; group epoch {_known(group.group_epoch)}, "
            f"target assignment of epoch {_known(group.assignment_epoch)}."
        )
    return f"State {group.state.value}; generation {_known(group.generation)}."


def _known(number: int | None) -> str:
    return "not known" if number is None else str(number)


def _leading(found: Inspection, order: Succession, labels: Mapping[str, str]) -> str:
    """The leader and its successor."""
    if order.leader is None:
        return _unknown_leader(found, order, labels)
    (leader,) = (each for each in found.members if each.member.id == order.leader)
    sentences = [f"Leader: {leader.label}."]
    if leader.member.instance is not None:
        sentences.append("It is static: it stays the leader when it restarts with its instance id.")
    if not order.order:
        sentences.append("No other member could succeed it.")
        return " ".join(sentences)
    first = labels[order.order[0]]
    if order.certain:
        sentences.append(f"When it leaves, {first} leads.")
    else:
        sentences.append(f"When it leaves, {first} may lead, but that is not certain: {order.why}.")
    loaded = after_load(found.group)
    if order.certain and loaded is not None and loaded != order.order[0]:
        sentences.append(f"After a restart or a move of the coordinator the successor is {labels[loaded]}.")
    return " ".join(sentences)


def _unknown_leader(found: Inspection, order: Succession, labels: Mapping[str, str]) -> str:
    if found.group.leader is not None:
        return f"Leader: {order.why}."
    problem = found.group.leader_problem
    sentences = f"Leader: not known{f' ({problem})' if problem else ''}."
    if not order.is_broker_order:
        return sentences
    first, second = (labels[each] for each in order.order[:2])
    return f"{sentences} When it leaves, {first} leads; or {second}, if {first} is the one that leads now."


def _upgrade(found: Inspection) -> str | None:
    """The effect of user data in assignments on an online upgrade."""
    blockers = found.upgrade_blocked_by
    if found.group.type is not GroupType.CLASSIC or not found.members:
        return None
    if blockers is None:
        if found.group.protocol_type not in (None, "", "consumer"):
            return None
        return "Not known now: whether assignments carry user data, which would block an online upgrade."
    if blockers:
        who = share(len(blockers), len(found.members), "member")
        return (
            f"Online upgrade blocked: the assignments of {who} carry user data ({_sizes(found)}), and the broker "
            "refuses the first member of the consumer protocol with GROUP_ID_NOT_FOUND."
        )
    return f"No assignment carries user data: {_as_long_as(found)}."


def _as_long_as(found: Inspection) -> str:
    """How long assignments stay without user data, which leaders of some libraries write."""
    writers = [each for each in found.members if each.writes_user_data]
    libraries = " or ".join(sorted({each.client.library.name for each in writers if each.client.library}))
    if any(each.leads is not False for each in writers):
        return (
            f"an online upgrade is possible now, but a leader of {libraries} will write it in a later rebalance with "
            f"{found.group.protocol}, and that closes it"
        )
    if writers:
        return f"an online upgrade is possible as long as no member of {libraries} leads a rebalance"
    return "user data does not block an online upgrade"


def _sizes(found: Inspection) -> str:
    sizes = sorted({each.user_data_bytes for each in found.members if each.user_data_bytes})
    return f"{sizes[0]} bytes" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} bytes"


def _table(found: Inspection, labels: Mapping[str, str], shown: _ShownColumns) -> Table:
    ids = ["CONSUMER-ID"] if shown.verbose else []
    names = ["GROUP", "MEMBER", *ids, "HOST", "LIBRARY", "PROTOCOL", "ASSIGNORS", "#CURRENT-EPOCH"]
    names += ["LEADS"] if shown.leads else []
    names += ["#USER-DATA"] if shown.user_data else []

    def row(each: InspectedMember) -> list[Cell]:
        member = each.member
        cells: list[Cell] = [found.group.id, each.label]
        cells += [member.id] if shown.verbose else []
        cells += [member.client.host, _library(each)]
        cells += [member.protocol and member.protocol.value, _assignors(each), each.epoch]
        cells += [_place(each)] if shown.leads else []
        cells += [each.user_data_bytes] if shown.user_data else []
        return [*cells, waits_text(each, labels)]

    return Table(columns=columns(*names, "WAITS-FOR"), rows=[row(each) for each in found.members])


def _library(found: InspectedMember) -> str | None:
    library = found.client.library
    if library is None:
        return None
    return f"{library.name} (inferred)" if found.client.is_inferred else library.name


def _assignors(found: InspectedMember) -> str | None:
    if found.assignors is None:
        return None
    listed = ",".join(found.assignors)
    return listed if found.all_assignors else f"{listed},?"


def _place(found: InspectedMember) -> str | None:
    if found.leads:
        return "leader"
    return None if found.rank is None else str(found.rank)


def waits_text(found: InspectedMember, labels: Mapping[str, str]) -> str | None:
    """A text on what a member waits for; None if it is not known."""
    if found.waits is None:
        return None
    return "; then ".join(_wait_text(found, wait, labels) for wait in found.waits) or _NOTHING


def _wait_text(found: InspectedMember, wait: Wait, labels: Mapping[str, str]) -> str:
    what = partitions_text(wait.partitions)
    who = "the leader" if wait.member is None else labels[wait.member]
    classic = found.member.protocol is MemberProtocol.CLASSIC
    texts = {
        WaitKind.REVOKE: f"itself: to revoke {what}",
        WaitKind.REJOIN: f"itself: to rejoin and revoke {what}" if what else "itself: to rejoin",
        WaitKind.MAYBE_REJOIN: "itself: to rejoin, unless it has (brokers do not show that)",
        WaitKind.HEARTBEAT: "its next heartbeat" + (f", which brings {what}" if what else ""),
        WaitKind.RELEASE: f"{what}, which {who} still has" + (", and to rejoin for them" if classic else ""),
        WaitKind.ASSIGNOR: "the broker's assignor",
        WaitKind.JOINS: "others, to join: it joined after the last finished rebalance",
        WaitKind.ASSIGN: "itself: it leads and must send the assignment",
        WaitKind.LEADER: f"the assignment, from {who}",
        WaitKind.RETURN: "itself: static and away, must rejoin before its session expires",
    }
    return texts[wait.kind]
