"""The input of a group's assignor if every member rejoined now, as it is or after hypothetical changes (`WhatIf`)."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from uuid import UUID

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.conversation import GroupMetadata, MemberAssignment, MemberAssignor
from assignors.java.hash_map import timeline_order
from assignors.model import NO_GENERATION, Claim, GroupSpec, MemberSpec, TopicSpec, Undetermined
from assignors.registry import BUILT_IN, rebalance_protocol
from assignors.streams import STREAMS
from groups.client_library import MIXING, library_of
from groups.model import Group, GroupType, Member, MemberProtocol, Partitions, Subscription, Topic, UserData
from groups.regex.broker import InvalidRegexError, compile_broker_regex
from wire.messages.reader import DecodeError
from wire.messages.streams_assignor import read_streams_subscription

ADDED = "added-"  # the prefix of the ids of members that a what-if adds; real ones are random at a join


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Changes, applied in the order of these fields. Members are named by member, instance or client id."""

    fail_rack: frozenset[str] = frozenset()  # their members are removed, their replicas ignored
    remove: frozenset[str] = frozenset()
    add: int = 0  # the number of members to add, each with the most frequent subscription
    subscribe: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # new topics by member
    rack: Mapping[str, str] = field(default_factory=dict)
    topic_partitions: Mapping[str, int] = field(default_factory=dict)  # also of topics to be created

    def named_members(self) -> set[str]:
        return {*self.remove, *self.subscribe, *self.rack}


def unknown_names(what_if: WhatIf, groups: Iterable[Group]) -> list[str]:
    """Members that a what-if names but no group has and the what-if does not add."""
    known = {name for group in groups for member in group.members for name in member_names(member)}
    known |= {str(process) for group in groups if group.protocol == STREAMS for process in _processes(group)}
    known |= {f"{ADDED}{number}" for number in range(1, what_if.add + 1)}
    return sorted(what_if.named_members() - known)


def _processes(group: Group) -> Iterator[UUID]:
    """The processes of a group of Kafka Streams, as far as they are known."""
    for member in group.members:
        with suppress(DecodeError):
            process = read_streams_subscription((member.user_data or UserData()).subscription).process
            if process is not None:
                yield process


def member_names(member: Member) -> set[str]:
    return {name for name in (member.id, member.instance, member.client.id) if name}


def change_group(group: Group, what_if: WhatIf) -> Group:
    there = [one for one in group.members if one.rack not in what_if.fail_rack]
    staying = [one for one in there if not member_names(one) & what_if.remove]
    members = [*staying, *_added(group.members, what_if.add)]
    return replace(group, members=tuple(_changed(member, what_if) for member in members))


def change_topics(topics: Mapping[str, Topic], what_if: WhatIf) -> dict[str, Topic]:
    """The topics after the changes; ValueError for a count below a topic's current one, which Kafka refuses."""
    changed = {name: _without_racks(topic, what_if.fail_rack) for name, topic in topics.items()}
    for name, count in what_if.topic_partitions.items():
        topic = changed.get(name)
        if topic is not None and count < topic.partitions:
            has = f"{name} has {topic.partitions} partitions"
            raise ValueError(f"{has}, and Kafka cannot remove any ({count})")
        changed[name] = replace(topic or Topic(name=name, partitions=count), partitions=count)
    return changed


def _added(members: Sequence[Member], count: int) -> list[Member]:
    if not count:
        return []
    known = Counter(member.subscription for member in members if member.subscription is not None)
    usual = known.most_common(1)[0][0] if known else None
    protocol = members[0].protocol if members else MemberProtocol.CLASSIC
    protocols = members[0].protocols if members else None
    return [
        Member(id=f"{ADDED}{number}", protocol=protocol, protocols=protocols, subscription=usual, owned={})
        for number in range(1, count + 1)
    ]


def _changed(member: Member, what_if: WhatIf) -> Member:
    for name in sorted(member_names(member)):
        if name in what_if.subscribe:
            member = replace(member, subscription=Subscription(topics=what_if.subscribe[name]))
        if name in what_if.rack:
            member = replace(member, rack=what_if.rack[name])
    return member


def _without_racks(topic: Topic, racks: frozenset[str]) -> Topic:
    if topic.racks is None or not racks:
        return topic
    left = {p: tuple(rack for rack in held if rack not in racks) for p, held in topic.racks.items()}
    return replace(topic, racks=left)


