"""What outlives a group's change of protocol: who had each partition last, and what became of the group before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pipeline.course.events import Place, Seat
from pipeline.course.holders import Holders
from pipeline.course.rows import Protocol, Rebalance

_SAME_WRITE_US = 1_000_000
"""A conversion is written at once: deletions and the new group's records differ by no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A group as it was when it was deleted."""

    protocol: Protocol
    epoch: int
    seats: Mapping[str, Seat]
    """By identity."""
    owned: Mapping[Place, Seat]
    since: Mapping[str, int]
    """By identity, when members were first written down."""
    time: int

    def becomes(self, protocol: Protocol, time: int) -> bool:
        """Whether a group of the protocol is this one, converted: a group with members cannot be deleted otherwise."""
        return self.protocol is not protocol and bool(self.seats) and time - self.time <= _SAME_WRITE_US


@dataclass(slots=True, kw_only=True)
class Trail:
    """See the module. `tell` gets the rebalances as they end."""

    group: str
    tell: Callable[[Rebalance], None]
    holders: Holders
    latest: dict[Place, str] = field(default_factory=dict)
    """Identities."""

    def moved(self, given: Mapping[Place, str]) -> int:
        """How many partitions somebody else had last (`assignors.rebalance.Rebalance.moved`); they are noted."""
        latest = self.latest
        count = sum(1 for place, owner in given.items() if latest.get(place, owner) != owner)
        latest.update(given)
        return count

    def clear(self, time: int) -> None:
        """Nobody has anything, and nobody is to."""
        self.latest.clear()
        self.holders.give_up_on(self.holders.everything(), time)
