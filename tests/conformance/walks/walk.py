"""A random walk: one request after another, chosen from the state of the group; a seed repeats it."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Any, ClassVar, TypeAlias
from uuid import UUID

from tests.conformance.walks.pair import Pair

Move: TypeAlias = Callable[[], Awaitable[None]]  # Sends a request
LONG_MS = 1_800_000  # No member times out on a walk


class NotNow(Exception):
    """The move has nothing to send."""


class Walk(ABC):
    """See the module. After every move both servers describe the whole group, and must agree."""

    topics: ClassVar[Mapping[str, int]]
    most_members: ClassVar[int]  # of a group of either protocol, a setting of both servers
    visits: ClassVar[frozenset[str]]
    """States that must occur, otherwise the walks were too short or went in circles."""

    def __init__(self, pair: Pair, seed: int) -> None:
        self.pair = pair
        self.random = Random(seed)
        self.seen: Counter[str] = Counter()  # how often the group was in each state

    @abstractmethod
    def moves(self) -> Mapping[Move, float]:
        """Possible moves, and how often."""

    async def go(self, steps: int) -> None:
        """Make this number of moves. :raises Differs:"""
        moves = self.moves()
        left = steps
        while left:
            (move,) = self.random.choices(list(moves), list(moves.values()))
            with suppress(NotNow):
                await move()
                left -= 1
                await self.show()

    async def show(self) -> None:
        classic = await self.pair.look("DescribeGroups 6")
        consumer = await self.pair.look("ConsumerGroupDescribe 1")
        groups = [one for answer in (classic, consumer) for one in answer["groups"] if not one["error_code"]]
        self.seen.update(one["group_state"] for one in groups)

    def uuid(self) -> UUID:
        return UUID(int=self.random.getrandbits(128))

    def often(self, *choices: Any) -> Any:
        """One of them; an entry that is listed twice is twice as likely."""
        return self.random.choice(choices)
