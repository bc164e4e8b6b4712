"""Racks as the sticky assignors see them.

They count only where they can make a difference: some member's rack is among the racks of the partitions, and not all
partitions stand in the same racks. Then a member with a rack mismatches every partition that has no replica there,
strays and partitions without racks included; a member without a rack mismatches nothing.

Source: AbstractStickyAssignor.RackInfo, AbstractPartitionAssignor.useRackAwareAssignment; KIP-881.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.java.sticky_group import StickyGroup
from assignors.model import Ints


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Racks:
    """Racks and rack sets are small integers."""

    of_member: Ints
    """-1: none."""
    set_of: Ints
    """Rack set of each dense id; partitions that take no part and strays have the empty one."""
    contains: NDArray[np.bool_]
    """By rack set and rack."""

    def mismatch(self, members: Ints, ids: Ints) -> NDArray[np.bool_]:
        """Element by element."""
        racks = self.of_member[members]
        return (racks >= 0) & ~self.contains[self.set_of[ids], racks]

    def members_by_set(self) -> Ints:
        """How many members have a rack of the set."""
        with_rack = np.bincount(self.of_member[self.of_member >= 0], minlength=self.contains.shape[1])
        counts: Ints = self.contains.astype(np.int64) @ with_rack
        return counts


def racks_of(question: StickyGroup) -> Racks | None:
    """None where racks make no difference."""
    spec = question.group.spec
    named = {member.rack for member in spec.members if member.rack}
    if not named or all(topic.racks is None for topic in spec.topics):
        return None
    sets: dict[frozenset[str], int] = {frozenset(): 0}
    set_of = np.zeros(question.id_count, dtype=np.int64)
    for i in np.flatnonzero(question.takes_part).tolist():
        replicas, start = spec.topics[i].racks, int(question.group.topic_start[i])
        if replicas is not None:
            set_of[start : start + len(replicas)] = _interned(replicas, sets)
    used = _used(question, set_of)
    present = [racks for racks, i in sets.items() if i in used]
    union = frozenset[str]().union(*present)
    if union.isdisjoint(named) or all(racks == union for racks in present):
        return None
    index = {rack: i for i, rack in enumerate(sorted(union | named))}
    contains = np.zeros((len(sets), len(index)), dtype=bool)
    for racks, i in sets.items():
        contains[i, [index[rack] for rack in racks]] = True
    of_member = np.array([index[m.rack] if m.rack else -1 for m in spec.members], dtype=np.int64)
    return Racks(of_member=of_member, set_of=set_of, contains=contains)


def _interned(racks: Iterable[tuple[str, ...]], sets: dict[frozenset[str], int]) -> list[int]:
    seen: dict[tuple[str, ...], int] = {}
    result = []
    for names in racks:
        known = seen.get(names)
        if known is None:
            known = seen[names] = sets.setdefault(frozenset(names), len(sets))
        result.append(known)
    return result


def _used(question: StickyGroup, set_of: Ints) -> set[int]:
    """Rack sets of partitions that take part."""
    partitions = question.partitions_of(np.flatnonzero(question.takes_part))
    return set(np.unique(set_of[partitions]).tolist())
