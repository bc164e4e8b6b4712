"""Hypothetical changes of a group: members that join, leave or change, more partitions, a rack that fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from groups.model import Group, Member, MemberProtocol, Subscription, Topic

ADDED = "added-"
"""The prefix of the ids of members that a what-if adds; real members get random ids when they join."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Changes, applied in the order of these fields. Members are named by member, instance or client id."""

    fail_rack: frozenset[str] = frozenset()
    """Members in these racks are removed, and replicas there are ignored."""
    remove: frozenset[str] = frozenset()
    add: int = 0
    """The number of members to add, each with the most frequent subscription."""
    subscribe: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The topics of a member that replace its subscription."""
    rack: Mapping[str, str] = field(default_factory=dict)
    topic_partitions: Mapping[str, int] = field(default_factory=dict)
    """New partition counts; a topic that does not exist is added."""

    def named_members(self) -> set[str]:
        """Every member that the changes name."""
        return {*self.remove, *self.subscribe, *self.rack}


def unknown_names(what_if: WhatIf, groups: Iterable[Group]) -> list[str]:
    """Members that a what-if names but no group has and the what-if does not add."""
    known = {name for group in groups for member in group.members for name in member_names(member)}
    known |= {f"{ADDED}{number}" for number in range(1, what_if.add + 1)}
    return sorted(what_if.named_members() - known)


def member_names(member: Member) -> set[str]:
    """The names by which an operator may refer to a member."""
    return {name for name in (member.id, member.instance, member.client.id) if name}


def change_group(group: Group, what_if: WhatIf) -> Group:
    """The group after the changes."""
    staying = [
        member
        for member in group.members
        if member.rack not in what_if.fail_rack and not member_names(member) & what_if.remove
    ]
    members = [*staying, *_added(group.members, what_if.add)]
    return replace(group, members=tuple(_changed(member, what_if) for member in members))


def change_topics(topics: Mapping[str, Topic], what_if: WhatIf) -> dict[str, Topic]:
    """The topics after the changes; ValueError for a count below a topic's current one, which Kafka refuses."""
    changed = {name: _without_racks(topic, what_if.fail_rack) for name, topic in topics.items()}
    for name, count in what_if.topic_partitions.items():
        topic = changed.get(name)
        if topic is not None and count < topic.partitions:
            raise ValueError(
                f"{name} has {topic.partitions} partitions, and Kafka cannot remove any ({count})"
            )
        changed[name] = (
            Topic(name=name, partitions=count) if topic is None else replace(topic, partitions=count)
        )
    return changed


def _added(members: Sequence[Member], count: int) -> list[Member]:
    wanted = _usual_subscription(members) if count else None
    protocol = members[0].protocol if members else MemberProtocol.CLASSIC
    protocols = members[0].protocols if members else None
    return [
        Member(id=f"{ADDED}{number}", protocol=protocol, protocols=protocols, subscription=wanted, owned={})
        for number in range(1, count + 1)
    ]


def _usual_subscription(members: Sequence[Member]) -> Subscription | None:
    """The most frequent subscription; the first one if several are equally frequent."""
    known = Counter(member.subscription for member in members if member.subscription is not None)
    return known.most_common(1)[0][0] if known else None


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
