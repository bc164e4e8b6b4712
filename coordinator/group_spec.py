"""From a group as it is to the question that its assignor would be asked if every member rejoined now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.model import Claim, GroupSpec, MemberSpec, TopicSpec, Undetermined
from coordinator.model import Group, GroupType, Member, MemberProtocol, Partitions, Subscription, Topic
from coordinator.regex import InvalidRegexError, compile_broker_regex

ASSUMED_GENERATION = 1
"""Where a source does not tell the generation, all members are taken to be at the same one."""

ADDED = "added-"
"""The ids of members that a what-if adds begin like this; the real ones are drawn when they join."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Changes to a group before it rebalances."""

    add: int = 0
    """Members to add, each subscribed as most members are."""
    remove: tuple[str, ...] = ()
    """Members to remove, by member id, instance id or client id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an assignor is asked about a group."""

    spec: GroupSpec
    before: Mapping[str, Partitions]
    """What each member owned before, those that were removed included."""
    undetermined: tuple[Undetermined, ...] = ()


def apply_what_if(group: Group, what_if: WhatIf) -> Group:
    """The group after members came and went; a LookupError names a member to remove that is not there."""
    members = list(group.members)
    for name in what_if.remove:
        gone = [member for member in members if name in names_of(member)]
        if not gone:
            raise LookupError(f"{group.id} has no member {name!r}")
        members = [member for member in members if member not in gone]
    wanted = _usual_subscription(group.members)
    protocol = group.members[0].protocol if group.members else MemberProtocol.CLASSIC
    added = [
        Member(id=f"{ADDED}{number}", protocol=protocol, subscription=wanted, owned={})
        for number in range(1, what_if.add + 1)
    ]
    return replace(group, members=(*members, *added))


def names_of(member: Member) -> set[str]:
    """What an operator may call a member."""
    return {name for name in (member.id, member.instance, member.client.id) if name}


def ask(group: Group, topics: Mapping[str, Topic], assignor: Assignor) -> Question:
    """The question for an assignor, as its members or its coordinator would put it.

    sticky gets user data of what is owned and the generation; cooperative-sticky ownedPartitions and the
    generation; range and round robin ask nothing of it. On the broker, the target assignment is what counts.
    """
    notes: list[Undetermined] = []
    members = [_member_spec(group, member, topics, assignor, notes) for member in group.members]
    named = {name for member in members for name in (*member.topics, *member.owned.partitions)}
    specs = tuple(
        TopicSpec(name=t.name, partitions=t.partitions, id=t.id, racks=_racks(t))
        for t in topics.values()
        if t.name in named
    )
    notes += [
        Undetermined(
            subject=member.id,
            why="its member id is drawn when it joins; ids decide the order among members",
        )
        for member in members
        if member.id.startswith(ADDED)
    ]
    before = {member.id: current_of(group, member) for member in group.members}
    return Question(
        spec=GroupSpec(topics=specs, members=tuple(members)), before=before, undetermined=tuple(notes)
    )


def current_of(group: Group, member: Member) -> Partitions:
    """What a member holds: in a consumer group its target, elsewhere its assignment."""
    if group.type is GroupType.CONSUMER and member.target is not None:
        return member.target
    return member.owned or {}


def _member_spec(
    group: Group,
    member: Member,
    topics: Mapping[str, Topic],
    assignor: Assignor,
    notes: list[Undetermined],
) -> MemberSpec:
    current = current_of(group, member)
    names, by_regex = _subscribed(member, current, topics, notes)
    generation = _generation(group, member)
    claim = Claim(partitions=current, generation=generation)
    nothing = Claim(generation=generation)
    keeps = assignor.side is Side.BROKER or RebalanceProtocol.COOPERATIVE in assignor.protocols
    return MemberSpec(
        id=member.id,
        topics=names,
        by_regex=by_regex if assignor.side is Side.BROKER else (),
        instance=member.instance,
        rack=member.rack,
        owned=claim if keeps else nothing,
        user_data=claim if assignor.name == "sticky" and current else None,
    )


def _generation(group: Group, member: Member) -> int:
    if member.generation is not None:
        return member.generation
    if member.id.startswith(ADDED):
        return -1
    return ASSUMED_GENERATION if group.generation is None else group.generation


def _subscribed(
    member: Member, current: Partitions, topics: Mapping[str, Topic], notes: list[Undetermined]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All subscribed names, and those that only a regex brings."""
    wanted = member.subscription
    if wanted is None:
        notes.append(
            Undetermined(subject=member.id, why="its subscription is not known; taken to be what it owns")
        )
        return tuple(sorted(current)), ()
    if not wanted.regex:
        return wanted.topics, ()
    try:
        matched = compile_broker_regex(wanted.regex).matches(topics)
    except InvalidRegexError as error:
        notes.append(Undetermined(subject=member.id, why=f"its regex is not the broker's: {error}"))
        return tuple(sorted({*wanted.topics, *current})), ()
    by_regex = tuple(name for name in matched if name not in wanted.topics)
    return (*wanted.topics, *by_regex), by_regex


def _usual_subscription(members: Sequence[Member]) -> Subscription | None:
    """The subscription that most members have, the first of them where several do."""
    known = [member.subscription for member in members if member.subscription is not None]
    return max(known, key=known.count) if known else None


def _racks(topic: Topic) -> tuple[tuple[str, ...], ...] | None:
    if topic.racks is None:
        return None
    return tuple(tuple(topic.racks.get(partition, ())) for partition in range(topic.partitions))


def wanted_topics(groups: Iterable[Group]) -> set[str] | None:
    """The topics that a dry run of these groups needs; None for all, where somebody subscribes by regex."""
    members = [member for group in groups for member in group.members]
    if any(member.subscription is not None and member.subscription.regex for member in members):
        return None
    named = {name for m in members if m.subscription is not None for name in m.subscription.topics}
    return named | {name for m in members for name in (*(m.owned or ()), *(m.target or ()))}
