"""The client's range (without racks) and round robin, partition by partition: the oracle of the fast ones.

And the broker's heterogeneous uniform assignment of a group that owns nothing, one partition at a time.
"""

from __future__ import annotations

from assignors.java.hash_map import uuid_sort_key
from assignors.model import GroupSpec, MemberSpec
from tests.support.plain_java import Buckets, string_hash, utf16

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


def level(spec: GroupSpec) -> dict[tuple[str, int], str]:
    """Every partition goes to the subscriber that has least; of equals the one that came first to the level.

    Nothing is moved afterwards: the caller takes groups that come out even.
    """
    buckets: Buckets[str] = Buckets()
    for member in spec.members:
        buckets.add(member.id, string_hash(member.id))
    order = list(buckets)
    by_id = {member.id: member for member in spec.members}
    subscribers = {t.name: [m for m in order if t.name in by_id[m].topics] for t in spec.topics}
    topics = [t for t in spec.topics if subscribers[t.name] and t.id is not None]
    topics.sort(
        key=lambda t: (
            -t.partitions / len(subscribers[t.name]),
            len(subscribers[t.name]),
            uuid_sort_key(t.id) if t.id else (0, 0),
        )
    )
    load = dict.fromkeys(order, 0)
    owners: dict[tuple[str, int], str] = {}
    for topic in topics:
        # Equals stand in the order in which they stood before this topic was handed out.
        line = sorted(subscribers[topic.name], key=lambda m: load[m])
        for partition in range(topic.partitions):
            least = min(line, key=lambda m: load[m])
            owners[topic.name, partition] = least
            load[least] += 1
    return owners
