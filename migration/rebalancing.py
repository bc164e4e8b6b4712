"""One disturbance of a group, until it rests: who owns what then, what moved, and what waited meanwhile.

Pure functions over `groups.model.Group`. The assignors are the real ones; how long a wait lasts comes from
`migration.timing`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from assignors.assignor import Leader, RebalanceProtocol, Side
from assignors.errors import UnknownAssignorError
from assignors.model import NO_GENERATION, Claim, DenseGroup, GroupSpec
from assignors.rebalance import MOST_REBALANCES, Procedure, elect, rebalance_protocol
from assignors.registry import find
from groups.group_spec import ask, current_of
from groups.model import Group, GroupType, Member, MemberProtocol, Partitions, Topic
from migration.moments import Wait
from migration.timing import (
    CLASSIC_HEARTBEAT_S,
    CONSUMER_HEARTBEAT_S,
    Rhythm,
    until_all_know_s,
    until_others_know_s,
)

Owners: TypeAlias = dict[tuple[str, int], str]
"""Member id by topic and partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where the group came to rest."""

    group: Group
    rebalances: int
    moved: int
    waits: tuple[Wait, ...]


def owners_of(group: Group) -> Owners:
    """Who has what now."""
    return {
        (topic, number): member.id
        for member in group.members
        for topic, numbers in current_of(group, member).items()
        for number in numbers
    }


def voted(group: Group) -> str:
    """The assignor that the classic members of a group elect; NoCommonProtocolError where they have none in common."""
    return elect([member.protocols or () for member in group.members])


def rebalance_classic(
    group: Group,
    topics: Mapping[str, Topic],
    leader: Leader,
    latest: Owners,
    joined: Collection[str],
    rhythm: Rhythm,
) -> Outcome:
    """All members of a classic group rejoin, as often as cooperative ones must.

    `joined` are ids of members that are new: they wait for nobody to tell them. `latest` says who had each partition
    last, and is brought up to date.

    :raises UnknownAssignorError, NoCommonProtocolError: there is nobody to ask
    :raises AssignorFailedError: the real assignor would throw
    """
    name = voted(group)
    assignor = find(name, Side.CLIENT, leader)
    lists = {member.protocols or () for member in group.members}
    eager_lists = {names for names in lists if _is_eager(names, leader)}
    eager = {member.id for member in group.members if (member.protocols or ()) in eager_lists}
    procedure = Procedure.EAGER if len(eager) == len(group.members) else Procedure.COOPERATIVE
    group = replace(group, type=GroupType.CLASSIC, protocol=name)
    rebalances = moved = 0
    waits: list[Wait] = []
    knowing = set(joined)
    before = owners_of(group)
    while rebalances < MOST_REBALANCES:
        told = sum(1 for member in group.members if member.id not in knowing)
        waits += _classic_waits(before, latest, eager, told, rhythm)
        spec = _without_claims(ask(group, topics, assignor, procedure).spec, eager)
        group = _assigned(group, assignor.assign(DenseGroup.of(spec)).assignment.named())
        after = owners_of(group)
        rebalances += 1
        moved += _moved(latest, after)
        latest.update(after)
        losers = {
            owner for place, owner in before.items() if owner not in eager and after.get(place) != owner
        }
        if not losers:
            break
        knowing, before, rhythm = losers, after, Rhythm.JUST_ANSWERED
    return Outcome(group=group, rebalances=rebalances, moved=moved, waits=tuple(waits))


def rebalance_consumer(
    group: Group, topics: Mapping[str, Topic], assignor: str, latest: Owners, joined: Collection[str]
) -> Outcome:
    """The broker sets a new target, and the members come to it.

    A group that is still classic is converted: its members are walked as the new group's.

    :raises UnknownAssignorError, AssignorFailedError: as for a classic group
    """
    question = ask(group, topics, find(assignor, Side.BROKER), Procedure.CONSUMER)
    before = owners_of(group)
    named = find(assignor, Side.BROKER).assign(DenseGroup.of(question.spec)).assignment.named()
    by_id = {member.id: member for member in group.members}
    ordered = tuple(by_id[member.id] for member in question.spec.members)
    group = replace(group, type=GroupType.CONSUMER, protocol=assignor, members=ordered)
    group = _assigned(group, named)
    after = owners_of(group)
    moved = _moved(latest, after)
    waits = _handovers(by_id, before, after, latest, joined)
    latest.update(after)
    return Outcome(group=group, rebalances=1, moved=moved, waits=waits)


def _is_eager(names: Iterable[str], leader: Leader) -> bool:
    """Of a member by its list; an assignor that is not known is taken to be eager, as most are."""
    try:
        return (
            rebalance_protocol([find(name, Side.CLIENT, leader) for name in names]) is RebalanceProtocol.EAGER
        )
    except UnknownAssignorError:
        return True


def _without_claims(spec: GroupSpec, eager: Collection[str]) -> GroupSpec:
    """Eager members have given up everything when they rejoin, also among cooperative ones."""
    members = tuple(
        replace(member, owned=Claim(partitions={}, generation=member.owned.generation))
        if member.id in eager and member.owned.partitions
        else member
        for member in spec.members
    )
    return replace(spec, members=members)


def _assigned(group: Group, named: Mapping[str, Mapping[str, list[int]]]) -> Group:
    """The group with what the assignor gave, a generation on; nobody is new any more."""
    members = tuple(_given(member, named.get(member.id, {})) for member in group.members)
    return replace(
        group,
        members=members,
        generation=1 + (group.generation or group.group_epoch or 0),
    )


def _given(member: Member, named: Mapping[str, list[int]]) -> Member:
    partitions: Partitions = {topic: tuple(numbers) for topic, numbers in named.items()}
    if member.owned == member.target == partitions and member.generation is None:
        return member
    return replace(member, owned=partitions, target=partitions, generation=None)


def _moved(latest: Owners, after: Owners) -> int:
    return sum(1 for place, owner in after.items() if latest.get(place, owner) != owner)


def _classic_waits(
    before: Owners, latest: Owners, eager: Collection[str], told: int, rhythm: Rhythm
) -> list[Wait]:
    """What waits while a classic group rejoins; `told` members learn of it from their heartbeats."""
    waits = []
    free = sum(1 for place in latest if place not in before)
    if free and told:
        waits.append(
            Wait(
                why=_WITHHELD if rhythm is Rhythm.JUST_ANSWERED else _LEFT,
                partitions=free,
                mean_s=until_all_know_s(told, rhythm),
                most_s=CLASSIC_HEARTBEAT_S,
            )
        )
    given_up = sum(1 for owner in before.values() if owner in eager)
    if given_up and told:
        waits.append(
            Wait(
                why=_GIVEN_UP_IN_STEP if rhythm is not Rhythm.SPREAD else _GIVEN_UP,
                partitions=given_up,
                mean_s=until_others_know_s(told, rhythm),
                most_s=CLASSIC_HEARTBEAT_S,
            )
        )
    return waits


_LEFT = "of members that are gone, until all others have noticed and rejoined"
_WITHHELD = "handed over in a second rebalance, until the next heartbeat of members that gave up nothing"
_GIVEN_UP = "given up by eager members, until the last one has noticed and rejoined"
_GIVEN_UP_IN_STEP = "given up by eager members and given out anew at once: all notice together"


def _handovers(
    members: Mapping[str, Member], before: Owners, after: Owners, latest: Owners, joined: Collection[str]
) -> tuple[Wait, ...]:
    """What waits while members come to a target, by how the receiver learns of it."""
    counts: dict[tuple[str, float, float], int] = {}
    for place, receiver in after.items():
        giver = before.get(place)
        if giver == receiver or place not in latest:
            continue
        if giver is None and receiver in joined:
            continue  # it is free, and in the first answer to the new member
        kind = _handover(members[receiver], None if giver is None else members[giver], receiver in joined)
        counts[kind] = counts.get(kind, 0) + 1
    return tuple(
        Wait(why=why, partitions=count, mean_s=mean_s, most_s=most_s)
        for (why, mean_s, most_s), count in counts.items()
    )


def _handover(receiver: Member, giver: Member | None, is_new: bool) -> tuple[str, float, float]:
    if receiver.protocol is MemberProtocol.CONSUMER:
        if is_new and giver is not None and giver.protocol is not MemberProtocol.CONSUMER:
            # The giver learns of it within a classic heartbeat, the new member a whole interval after it came.
            return (
                "from a classic member to a new member of the consumer protocol, until its second heartbeat",
                CONSUMER_HEARTBEAT_S - CLASSIC_HEARTBEAT_S / 2,
                CONSUMER_HEARTBEAT_S,
            )
        return (
            "to a member of the consumer protocol, until its next heartbeat",
            CONSUMER_HEARTBEAT_S / 2,
            CONSUMER_HEARTBEAT_S,
        )
    return (
        "to a classic member of a consumer group, until its next heartbeat",
        CLASSIC_HEARTBEAT_S / 2,
        CLASSIC_HEARTBEAT_S,
    )


def newcomer(member: Member) -> Member:
    """A member that has not been in the group before."""
    return replace(member, owned={}, target={}, generation=NO_GENERATION, epoch=None)
