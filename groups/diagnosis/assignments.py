"""Rules about who owns what: partitions without an owner, members without partitions, skew."""

from __future__ import annotations

from collections.abc import Iterator

from groups.diagnosis.case import Case, Need, Symptom, note, rule
from groups.diagnosis.rebalances import is_unsettled
from groups.model import Group, Member


def is_settled(group: Group) -> bool:
    """Whether what members own is what they are to own, as far as the group's state tells."""
    return bool(group.members) and not is_unsettled(group)


def owned_count(member: Member) -> int:
    """How many partitions a member owns."""
    return sum(map(len, (member.owned or {}).values()))


@rule(
    "idle-members",
    "members without partitions",
    source="KIP-848, Assignors; ConsumerPartitionAssignor",
    needs=(Need.MEMBERS,),
    applies=is_settled,
)
def idle_members(case: Case) -> Iterator[Symptom]:
    """More members than partitions, which may be a reserve."""
    group = case.group
    idle = [member.id for member in group.members if not owned_count(member)]
    if not idle:
        return
    owned = sum(map(owned_count, group.members))
    yield note(
        message=f"{len(idle)} of {len(group.members)} members own no partition: {case.named(idle)}.",
        remedy="Add partitions to the topics, or stop these members unless they are meant as a reserve.",
        members=tuple(idle),
        evidence={"members": len(group.members), "without_partitions": len(idle), "partitions": owned},
    )