ASSUMED_GENERATION = 1  # if the source does not show the generation, all members are assumed to have this one


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorInput:
    spec: GroupSpec
    undetermined: tuple[Undetermined, ...] = ()


def ask(
    group: Group,
    topics: Mapping[str, Topic],
    assignor: Assignor,
    eager: Container[str] = (),
    resubscribed: Container[str] = (),
) -> AssignorInput:
    """The input of an assignor as its caller passes it: sticky's user data, ownedPartitions, or the broker's target."""
    notes: list[Undetermined] = []
    matches: dict[str, tuple[str, ...]] = {}
    regexes_differ = assignor.side is Side.BROKER and not (
        len({member.subscription for member in group.members}) == 1
        and all(
            member.subscription is not None and member.subscription.regex and not member.subscription.topics
            for member in group.members
        )
    )
    members = []
    for member in _walked(group, assignor):
        current = current_of(group, member)
        names, by_regex = _subscribed(member, current, topics, notes, matches)
        generation = _generation(group, member)
        claim = Claim(partitions=current, generation=generation)
        gives_up = member.id in resubscribed and assignor.side is Side.CLIENT
        kept = {topic: current[topic] for topic in current if topic in names} if gives_up else current
        spec = MemberSpec(
            id=member.id,
            topics=names,
            by_regex=by_regex if regexes_differ else (),
            instance=member.instance,
            rack=member.rack,
            owned=Claim(partitions={} if member.id in eager else kept, generation=generation),
            user_data=_user_data(group, member, assignor, names, claim, notes),
        )
        members.append(spec)
    named = {name for member in members for name in (*member.topics, *member.owned.partitions)}
    racks_matter = assignor.side is Side.CLIENT and any(member.rack for member in members)
    specs = topic_specs([t for t in topics.values() if t.name in named], notes if racks_matter else [])
    why = "its member id is random when it joins; ids decide the order of members"
    notes += [Undetermined(subject=one.id, why=why) for one in members if one.id.startswith(ADDED)]
    return AssignorInput(spec=GroupSpec(topics=specs, members=tuple(members)), undetermined=tuple(notes))


def _user_data(
    group: Group,
    member: Member,
    assignor: Assignor,
    topics: Sequence[str],
    claim: Claim,
    notes: list[Undetermined],
) -> bytes | None:
    """What the member sends if it rejoins. A built-in assignor's bytes depend on its last assignment alone; those of
    others may depend on the application, so they are the last that it sent, if the group uses this assignor."""
    if assignor not in BUILT_IN:
        if group.protocol == assignor.name and member.user_data is not None:
            return member.user_data.subscription or None
        if assignor.at_member is not MemberAssignor:
            why = f"the bytes that {assignor.name} would send at this member are not known"
            notes.append(Undetermined(subject=member.id, why=why))
    here = assignor.at_member({})
    if claim.partitions:
        metadata = GroupMetadata(
            group=group.id, generation=claim.generation, member=member.id, instance=member.instance
        )
        here.on_assignment(MemberAssignment(partitions=claim.partitions), metadata)
    return here.subscription_user_data(topics)


def eager_members(group: Group, assignor: Assignor, leader: Leader | None = None) -> frozenset[str]:
    """Members that revoke all partitions before they rejoin (KIP-429). NoCommonProtocolError: a list is refused."""
    if assignor.side is Side.BROKER:
        return frozenset()
    lists = {member.id: _listed(member, assignor) for member in group.members}
    protocols = {names: rebalance_protocol(names, leader) for names in {*lists.values()}}
    return frozenset(member for member, names in lists.items() if protocols[names] is RebalanceProtocol.EAGER)


def _listed(member: Member, assignor: Assignor) -> tuple[str, ...]:
    names = member.protocols or ()
    return names if assignor.name in names else (assignor.name,)


def members_of_unknown_lists(group: Group, assignor: Assignor) -> tuple[str, ...]:
    """Members that may list an eager one too, as after the first of two rolling bounces: no broker shows it."""
    if assignor.side is Side.BROKER or RebalanceProtocol.COOPERATIVE not in assignor.protocols:
        return ()
    unlisted = [member for member in group.members if member.protocols is None]
    return tuple(member.id for member in unlisted if library_of(member).name in (None, *MIXING))


