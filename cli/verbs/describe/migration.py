"""Groups in a migration, as `kohort describe --migration` shows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli.render.cells import Cell, partitions_text
from cli.render.document import Block, Heading, Table, Text, columns, fields, led
from cli.render.lines import Role
from groups.counts import share
from groups.model import GroupType, MemberProtocol
from groups.succession import Succession, after_load
from groups.waits import Wait, WaitKind
from migration.clients import version_text
from migration.inspection import InspectedMember, Inspection


def migration_data(group: Inspection) -> dict[str, object]:
    order, blocked = group.succession, group.upgrade_blocked_by
    after = after_load(group.group)
    return {
        "migration": {
            "standing": group.standing,
            "upgrade_blocked_by": None if blocked is None else list(blocked),
            "leader": order and order.leader,
            "leader_problem": group.group.leader_problem,
            "succession": order
            and {"order": list(order.order), **fields(order, "certain", "why"), "after_load": after},
            "members": [_member_data(member) for member in group.members],
        }
    }


def _member_data(inspected: InspectedMember) -> dict[str, object]:
    member, library = inspected.member, inspected.client.library
    return {
        "id": member.id,
        "label": inspected.label,
        "instance": member.instance,
        "client_id": member.client.id,
        "host": member.client.host,
        "library": library and library.name,
        "library_version": inspected.client.version and version_text(inspected.client.version),
        "library_known_by": inspected.client.known_by,
        "protocol": member.protocol and member.protocol.value,
        "assignors": None if inspected.assignors is None else list(inspected.assignors),
        **fields(
            inspected,
            "all_assignors",
            "epoch",
            "leads",
            "rank",
            "user_data_bytes",
            "user_data",
            "writes_user_data",
        ),
        "waits": None
        if inspected.waits is None
        else [
            {
                "for": wait.kind.value,
                "partitions": {topic: list(numbers) for topic, numbers in wait.partitions.items()},
                "member": wait.member,
            }
            for wait in inspected.waits
        ],
    }


def migration_blocks(groups: Sequence[Inspection], *, verbose: bool) -> Iterator[Block]:
    """For each group, its stage, leader and blockers, and a row per member; all tables have the same columns."""
    shown = _ShownColumns(
        verbose=verbose,
        leads=any(group.succession is not None for group in groups),
        user_data=any(member.user_data_bytes is not None for group in groups for member in group.members),
    )
    for group in groups:
        labels = {member.member.id: member.label for member in group.members}
        yield Heading(group.group.id)
        yield Text(f"{group.standing} {_state(group)}")
        if group.succession is not None:
            yield Text(leading_text(group, group.succession))
        upgrade = _upgrade(group)
        if upgrade:
            yield led(upgrade, Role.WARNING) if group.upgrade_blocked_by else Text(upgrade)
        if group.members:
            yield _table(group, labels, shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownColumns:
    verbose: bool
    leads: bool
    user_data: bool


def _state(inspected: Inspection) -> str:
    group = inspected.group
    if group.type is not GroupType.CLASSIC:
        return (
            f"State {group.state.value}; group epoch {_known(group.group_epoch)}, "
            f"target assignment of epoch {_known(group.assignment_epoch)}."
        )
    return f"State {group.state.value}; generation {_known(group.generation)}."


def _known(number: int | None) -> str:
    return "not known" if number is None else str(number)


def leading_text(group: Inspection, order: Succession) -> str:
    """Who leads, and who would lead next."""
    labels = {member.member.id: member.label for member in group.members}
    if order.leader is None:
        return _unknown_leader(group, order, labels)
    (leader,) = (member for member in group.members if member.member.id == order.leader)
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
    loaded = after_load(group.group)
    if order.certain and loaded is not None and loaded != order.order[0]:
        sentences.append(f"After a restart or a move of the coordinator the successor is {labels[loaded]}.")
    return " ".join(sentences)


def _unknown_leader(inspected: Inspection, order: Succession, labels: Mapping[str, str]) -> str:
    if inspected.group.leader is not None:
        return f"Leader: {order.why}."
    problem = inspected.group.leader_problem
    sentences = f"Leader: not known{f' ({problem})' if problem else ''}."
    if not order.is_broker_order:
        return sentences
    first, second = (labels[member] for member in order.order[:2])
    return f"{sentences} When it leaves, {first} leads; or {second}, if {first} is the one that leads now."


def _upgrade(inspected: Inspection) -> str | None:
    blockers = inspected.upgrade_blocked_by
    if inspected.group.type is not GroupType.CLASSIC or not inspected.members:
        return None
    if blockers is None:
        if not inspected.group.shares_partitions:
            return None
        return "Not known now: whether assignments carry user data, which would block an online upgrade."
    if blockers:
        who = share(len(blockers), len(inspected.members), "member")
        return (
            f"Online upgrade blocked: the assignments of {who} carry {_data(inspected)}, and the broker "
            "refuses the first member of the consumer protocol with GROUP_ID_NOT_FOUND."
        )
    return f"No assignment carries user data: {_as_long_as(inspected)}."


def _as_long_as(inspected: Inspection) -> str:
    """How long assignments stay without user data, which leaders of some libraries write."""
    writers = [member for member in inspected.members if member.writes_user_data]
    libraries = " or ".join(
        sorted({member.client.library.name for member in writers if member.client.library})
    )
    if any(member.leads is not False for member in writers):
        return (
            f"an online upgrade is possible now, but a leader of {libraries} will write it in a later rebalance with "
            f"{inspected.group.protocol}, and that closes it"
        )
    if writers:
        return f"an online upgrade is possible as long as no member of {libraries} leads a rebalance"
    return "user data does not block an online upgrade"


def _data(inspected: Inspection) -> str:
    if any(member.user_data for member in inspected.members):
        return f"tasks of Kafka Streams ({_sizes(inspected)})"
    return f"user data ({_sizes(inspected)})"


def _sizes(inspected: Inspection) -> str:
    sizes = sorted({member.user_data_bytes for member in inspected.members if member.user_data_bytes})
    return f"{sizes[0]} bytes" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} bytes"


def _table(inspected: Inspection, labels: Mapping[str, str], shown: _ShownColumns) -> Table:
    ids = ["CONSUMER-ID"] if shown.verbose else []
    names = ["GROUP", "MEMBER", *ids, "HOST", "LIBRARY", "PROTOCOL", "ASSIGNORS", "#CURRENT-EPOCH"]
    names += ["LEADS"] if shown.leads else []
    names += ["#USER-DATA"] if shown.user_data else []

    def row(seen: InspectedMember) -> list[Cell]:
        member = seen.member
        cells: list[Cell] = [inspected.group.id, seen.label]
        cells += [member.id] if shown.verbose else []
        cells += [member.client.host, _library(seen)]
        cells += [member.protocol and member.protocol.value, _assignors(seen), seen.epoch]
        cells += [_place(seen)] if shown.leads else []
        cells += [_user_data(seen)] if shown.user_data else []
        return [*cells, waits_text(seen, labels)]

    return Table(columns=columns(*names, "WAITS-FOR"), rows=[row(seen) for seen in inspected.members])


def _user_data(member: InspectedMember) -> int | str | None:
    """Its size, or what it is."""
    return member.user_data_bytes if member.user_data is None else member.user_data


def _library(member: InspectedMember) -> str | None:
    library = member.client.library
    if library is None:
        return None
    return f"{library.name} (inferred)" if member.client.is_inferred else library.name


def _assignors(member: InspectedMember) -> str | None:
    if member.assignors is None:
        return None
    listed = ",".join(member.assignors)
    return listed if member.all_assignors else f"{listed},?"


def _place(member: InspectedMember) -> str | None:
    if member.leads:
        return "leader"
    return None if member.rank is None else str(member.rank)


def waits_text(member: InspectedMember, labels: Mapping[str, str]) -> str | None:
    if member.waits is None:
        return None
    return "; then ".join(_wait_text(member, wait, labels) for wait in member.waits) or "nothing"


def _wait_text(inspected: InspectedMember, wait: Wait, labels: Mapping[str, str]) -> str:
    what = partitions_text(wait.partitions)
    who = "the leader" if wait.member is None else labels[wait.member]
    classic = inspected.member.protocol is MemberProtocol.CLASSIC
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
