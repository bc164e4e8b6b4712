"""Balancing where partitions that do not exist are held, or partitions are held twice.

Then Java's shortcuts show: it compares with whoever comes last in its map among the holders of a partition, and it
fails on members that it has set aside, depending on whom it happens to ask first. So this asks in Java's order, one
partition and one member at a time.

Source: performReassignments and isBalanced of AbstractStickyAssignor.GeneralAssignmentBuilder.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assignors.java.sticky_balance import NO_LIST, Balancing
from assignors.java.sticky_group import StickyGroup, places
from assignors.java.sticky_holdings import Holdings
from assignors.java.sticky_racks import Racks
from assignors.java.sticky_subscribers import Subscribers
from assignors.model import AssignorFailedError, Ints


class BalancingWithStrays(Balancing):
    """Like `Balancing`, for any holdings."""

    def __init__(
        self,
        question: StickyGroup,
        subscribers: Subscribers,
        held: Holdings,
        counts: Ints,
        fixed: NDArray[np.bool_],
        racks: Racks | None,
    ) -> None:
        super().__init__(question, subscribers, held, counts, fixed, racks)
        turn = places(question.hash_order)
        self._turn = places(question.owners_order)
        self._place = places(question.by_id)
        self._in_map_order = [
            row[np.argsort(turn[row])]
            for row in map(subscribers.members.__getitem__, range(len(subscribers.members)))
        ]
        self._known_balanced: bool | None = None

    def _visit(self, blocks: list[tuple[Ints, int]]) -> bool:
        modified = False
        for ids, kind in blocks:
            for partition in ids.tolist():
                if self._balanced():
                    return modified
                owner = int(self.held.owner[partition])
                target = self._better_owner(partition, owner, kind)
                if target >= 0:
                    self._move_to(partition, owner, target)
                    self._known_balanced = None
                    modified = True
        return modified

    def _better_owner(self, partition: int, owner: int, kind: int) -> int:
        previous = -1 if self.previous is None else int(self.previous[partition])
        if previous >= 0:
            self._ask(previous)
            if self.counts[owner] > self.counts[previous] + 1:
                return previous
        members = self._in_map_order[kind]
        if not self._improvable(self._in_rack(partition, owner, members), owner) and not self._improvable(
            members, owner
        ):
            return -1
        present = self.subscribers.members[kind]
        present = present[~self.fixed[present]]
        return int(present[self.counts[present].argmin()])

    def _in_rack(self, partition: int, owner: int, members: Ints) -> Ints:
        """Members whose racks have the partition, if the owner's does."""
        if (
            self.racks is None
            or self.racks.of_member[owner] < 0
            or self.racks.mismatch(np.array([owner]), np.array([partition]))[0]
        ):
            return members[:0]
        with_rack = members[self.racks.of_member[members] >= 0]
        return with_rack[~self.racks.mismatch(with_rack, np.full(len(with_rack), partition))]

    def _improvable(self, members: Ints, owner: int) -> bool:
        """Whether one of them has two less than the owner; Java fails at the first that was set aside."""
        better = self.counts[owner] > self.counts[members] + 1
        better &= ~self.fixed[members]
        stop = np.flatnonzero(better | self.fixed[members])
        if not len(stop):
            return False
        self._ask(int(members[stop[0]]))
        return True

    def _ask(self, member: int) -> None:
        if self.fixed[member]:
            raise AssignorFailedError(NO_LIST)

    def _balanced(self) -> bool:
        if self._known_balanced is None:
            self._known_balanced = self._balanced_now()
        return self._known_balanced

    def _balanced_now(self) -> bool:
        members = np.flatnonzero(~self.fixed)
        loads = self.counts[members]
        if loads.min() >= loads.max() - 1:
            return True
        shown = self._shown()
        for member in members[np.lexsort((self._place[members], loads))].tolist():
            if self.counts[member] != self.subscribers.capacity[member] and self._sees_more(member, shown):
                return False
        return True

    def _sees_more(self, member: int, shown: Ints) -> bool:
        ids = self.question.partitions_of(self._topics_as_listed(member))
        ids = ids[self.held.owner[ids] != member]
        if self.held.first_copy is not None:
            ids = ids[self.held.first_copy[ids] != member]
        holders = shown[ids]
        nobody = holders < 0
        stop = np.flatnonzero(nobody | (self.counts[holders] > self.counts[member] + 1))
        if len(stop) and nobody[stop[0]]:
            raise AssignorFailedError(NO_LIST)
        return len(stop) > 0

    def _topics_as_listed(self, member: int) -> Ints:
        """In the order of the subscription."""
        spec = self.question.group.spec
        place = {name: i for i, name in enumerate(spec.members[member].topics)}
        topics = self.question.listed[member].tolist()
        return np.array(sorted(topics, key=lambda t: place[spec.topics[t].name]), dtype=np.int64)

    def _shown(self) -> Ints:
        """By id, the holder that comes last in the map; -1 where it was set aside or there is none."""
        shown = self.held.owner.copy()
        shown[(shown >= 0) & self.fixed[shown]] = -1
        first = self.held.first_copy
        if first is not None:
            ids = np.flatnonzero(first >= 0)
            ids = ids[~self.fixed[first[ids]]]
            later = (shown[ids] < 0) | (self._turn[first[ids]] > self._turn[shown[ids]])
            shown[ids[later]] = first[ids[later]]
        return shown
