"""A random walk: one request after another, chosen by what the group has come to; a seed repeats it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any, ClassVar, TypeAlias
from uuid import UUID

from tests.conformance.walks.pair import Pair

Move: TypeAlias = Callable[[], Awaitable[bool]]
"""Sends something; False where there was nothing to send."""

LONG_MS = 1_800_000
"""Nobody times out on a walk."""


class Walk(ABC):
    """See the module. After every move the whole group is shown by both servers, and has to be the same."""

    topics: ClassVar[Mapping[str, int]]
    settings: ClassVar[Mapping[str, str]]
    """Of both servers, beside those of the rig."""
    visits: ClassVar[frozenset[str]]
    """States in which the group is to have been seen, else the walks were short or went in circles."""

    def __init__(self, pair: Pair, seed: int) -> None:
        self.pair = pair
        self.random = Random(seed)
        self.seen: Counter[str] = Counter()
        """How often the group was in each state."""

    @abstractmethod
    def moves(self) -> Mapping[Move, float]:
        """What may be done, and how often."""

    async def go(self, steps: int) -> None:
        """So many moves. :raises Differs:"""
        moves = self.moves()
        left = steps
        while left:
            (move,) = self.random.choices(list(moves), list(moves.values()))
            if await move():
                left -= 1
                await self.show()

    async def show(self) -> None:
        """Have both describe the group."""
        classic = await self.pair.look("DescribeGroups 6")
        consumer = await self.pair.look("ConsumerGroupDescribe 1")
        groups = [one for answer in (classic, consumer) for one in answer["groups"] if not one["error_code"]]
        self.seen.update(one["group_state"] for one in groups)

    def uuid(self) -> UUID:
        """A random one, of this walk."""
        return UUID(int=self.random.getrandbits(128))

    def often(self, *choices: Any) -> Any:
        """One of them; what stands there twice comes twice as often."""
        return self.random.choice(choices)
