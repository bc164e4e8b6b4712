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


def level_topic(loads: Ints, line: Ints, owners: NDArray[np.int32]) -> int:
    """Move partitions; `loads` (by member) and `owners` (by partition of the topic) change in place.

    `line` are the subscribers, least loaded first. The answer is the number of moves.
    """
    hands = _Hands(loads, line.tolist())
    stacks = _stacks(owners)
    moves = 0
    while not hands.level():
        giver = hands.giver(stacks)
        if giver is None:
            break
        partition = stacks[giver].pop()
        receiver = hands.receiver()
        if hands.level():
            break
        owners[partition] = receiver
        hands.loads[giver] -= 1
        hands.loads[receiver] += 1
        moves += 1
    changed = list(hands.loads)
    loads[changed] = list(hands.loads.values())
    return moves


def _stacks(owners: NDArray[np.int32]) -> dict[int, list[int]]:
    """Partitions of each owner, ascending."""
    order = np.argsort(owners, kind="stable")
    edges = np.flatnonzero(np.diff(owners[order])) + 1
    return {int(owners[part[0]]): part.tolist() for part in np.split(order, edges) if len(part)}


class _Hands:
    def __init__(self, loads: Ints, line: list[int]) -> None:
        self.line = line
        self.loads: dict[int, int] = dict(zip(line, loads[line].tolist(), strict=True))
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

    def giver(self, stacks: dict[int, list[int]]) -> int | None:
        """The next member to give a partition, None when nobody is left."""
        while True:
            member = self._next_giver()
            if member is None or stacks.get(member):
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
