"""The orders in which Java's assignors walk the members of a group.

Both the leader (ConsumerCoordinator.onLeaderElected) and the broker (TargetAssignmentBuilder.build) put the
members one by one into a `new HashMap<>()` keyed by member id.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assignors.java.java_order import map_order, string_hashes, utf16
from assignors.model import Ints, MemberSpec


def hash_map_order(members: Sequence[MemberSpec]) -> Ints:
    """Member indices in the iteration order of the map of members.

    Always determined: member ids are Strings, which Java compares where their hash codes collide.
    """
    ids = [member.id for member in members]
    return map_order(string_hashes(ids), keys=[utf16(id_) for id_ in ids]).indices


def static_first(members: Sequence[MemberSpec]) -> Ints:
    """Member indices as range, round robin and the broker's range sort them.

    Static members by instance id, then dynamic ones by member id; members with one instance id, which a
    coordinator never lets in, keep the order of the map (`AbstractPartitionAssignor.MemberInfo.compareTo`).
    """

    def key(index: int) -> tuple[bool, bytes]:
        member = members[index]
        return member.instance is None, utf16(member.id if member.instance is None else member.instance)

    instances = [member.instance for member in members if member.instance is not None]
    unsorted = range(len(members)) if _distinct(instances) else hash_map_order(members).tolist()
    return np.array(sorted(unsorted, key=key), dtype=np.int64)


def _distinct(instances: Sequence[str]) -> bool:
    return len(set(instances)) == len(instances)
