"""The rounds of a step, as far as they affect the group: the members stopped and started together, and their protocol
then.

The paths define it (`Step.rollout`); `migration.expectation.forecast` walks the rollouts of a plan, one after the
other, with the real assignors, and fills in what each step costs.

`SettledGroup` is the settled group after a round of that walk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from groups.model import GroupType, MemberProtocol
from groups.trees import named


class RoundAction(Enum):
    """What happens to the members of a round."""

    RESTART = "restart"
    """They are stopped, and started again after the time of a bounce."""
    STOP = "stop"
    """They are stopped, and stay away."""
    START = "start"
    """They are started: members that an earlier step stopped, and temporary ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a member speaks when it is started."""

    protocol: MemberProtocol = MemberProtocol.CLASSIC
    assignors: tuple[str, ...] = ()
    """Its list under the classic protocol, preferred first, by the assignors' own names (`range`)."""
    remote_assignor: str | None = None
    """The assignor that it requests under the consumer protocol; None is the broker's first (`uniform`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryMember:
    """A member for a while that takes no partition, such as a bridge leader."""

    id: str
    """What rounds call it: its client id."""
    topics: tuple[str, ...]
    """What it subscribes to: topics without partitions for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The rounds of a step, in order.

    `rounds` holds ids of members as they were when the plan was made (`Member.id`), or of temporary ones: a restarted
    member has a new id in the group, and is still called by its old one here.
    """

    action: RoundAction = field(default=RoundAction.RESTART, metadata=named("manner"))
    rounds: tuple[tuple[str, ...], ...]
    start: Start | None = None
    """None where members are only stopped."""
    temporary_members: tuple[TemporaryMember, ...] = field(default=(), metadata=named("guests"))
    """Temporary members that this step starts; they are in its rounds too."""
    leaving: tuple[str, ...] = ()
    """Temporary members that leave by themselves when the rounds are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerGap:
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
class SettledMember:
    """A member at a moment."""

    origin: str
    """Its id when the plan was made, or what the plan calls it."""
    away: bool
    protocol: MemberProtocol | None
    assignors: tuple[str, ...]
    """What it lists, preferred first; empty under the consumer protocol."""
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledGroup:
    """The settled group, after an action."""

    step: int
    """From 1; 0 for the group as it was found."""
    round: int
    """From 1, within its step; 0 for the group as it was found."""
    stopped: tuple[str, ...] = ()
    """Origins of the members that were stopped, if that is what was done."""
    started: tuple[str, ...] = ()
    type: GroupType
    protocol: str | None
    """The assignor in use; None while there is no member."""
    rebalances: int = 0
    moved: int = 0
    """Partitions that went to another member than had them last."""
    waits: tuple[OwnerGap, ...] = ()
    members: tuple[SettledMember, ...] = ()
    """By the order in which the group had its members; temporary ones follow."""
