"""How many partitions of one topic each subscriber may take in a range assignment, whoever's it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assignors.model import Ints


@dataclass(slots=True)
class Quota:
    """An equal share each, and one more for as many members as partitions are left over. It only shrinks."""

    partitions: int
    members: int
    each: int = field(init=False)
    extras: int = field(init=False)
    """Members that may still get one more than `each`."""
    have: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.each, self.extras = divmod(self.partitions, self.members)
        self.have = [0] * self.members

    def room(self, member: int) -> int:
        """How many more the member may take."""
        return max(0, self.each + (self.extras > 0) - self.have[member])

    def take(self, member: int, count: int = 1) -> None:
        self.have[member] += count
        if self.have[member] > self.each:
            self.extras -= 1

    def rest(self) -> Ints:
        """What each member takes when all, in order, take all they may."""
        have = np.array(self.have)
        rest: Ints = np.maximum(self.each - have, 0)
        rest[np.flatnonzero(have <= self.each)[: self.extras]] += 1
        return rest
