"""The bridge of an execution: when it is started, and which restarts it asks for."""

from groups.model import Group, GroupType
from migration.bridge import BRIDGE, MemberRestart
from migration.execution.events import Place
from migration.execution.seats import Seats
from migration.model import Plan

OF_BRIDGE = frozenset({"precedes", "leads", "no-user-data"})
"""The checks of a gate that the bridge's place in the group decides."""
MOST_ASKED = 3  # Restarts that it may ask for in a round, per member


class Bridging:
    def __init__(self) -> None:
        self._is_started = False  # By this execution
        self._since_s: float | None = None  # When, until it is in the group
        self.asked: set[str] = set()  # Ids of members whose restart it has asked for in this round

    def needs_start(self, plan: Plan, step: int, group: Group | None) -> bool:
        """Whether a step up to this one starts it, in no step before did it leave, and it is not there, but the group
        can still be converted. A bridge that this execution has started is not started again: it ends with a reason."""
        rollouts = [one.rollout for one in plan.steps[:step] if one.rollout]
        has_left = any(rollout.leaving for rollout in rollouts[:-1])
        is_planned = not has_left and any(rollout.temporary_members for rollout in rollouts)
        is_open = group is not None and group.type is GroupType.CLASSIC and not shows_bridge(group)
        return is_planned and is_open and not self._is_started

    def start(self, plan: Plan, step: int, at_s: float) -> Place:
        """The place of the plan that starts it."""
        self._is_started, self._since_s = True, at_s
        rollouts = [one.rollout for one in plan.steps[:step]]
        return max(number for number, one in enumerate(rollouts, 1) if one and one.temporary_members), 1

    def is_awaited(self, group: Group | None, at_s: float, return_s: float) -> bool:
        """Whether it has been started and may still be joining: without it the group seems to be off plan."""
        if self._since_s is None or shows_bridge(group) or at_s - self._since_s >= return_s:
            self._since_s = None
        return self._since_s is not None

    def ask(self, asks: MemberRestart | None, seats: Seats) -> str | None:
        """The member that it wants to be restarted, once for each member id."""
        seat = next((one for one in seats if asks and seats[one].id == asks.member), None)
        if asks is None or seat is None or asks.member in self.asked:
            return None
        if len(self.asked) >= MOST_ASKED * len(list(seats)):
            return None
        self.asked.add(asks.member)
        return seat


def shows_bridge(group: Group | None) -> bool:
    return group is not None and any(member.client.id == BRIDGE for member in group.members)
