"""The client's range (without racks) and round robin, partition by partition: the oracle of the fast ones."""

from __future__ import annotations

from assignors.model import GroupSpec, MemberSpec
from tests.support.plain_java import utf16

Owners = dict[tuple[str, int], str]
"""Member by topic and partition number."""


def static_first(members: tuple[MemberSpec, ...]) -> list[MemberSpec]:
    """Static members by instance id, then the others by member id; instance ids are distinct here."""
    static = [member for member in members if member.instance is not None]
    dynamic = [member for member in members if member.instance is None]
    return sorted(static, key=lambda m: utf16(m.instance or "")) + sorted(dynamic, key=lambda m: utf16(m.id))


def ranges(spec: GroupSpec) -> Owners:
    """Give partition after partition to the same subscriber until it has its share."""
    owners: Owners = {}
    for topic in spec.topics:
        subscribers = [m for m in static_first(spec.members) if topic.name in m.topics]
        partition = 0
        for index, member in enumerate(subscribers):
            share = topic.partitions // len(subscribers) + (index < topic.partitions % len(subscribers))
            for _ in range(share):
                owners[topic.name, partition] = member.id
                partition += 1
    return owners


def round_robin(spec: GroupSpec) -> Owners:
    """Go round the members with all partitions of all topics."""
    members = static_first(spec.members)
    owners: Owners = {}
    turn = 0
    for topic in sorted(spec.topics, key=lambda t: utf16(t.name)):
        if not any(topic.name in m.topics for m in members):
            continue
        for partition in range(topic.partitions):
            while topic.name not in members[turn % len(members)].topics:
                turn += 1
            owners[topic.name, partition] = members[turn % len(members)].id
            turn += 1
    return owners
