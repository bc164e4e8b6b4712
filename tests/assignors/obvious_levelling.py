"""The broker's heterogeneous uniform assignment of a group that owns nothing, one partition at a time."""

from __future__ import annotations

from assignors.java.hash_map import uuid_sort_key
from assignors.model import GroupSpec
from tests.support.plain_java import Buckets, string_hash


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