def _walked(group: Group, assignor: Assignor) -> Sequence[Member]:
    """The members in the order of the assignor's caller (TargetAssignmentBuilder); members that join are last."""
    if assignor.side is Side.CLIENT or group.type is not GroupType.CLASSIC:
        return group.members
    there = [member for member in group.members if not _joins(member)]
    joining = [member for member in group.members if _joins(member)]
    return [*(there[index] for index in timeline_order([member.id for member in there])), *joining]


def _joins(member: Member) -> bool:
    return member.id.startswith(ADDED) or member.generation == NO_GENERATION


def current_of(group: Group, member: Member) -> Partitions:
    """The partitions of a member: its target in a consumer group, its assignment in other groups."""
    if group.type is GroupType.CONSUMER and member.target is not None:
        return member.target
    return member.owned or {}


def _generation(group: Group, member: Member) -> int:
    if member.generation is not None:
        return member.generation
    if _joins(member):
        return NO_GENERATION
    return ASSUMED_GENERATION if group.generation is None else group.generation


def _subscribed(
    member: Member,
    current: Partitions,
    topics: Mapping[str, Topic],
    notes: list[Undetermined],
    matches: dict[str, tuple[str, ...]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All subscribed topics, and those that a regex matches; `matches` caches the matches of each regex."""
    subscription = member.subscription
    if subscription is None:
        why = "its subscription is unknown; assumed to be the topics that it owns"
        notes.append(Undetermined(subject=member.id, why=why))
        return tuple(sorted(current)), ()
    if not subscription.regex:
        return subscription.topics, ()
    try:
        if subscription.regex not in matches:
            matches[subscription.regex] = _matching(subscription.regex, tuple(topics))
        matched = matches[subscription.regex]
    except InvalidRegexError as error:
        notes.append(Undetermined(subject=member.id, why=f"its regex is not the broker's: {error}"))
        return tuple(sorted({*subscription.topics, *current})), ()
    # A regex without a match is kept: next to a name or another regex, it makes the subscriptions unequal.
    by_regex = matched or (subscription.regex,)
    return (*subscription.topics, *(name for name in matched if name not in subscription.topics)), by_regex


@lru_cache(maxsize=16)
def _matching(regex: str, topics: tuple[str, ...]) -> tuple[str, ...]:
    """Cached, because the simulation of a plan repeats the call; InvalidRegexError if the broker would refuse it."""
    return tuple(compile_broker_regex(regex).matches(topics))


def wanted_topics(groups: Iterable[Group], what_if: WhatIf) -> set[str] | None:
    """The topics that a dry run of these groups needs; None means all, if a member subscribes by regex."""
    members = [member for group in groups for member in group.members]
    if any(member.subscription is not None and member.subscription.regex for member in members):
        return None
    named = {name for m in members if m.subscription is not None for name in m.subscription.topics}
    named |= {name for m in members for name in (*(m.owned or ()), *(m.target or ()))}
    return named.union(*what_if.subscribe.values(), what_if.topic_partitions)


Racks = tuple[str, ...]


def topic_specs(topics: Sequence[Topic], notes: list[Undetermined]) -> tuple[TopicSpec, ...]:
    """The topics with known racks of replicas; a new partition repeats the others' pattern (`notes`)."""
    known = {frozenset(racks) for topic in topics for racks in (topic.racks or {}).values()}
    alike = next(iter(known)) if len(known) == 1 else None
    return tuple(
        TopicSpec(name=t.name, partitions=t.partitions, id=t.id, racks=_racks(t, alike, notes))
        for t in topics
    )


def _racks(topic: Topic, alike: frozenset[str] | None, notes: list[Undetermined]) -> tuple[Racks, ...] | None:
    if topic.racks is None:
        return None
    before = [tuple(topic.racks[partition]) for partition in sorted(topic.racks)]
    racks: list[Racks] = []
    for partition in range(topic.partitions):
        replicas = topic.racks.get(partition)
        if replicas is None and alike is not None:
            replicas = tuple(sorted(alike))
        elif replicas is None:
            replicas = before[partition % len(before)] if before else ()
            notes.append(Undetermined(subject=f"{topic.name}-{partition}", why=PLACED_LATER))
        racks.append(tuple(replicas))
    return tuple(racks)


PLACED_LATER = "its replicas are placed when it is created; their racks decide which member gets it"
