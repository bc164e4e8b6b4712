"""What a gate sees: the group now, and what it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from groups.model import Cluster, Group, GroupState, Member
from migration.conditions import Absent, Leads, Precedes, Present
from migration.gate.answers import planned
from migration.gate.turnover import Turnover, turnover
from migration.model import Plan, PlannedMember, Step

AT_REST = frozenset({GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD})


@dataclass(frozen=True, kw_only=True)
class Sight:
    """The group at a moment, beside a plan's step.

    Without a group: there is none of that id.
    """

    plan: Plan
    position: int
    """The step's place, from 0; -1 before the first one."""
    group: Group | None
    cluster: Cluster
    partitions: Mapping[str, int] = field(default_factory=dict)
    """How many partitions topics have, 0 for one that is gone; what cannot be told is left out."""
    is_whole: bool = True
    """Whether a group that is not shown is not there; a snapshot may hold some of a cluster's groups only."""
    began_with: tuple[PlannedMember, ...] | None = None
    """The members when the step began; None where nobody noted them."""
    was_open: bool = False
    """Whether this gate has been open before."""
    round: int | None = None
    """The round after which it is asked, from 1; None for the whole step."""

    @property
    def step(self) -> Step | None:
        """The step that is asked for; None before the first one."""
        return self.plan.steps[self.position] if self.position >= 0 else None

    @property
    def members(self) -> tuple[Member, ...]:
        return self.group.members if self.group else ()

    @property
    def is_at_rest(self) -> bool:
        """Whether the group is in no rebalance, as far as its state tells."""
        return self.group is None or self.group.state in AT_REST

    @cached_property
    def guests(self) -> frozenset[str]:
        """Client ids of the temporary members that the plan starts and stops."""
        baseline = self.plan.baseline
        known = {one.client_id for one in baseline.members} if baseline else set()
        return frozenset(_guests(self.plan.steps)) - known

    @cached_property
    def turnover(self) -> Turnover | None:
        """Since the step began; None where it is not known who was there then."""
        return None if self.began_with is None else self._since(self.began_with)

    @cached_property
    def since_plan(self) -> Turnover | None:
        """Since the plan was made; None for a plan without a baseline."""
        return None if self.plan.baseline is None else self._since(self.plan.baseline.members)

    @property
    def roster(self) -> Turnover | None:
        """Since the step began, or where nobody was there then, since the plan was made; None where neither tells."""
        for since in (self.turnover, self.since_plan):
            if since is not None and (since.stayed or since.gone):
                return since
        return None

    def _since(self, then: Sequence[PlannedMember]) -> Turnover:
        return turnover(then, [planned(member) for member in self.members], self.guests)


def _guests(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        for condition in (*step.gate, *step.between):
            if isinstance(condition, Present | Absent | Precedes | Leads):
                yield condition.client_id
