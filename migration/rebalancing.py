"""A change of a group's members, until the group settles: the new owners, the moves, and the gaps without an owner.

Members learn of a rebalance from the response to a heartbeat: after half an interval on average. Classic members that
have rebalanced together send their heartbeats in step (seen with Java and librdkafka on 4.3.1); after a long time
they are assumed to be spread evenly: the last of `n` learns after `n / (n + 1)` of an interval. The processing times
of brokers and clients are not counted.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from assignors.assignor import Leader, Side
from assignors.errors import AssignorFailedError
from assignors.model import NO_GENERATION, DenseGroup
from assignors.rebalance import Owners, elect, moved_between, owners_in, run_rebalances
from assignors.registry import find
from groups.group_spec import ask, current_of, eager_members
from groups.model import Group, GroupType, Member, MemberProtocol, Partitions, Topic
from migration.model import OwnerGap


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceOutcome:
    group: Group
    rebalances: int
    moved: int
    waits: tuple[OwnerGap, ...]


def owners_of(group: Group) -> Owners:
    return owners_in({member.id: current_of(group, member) for member in group.members})


def elected_assignor(group: Group) -> str:
    """The assignor that the classic members of a group elect; NoCommonProtocolError if they have none in common."""
    return elect([member.protocols or () for member in group.members])


def rebalance_classic(
    group: Group,
    topics: Mapping[str, Topic],
    leader: Leader,
    latest: Owners,
    joined: Collection[str],
    timing: "HeartbeatTiming",
) -> RebalanceOutcome:
    """All members of a classic group rejoin, cooperative ones as often as necessary. `joined` are ids of new members:
    they do not wait for a notification. `latest` contains the last owners of each partition, and is updated. Raises
    UnknownAssignorError or NoCommonProtocolError: no assignor can compute it. Raises AssignorFailedError: the real
    assignor would throw."""
    name = elected_assignor(group)
    assignor = find(name, Side.CLIENT, leader)
    group = replace(group, type=GroupType.CLASSIC, protocol=name)
    eager = eager_members(group, assignor, leader)
    held = {member.id: current_of(group, member) for member in group.members}
    series = run_rebalances(ask(group, topics, assignor, eager).spec, assignor, held, eager)
    if series.failure is not None:
        raise AssignorFailedError(series.failure)
    moved = 0
    waits: list[OwnerGap] = []
    knowing = set(joined)
    before = owners_in(held)
    for rebalance in series.rebalances:
        notified = sum(1 for member in group.members if member.id not in knowing)
        waits += _classic_waits(before, latest, eager, notified, timing)
        after = owners_in(rebalance.assignment)
        moved += moved_between(latest, after)
        latest.update(after)
        knowing = {
            owner
            for partition, owners in before.items()
            for owner in owners
            if owner not in eager and owner not in after.get(partition, ())
        }
        before, timing = after, HeartbeatTiming.JUST_ANSWERED
    count = len(series.rebalances)
    group = _assigned(group, series.rebalances[-1].assignment, count)
    return RebalanceOutcome(group=group, rebalances=count, moved=moved, waits=tuple(waits))


def rebalance_consumer(
    group: Group, topics: Mapping[str, Topic], assignor: str, latest: Owners, joined: Collection[str]
) -> RebalanceOutcome:
    """The broker sets a new target, and the members reconcile with it; a classic group is converted first."""
    question = ask(group, topics, find(assignor, Side.BROKER))
    before = owners_of(group)
    named = find(assignor, Side.BROKER).assign(DenseGroup.of(question.spec)).assignment.named()
    by_id = {member.id: member for member in group.members}
    ordered = tuple(by_id[member.id] for member in question.spec.members)
    group = replace(group, type=GroupType.CONSUMER, protocol=assignor, members=ordered)
    group = _assigned(group, named, 1)
    after = owners_of(group)
    moved = moved_between(latest, after)
    waits = _handovers(by_id, before, after, latest, joined)
    latest.update(after)
    return RebalanceOutcome(group=group, rebalances=1, moved=moved, waits=waits)


def _assigned(group: Group, named: Mapping[str, Mapping[str, Sequence[int]]], rebalances: int) -> Group:
    members = []
    for member in group.members:
        owned: Partitions = {topic: tuple(numbers) for topic, numbers in named.get(member.id, {}).items()}
        is_same = member.owned == member.target == owned and member.generation is None
        members.append(member if is_same else replace(member, owned=owned, target=owned, generation=None))
    before = group.generation or group.group_epoch or 0
    return replace(group, members=tuple(members), generation=before + rebalances)


def _classic_waits(
    before: Owners, latest: Owners, eager: Collection[str], notified: int, timing: "HeartbeatTiming"
) -> list[OwnerGap]:
    """The gaps while a classic group rejoins; `notified`: the number of members that learn from a heartbeat."""
    waits = []
    free = sum(1 for partition in latest if partition not in before)
    if free and notified:
        why = _WITHHELD if timing is HeartbeatTiming.JUST_ANSWERED else _LEFT
        mean_s = until_all_know_s(notified, timing)
        waits.append(OwnerGap(why=why, partitions=free, mean_s=mean_s, most_s=CLASSIC_HEARTBEAT_S))
    given_up = sum(1 for owners in before.values() if all(owner in eager for owner in owners))
    if given_up and notified:
        # One that has revoked its partitions waits for the last.
        why, mean_s = _GIVEN_UP_IN_STEP, 0.0
        if timing is HeartbeatTiming.SPREAD:
            why, mean_s = _GIVEN_UP, until_all_know_s(notified, timing) - CLASSIC_HEARTBEAT_S / 2
        waits.append(OwnerGap(why=why, partitions=given_up, mean_s=mean_s, most_s=CLASSIC_HEARTBEAT_S))
    return waits


_LEFT = "of stopped members, until all others have noticed and rejoined"
_WITHHELD = "handed over in a second rebalance, until the next heartbeat of members that revoked nothing"
_GIVEN_UP = "revoked by eager members, until the last one has noticed and rejoined"
_GIVEN_UP_IN_STEP = "revoked by eager members and assigned again at once (all notice together)"


def _handovers(
    members: Mapping[str, Member], before: Owners, after: Owners, latest: Owners, joined: Collection[str]
) -> tuple[OwnerGap, ...]:
    """The gaps while members reconcile with a target, grouped by how the new owner learns of it."""
    counts: dict[tuple[str, float, float], int] = {}
    for partition, (receiver,) in after.items():
        givers = before.get(partition, ())
        if receiver in givers or partition not in latest:
            continue
        giver = givers[0] if givers else None
        if giver is None and receiver in joined:
            continue  # it is free, and the first response to the new member contains it
        kind = _handover(members[receiver], None if giver is None else members[giver], receiver in joined)
        counts[kind] = counts.get(kind, 0) + 1
    return tuple(
        OwnerGap(why=why, partitions=count, mean_s=mean_s, most_s=most_s)
        for (why, mean_s, most_s), count in counts.items()
    )


def _handover(receiver: Member, giver: Member | None, is_new: bool) -> tuple[str, float, float]:
    if receiver.protocol is not MemberProtocol.CONSUMER:
        why = "to a classic member of a consumer group, until its next heartbeat"
        return why, CLASSIC_HEARTBEAT_S / 2, CLASSIC_HEARTBEAT_S
    if is_new and giver is not None and giver.protocol is not MemberProtocol.CONSUMER:
        # The former owner learns of it within a classic heartbeat, the new member a whole interval after it joined.
        why = "from a classic member to a new member of the consumer protocol, until its second heartbeat"
        return why, CONSUMER_HEARTBEAT_S - CLASSIC_HEARTBEAT_S / 2, CONSUMER_HEARTBEAT_S
    why = "to a member of the consumer protocol, until its next heartbeat"
    return why, CONSUMER_HEARTBEAT_S / 2, CONSUMER_HEARTBEAT_S


def newcomer(member: Member) -> Member:
    return replace(member, owned={}, target={}, generation=NO_GENERATION, epoch=None)


CLASSIC_HEARTBEAT_S = 3.0  # `heartbeat.interval.ms`, 3 s by default in all seven libraries
CONSUMER_HEARTBEAT_S = 5.0  # The default of `group.consumer.heartbeat.interval.ms` on brokers
INITIAL_DELAY_S = 3.0
"""`group.initial.rebalance.delay.ms`: how long an empty classic group waits for more members."""


class HeartbeatTiming(Enum):
    """When classic members send their heartbeats."""

    SPREAD = "spread"  # Evenly over the interval: the group settled long ago
    IN_STEP = "in step"
    """All at once, sometime in the interval: the group has rebalanced since the plan started."""
    JUST_ANSWERED = "just answered"  # All at once, an interval from now: the group has just rebalanced


def until_all_know_s(members: int, timing: HeartbeatTiming) -> float:
    """Average seconds until the last of `members` classic members learns of a rebalance."""
    if not members:
        return 0.0
    if timing is HeartbeatTiming.SPREAD:
        return CLASSIC_HEARTBEAT_S * members / (members + 1)
    return CLASSIC_HEARTBEAT_S if timing is HeartbeatTiming.JUST_ANSWERED else CLASSIC_HEARTBEAT_S / 2
