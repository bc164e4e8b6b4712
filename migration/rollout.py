"""The rounds of a step, as far as they affect the group: the members stopped and started together, and their new
protocol.

The paths define it (`Step.rollout`); `migration.expectation.forecast` walks the rollouts of a plan, one after the
other, with the real assignors, and fills in the costs of each step.

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
    """They are stopped, and started again after `Plan.bounce_s`."""
    STOP = "stop"
    """They are stopped, and stay away."""
    START = "start"
    """They are started: members that an earlier step stopped, and temporary ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStart:
    """The protocol and assignors with which a member is started."""

    protocol: MemberProtocol = MemberProtocol.CLASSIC
    assignors: tuple[str, ...] = ()
    """Its list under the classic protocol, preferred first, by the assignors' own names (`range`)."""
    remote_assignor: str | None = None
    """The assignor that it requests under the consumer protocol; None: the broker's first (`uniform`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryMember:
    """A temporary member without partitions, such as a bridge leader."""

    id: str
    """Its client id, which is also its name in rounds."""
    topics: tuple[str, ...]
    """Its subscription: topics that have no partitions for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The rounds of a step, in order.

    `rounds` contains the ids that members had when the plan was made (`Member.id`), and ids of temporary members: a
    restarted member has a new id in the group, and keeps its old one here.
    """

    action: RoundAction = field(default=RoundAction.RESTART, metadata=named("manner"))
    rounds: tuple[tuple[str, ...], ...]
    start: MemberStart | None = None
    """None if members are only stopped."""
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
    """Average seconds of one partition without an owner."""
    most_s: float

    @property
    def total_s(self) -> float:
        """Average partition-seconds of all partitions."""
        return self.partitions * self.mean_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledMember:
    """A member at a moment."""

    origin: str
    """Its id when the plan was made; of a temporary member, its client id."""
    away: bool
    protocol: MemberProtocol | None
    assignors: tuple[str, ...]
    """Its list of assignors, preferred first; empty under the consumer protocol."""
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledGroup:
    """The group when it has settled after an action."""

    step: int
    """From 1; 0 for the group as it was found."""
    round: int
    """From 1, within its step; 0 for the group as it was found."""
    stopped: tuple[str, ...] = ()
    """Origins of the members that the action stopped."""
    started: tuple[str, ...] = ()
    type: GroupType
    protocol: str | None
    """The assignor in use; None if the group has no members."""
    rebalances: int = 0
    moved: int = 0
    """Partitions that have another owner than their last one."""
    waits: tuple[OwnerGap, ...] = ()
    members: tuple[SettledMember, ...] = ()
    """In the order of the group's members when the plan was made; temporary members follow."""
