"""What a walk through a plan sees on its way."""

from __future__ import annotations

from dataclasses import dataclass

from groups.model import GroupType, MemberProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Partitions that have no owner for a while."""

    why: str
    partitions: int
    mean_s: float
    """Of one partition, on average."""
    most_s: float

    @property
    def total_s(self) -> float:
        """Partition-seconds, on average."""
        return self.partitions * self.mean_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A member at a moment."""

    origin: str
    """Its id when the plan was made, or what the plan calls it."""
    away: bool
    protocol: MemberProtocol | None
    assignors: tuple[str, ...]
    """What it lists, preferred first; empty under the consumer protocol."""
    partitions: int
    restarted: bool
    """Whether the plan has restarted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The group at rest, after something was done to it."""

    step: int
    """From 1; 0 for the group as it was found."""
    round: int
    """From 1, within its step; 0 for the group as it was found."""
    stopped: tuple[str, ...] = ()
    """Origins of the members that were stopped, if that is what was done."""
    started: tuple[str, ...] = ()
    type: GroupType
    protocol: str | None
    """The assignor in use; None while nobody is there."""
    rebalances: int = 0
    moved: int = 0
    """Partitions that went to another member than had them last."""
    waits: tuple[Wait, ...] = ()
    seats: tuple[Seat, ...] = ()
    """By the order in which the group had its members; guests follow."""
