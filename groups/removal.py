"""The removal of members from a group: the selection, and the consequences (docs/members.md, tested on Kafka 4.3.1)."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from groups.listing import shown_id
from groups.model import Group, GroupType, Member, MemberProtocol, Problem
from groups.offsets.model import PlannedChange

COOPERATIVE = "cooperative"  # in the name of assignors whose members keep partitions in a rebalance


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChoice:
    """Selects the members of a group that have any of these names."""

    ids: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    everyone: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return self.ids + self.instances + self.clients + self.hosts

    @property
    def is_empty(self) -> bool:
        return not (self.names or self.everyone)

    def of(self, group: Group) -> tuple[tuple[Member, ...], tuple[Problem, ...]]:
        """The selected members in the group's order, and a problem for each name without a member."""
        kinds: tuple[tuple[str, tuple[str, ...], Callable[[Member], str | None]], ...] = (
            ("id", self.ids, lambda member: member.id),
            ("instance id", self.instances, lambda member: member.instance),
            ("client id", self.clients, lambda member: member.client.id),
            ("host", self.hosts, lambda member: member.client.address),
        )
        chosen = list(group.members) if self.everyone else []
        problems: list[Problem] = []
        for kind, names, value in kinds:
            for name in dict.fromkeys(names):
                wanted = name.removeprefix("/") if kind == "host" else name
                meant = [member for member in group.members if value(member) == wanted]
                chosen += meant
                if not meant:
                    problems.append(Problem(subject=group.id, message=_no_member(group, f"{kind} {name}")))
        if self.everyone and not group.members:
            problems.append(Problem(subject=group.id, message=f"has no members ({group.state.value})"))
        ids = {member.id for member in chosen}
        return tuple(member for member in group.members if member.id in ids), tuple(problems)


def _no_member(group: Group, what: str) -> str:
    if not group.members:
        return f"no member with {what}: it has no members ({group.state.value})"
    return f"no member with {what}; kohort describe {shlex.quote(group.id)} --members shows them"


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersRemoval(PlannedChange):
    members: tuple[Member, ...]
    is_described: bool = True  # else only the ids of the members to remove are known

    @property
    def count(self) -> int:
        return len(self.members)

    @property
    def staying(self) -> tuple[Member, ...]:
        leaving = {member.id for member in self.members}
        return tuple(member for member in self.described.members if member.id not in leaving)


def plan_removal(group: Group, choice: MemberChoice, *, is_described: bool = True) -> MembersRemoval:
    members, missing = choice.of(group)
    return MembersRemoval(described=group, members=members, problems=missing, is_described=is_described)


def consequences(plan: MembersRemoval) -> Iterator[str]:
    group, staying = plan.described, plan.staying
    if not plan.members:
        return
    if not plan.is_described:
        yield f"{shown_id(group.id)} cannot be described: its other members, and the effect on them, are not known"
        return
    if not staying:
        yield f"{shown_id(group.id)} becomes Empty: its partitions are not read until a member joins"
    elif group.type is GroupType.CLASSIC:
        pause = (
            "only partitions that move are paused"
            if COOPERATIVE in (group.protocol or "")
            else "all members pause until the rebalance ends, unless their assignor is cooperative"
        )
        yield f"{shown_id(group.id)} rebalances at once: {pause}"
    else:
        yield "the partitions are reassigned to the remaining members, which pause only what they revoke"
    if _turns_classic(plan):
        yield (
            "no member of the consumer protocol remains: the group becomes classic, and a removed member that is still "
            "running fails (GROUP_ID_NOT_FOUND) and does not rejoin"
        )
    elif group.type is GroupType.STREAMS:
        yield (
            "a Kafka Streams client that is still running rejoins, or shuts down if one of its tasks was just "
            "starting: stop it first"
        )
    running = [member for member in plan.members if not member.is_away]
    if running and not _turns_classic(plan) and group.type is not GroupType.STREAMS:
        yield (
            "a member that is still running rejoins within a heartbeat, and records that it has not committed are read "
            "twice: stop it first"
        )
    if any(member.is_away for member in plan.members):
        yield "members with epoch -2 left for a restart: they rejoin as new members"


def _turns_classic(plan: MembersRemoval) -> bool:
    """Whether only classic members remain in a consumer group, so that the broker converts it to a classic group."""
    protocols = {member.protocol for member in plan.staying}
    leaving = {member.protocol for member in plan.members}
    return (
        plan.described.type is GroupType.CONSUMER
        and protocols == {MemberProtocol.CLASSIC}
        and MemberProtocol.CONSUMER in leaving
    )


def rejoined(before: Sequence[Member], after: Group) -> dict[str, Member]:
    """Removed members that are in again, by old ids: by the id, or a classic member by its instance id."""
    by_id = {member.id: member for member in after.members}
    by_instance = {member.instance: member for member in after.members if member.instance}
    present = {member.id: by_id.get(member.id) or by_instance.get(member.instance or "") for member in before}
    return {member: now for member, now in present.items() if now is not None}
