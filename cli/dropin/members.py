"""`--describe --members`."""

from __future__ import annotations

from cli.dropin.tables import NARROWEST, or_missing, row, width_of
from cli.render.cells import MISSING, partitions_text
from groups.model import Group, GroupType, Member, MemberProtocol, Partitions


def member_table(group: Group, *, verbose: bool) -> list[str]:
    """The heading and a line for each member.

    Instances have a column where a member has one, UPGRADED where members of both protocols are there.
    """
    members = group.members
    columns = [
        ("GROUP", NARROWEST, [group.id] * len(members)),
        ("CONSUMER-ID", NARROWEST, [member.id for member in members]),
        ("GROUP-INSTANCE-ID", 17, [member.instance or "" for member in members]),
        ("HOST", NARROWEST, [member.client.host or "" for member in members]),
        ("CLIENT-ID", NARROWEST, [member.client.id or "" for member in members]),
        ("#PARTITIONS", NARROWEST, [_count(member.owned) for member in members]),
    ]
    if not any(member.instance for member in members):
        del columns[2]
    if verbose:
        columns += [
            ("CURRENT-EPOCH", NARROWEST, [or_missing(member.epoch) for member in members]),
            ("CURRENT-ASSIGNMENT", 20, [_assignment(member.owned) for member in members]),
            ("TARGET-EPOCH", NARROWEST, [or_missing(group.assignment_epoch)] * len(members)),
            ("TARGET-ASSIGNMENT", 20, [_assignment(member.target) for member in members]),
        ]
    else:
        columns.append(("", 0, [""] * len(members)))
    widths = [width_of(values, narrowest) for _, narrowest, values in columns]
    if verbose and _is_mixed(group):
        columns.append(("UPGRADED", 0, [_upgraded(member) for member in members]))
    headings = [heading for heading, _, _ in columns]
    rows = zip(*(values for _, _, values in columns), strict=True)
    return [row(cells, widths) for cells in (headings, *rows)]


def _count(partitions: Partitions | None) -> str:
    return str(sum(map(len, (partitions or {}).values())))


def _assignment(partitions: Partitions | None) -> str:
    """`t1:0,1;t2:3`, sorted."""
    return or_missing(partitions_text({topic: has for topic, has in (partitions or {}).items() if has}))


def _is_mixed(group: Group) -> bool:
    """Whether members of both protocols are in a group of type consumer."""
    protocols = {member.protocol for member in group.members}
    return group.type is GroupType.CONSUMER and protocols >= set(MemberProtocol)


def _upgraded(member: Member) -> str:
    """Java's `true` where a member speaks the consumer protocol; `-` where the broker does not say."""
    if member.protocol is None:
        return MISSING
    return str(member.protocol is MemberProtocol.CONSUMER).lower()
