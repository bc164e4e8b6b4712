"""Levelling the loads of one topic's subscribers by moving its partitions, as the broker does it.

Two hands walk the line of subscribers, which is sorted by load. The giving hand goes round among those with
the highest load, from the back, and takes down who has no partition of this topic left; a round done, the
level it stands at is one lower. The receiving hand goes round among those with the lowest load, from the
front. Levels count rounds, so the hands meet when their levels differ by one or less; a partition that was
picked up then goes back.

Source: UniformHeterogeneousAssignmentBuilder.balanceTopic and MemberAssignmentBalancer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assignors.model import Ints


def level_topic(loads: Ints, line: Ints, owners: NDArray[np.int32]) -> list[int]:
    """Move partitions; `loads` (by member) and `owners` (by partition of the topic) change in place.

    `line` are the subscribers, least loaded first. The answer is which partitions moved, in order; each moves once.
    """
    hands = _Hands(loads, line)
    holdings = _Holdings(owners)
    given: list[int] = []
    received: list[int] = []
    while not hands.level():
        giver = hands.giver(holdings)
        if giver is None:
            break
        partition = holdings.pop(giver)
        receiver = hands.receiver()
        if hands.level():
            break
        given.append(partition)
        received.append(receiver)
        hands.loads[giver] -= 1
        hands.loads[receiver] += 1
    if given:
        np.subtract.at(loads, owners[given], 1)
        np.add.at(loads, received, 1)
        owners[given] = received
    return given


class _Holdings:
    """What each member had of the topic at first, as stacks: the highest partition comes off first."""

    def __init__(self, owners: NDArray[np.int32]) -> None:
        order = np.argsort(owners, kind="stable")
        by_owner = owners[order]
        last = np.flatnonzero(np.append(by_owner[1:] != by_owner[:-1], True)) if len(order) else order
        self.partitions: list[int] = order.tolist()
        self.top = dict(zip(by_owner[last].tolist(), (last + 1).tolist(), strict=True))
        """Where each member's stack ends in `partitions`."""
        self.bottom = dict(zip(self.top, [0, *self.top.values()], strict=False))

    def holds(self, member: int) -> bool:
        return member in self.top and self.top[member] > self.bottom[member]

    def pop(self, member: int) -> int:
        self.top[member] -= 1
        return self.partitions[self.top[member]]


class _Hands:
    def __init__(self, loads: Ints, sorted_members: Ints) -> None:
        line: list[int] = sorted_members.tolist()
        self.line = line
        self.loads: dict[int, int] = dict(zip(line, loads[sorted_members].tolist(), strict=True))
        self.low_level = self.loads[line[0]] - 1
        self.low_end = 0
        """The receiving hand goes round among `line[:low_end]`."""
        self.low_next = 0
        self.high_level = self.loads[line[-1]] + 1
        self.high_start = self.high_end = len(line)
        """The giving hand goes round among `line[high_start:high_end]`."""
        self.high_next = len(line) - 1

    def level(self) -> bool:
        return self.high_level - self.low_level <= 1

    def receiver(self) -> int:
        if self.low_next >= self.low_end:
            self.low_level += 1
            while self.low_end < len(self.line) and self.loads[self.line[self.low_end]] == self.low_level:
                self.low_end += 1
            self.low_next = 0
        member = self.line[self.low_next]
        self.low_next += 1
        return member

    def giver(self, holdings: _Holdings) -> int | None:
        """The next member to give a partition, None when nobody is left."""
        while True:
            member = self._next_giver()
            if member is None or holdings.holds(member):
                return member
            # Out of the round for good: it changes places with the last in it.
            self.high_end -= 1
            out = self.high_next + 1
            self.line[out], self.line[self.high_end] = self.line[self.high_end], self.line[out]

    def _next_giver(self) -> int | None:
        if self.high_next < self.high_start:
            if self.high_end <= self.high_start and self.high_start > 0:
                self.high_level = self.loads[self.line[self.high_start - 1]]
            else:
                self.high_level -= 1
            while self.high_start > 0 and self.loads[self.line[self.high_start - 1]] == self.high_level:
                self.high_start -= 1
            self.high_next = self.high_end - 1
        if self.high_next < 0:
            return None
        member = self.line[self.high_next]
        self.high_next -= 1
        return member
