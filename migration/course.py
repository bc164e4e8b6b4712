"""How a step goes, as far as a group notices it: who is stopped and started together, and what they speak then.

The paths say it (`Step.course`); `migration.expectation.foresee` walks the courses of a plan, one after the other, with
the real assignors, and fills in what each step costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from groups.model import MemberProtocol


class Manner(Enum):
    """What happens to the members of a round."""

    RESTART = "restart"
    """They are stopped, and started again after the time of a bounce."""
    STOP = "stop"
    """They are stopped, and stay away."""
    START = "start"
    """They are started: members that an earlier step stopped, and guests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a member speaks when it is started."""

    protocol: MemberProtocol = MemberProtocol.CLASSIC
    assignors: tuple[str, ...] = ()
    """Its list under the classic protocol, preferred first, by the assignors' own names (`range`)."""
    remote_assignor: str | None = None
    """Under the consumer protocol, what it asks of the broker; None takes the broker's first (`uniform`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A member for a while that takes no partition, such as a bridge leader."""

    id: str
    """What rounds call it: its client id."""
    topics: tuple[str, ...]
    """What it subscribes to: topics without partitions for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The rounds of a step, in order.

    `rounds` holds ids of members as they were when the plan was made (`Member.id`), or of guests: a restarted
    member has a new id in the group, and is still called by its old one here.
    """

    manner: Manner = Manner.RESTART
    rounds: tuple[tuple[str, ...], ...]
    start: Start | None = None
    """None where members are only stopped."""
    guests: tuple[Guest, ...] = ()
    """Guests that this step starts; they are in its rounds too."""
