"""What a step has cost so far, as observations of the group show it: less than what it really cost, never more."""

from dataclasses import dataclass

from groups.model import Group, GroupState, GroupType
from migration.execution.events import GroupSighting
from migration.model import Plan, RoundAction, Step, StepFigures
from migration.plan import epoch_of

_REBALANCING = frozenset({GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE})
FULL_RATE_S = 30.0
"""How long records must have been counted before their rate, and so the lag in seconds, is known."""
LEAST_LAG_S = 60.0  # A smaller lag never stops an execution
LEAST_PARTITION_S = 1.0
"""A step may cost this many seconds of each partition, whatever was rehearsed: shorter times are not measured."""


@dataclass(slots=True, kw_only=True)
class StepCosts:
    began_s: float
    lasted_s: float = 0.0
    rebalances: int | None = 0  # Generations or epochs; None: not known, or the count began again
    without_owner_s: float = 0.0  # Partition-seconds
    lag_s: float | None = None
    """The present lag, as the time in which as many records are written; None: not known."""
    most_lag_s: float | None = None
    first_lag_s: float | None = None


class CostMeter:
    """Adds up the costs of steps from sightings. A partition is without an owner between two sightings if it had none
    in both: shorter times are not seen."""

    def __init__(self, plan: Plan) -> None:
        baseline = plan.baseline
        self._partitions = frozenset(
            (topic, number)
            for topic, count in (baseline.partitions.items() if baseline else ())
            for number in range(count)
        )
        self._is_eager = baseline is not None and baseline.protocol in ("range", "roundrobin", "sticky")
        self._former: GroupSighting | None = None
        self._unowned: frozenset[tuple[str, int]] = frozenset()
        self._first_written: tuple[float, int] | None = None
        self.by_step: dict[int, StepCosts] = {}  # 0: the rollback

    def begin(self, step: int, at_s: float) -> None:
        self.by_step.setdefault(step, StepCosts(began_s=at_s))

    def add(self, step: int | None, seen: GroupSighting) -> None:
        """Add a sighting to a step; None: all steps have ended."""
        costs = None if step is None else self.by_step.get(step)
        unowned = self._without_owner(seen.group)
        former = self._former
        if costs is not None:
            costs.lasted_s = seen.at_s - costs.began_s
            costs.without_owner_s += self._time_without_owner(former, seen, unowned)
            self._count_rebalances(costs, former, seen)
            costs.lag_s = lag_s = self._lag_s(seen) if seen.lag is not None else costs.lag_s
            if lag_s is not None:
                costs.most_lag_s = max(lag_s, costs.most_lag_s or 0.0)
                costs.first_lag_s = lag_s if costs.first_lag_s is None else costs.first_lag_s
        self._former, self._unowned = seen, unowned

    def forget(self) -> None:
        """Do not count the time since the last sighting: nothing is known of it."""
        self._former, self._unowned, self._first_written = None, frozenset(), None

    def _time_without_owner(
        self, former: GroupSighting | None, seen: GroupSighting, unowned: frozenset[tuple[str, int]]
    ) -> float:
        if former is None:
            return 0.0
        return len(unowned & self._unowned) * (seen.at_s - former.at_s)

    def _count_rebalances(self, costs: StepCosts, former: GroupSighting | None, seen: GroupSighting) -> None:
        """Of a classic group, a live broker shows no generation: then the number is not known."""
        if former is None or former.group is None or seen.group is None or costs.rebalances is None:
            return
        before, after = epoch_of(former.group), epoch_of(seen.group)
        is_known = before is not None and after is not None and after >= before
        costs.rebalances = costs.rebalances + (after or 0) - (before or 0) if is_known else None

    def _without_owner(self, group: Group | None) -> frozenset[tuple[str, int]]:
        """The partitions of the plan that no member owns. During a rebalance a broker does not show a classic group's
        assignment: an eager member owns nothing then, a cooperative one what it had."""
        if group is None or not group.members:
            return self._partitions
        if group.type is GroupType.CLASSIC and group.state in _REBALANCING:
            return self._partitions if self._is_eager_now(group) else self._unowned
        if any(member.owned is None for member in group.members):
            return self._unowned
        owned = {
            (topic, number)
            for member in group.members
            for topic, numbers in (member.owned or {}).items()
            for number in numbers
        }
        return self._partitions - owned

    def _is_eager_now(self, group: Group) -> bool:
        return group.protocol != "cooperative-sticky" if group.protocol else self._is_eager

    def _lag_s(self, seen: GroupSighting) -> float | None:
        """The lag as the time in which as many records are written; None while their rate is not known."""
        if seen.lag is None or seen.written is None:
            return None
        if self._first_written is None:
            self._first_written = seen.at_s, seen.written
        began_s, written = self._first_written
        if seen.at_s - began_s < FULL_RATE_S or seen.written <= written:
            return None
        return seen.lag * (seen.at_s - began_s) / (seen.written - written)


def _worst(step: Step) -> StepFigures | None:
    """The worst rehearsal of a step that restarts members. Others have no limits: while members are stopped, a stop
    makes it worse."""
    restarts = step.rollout is not None and step.rollout.action is RoundAction.RESTART
    return step.rehearsed.worst if restarts and step.rehearsed is not None else None


def most_without_owner_s(plan: Plan, step: Step, tolerance: float) -> float | None:
    """The partition-seconds beyond which a step costs more than it may; None: it has no limit."""
    worst = _worst(step)
    if worst is None:
        return None
    partitions = sum(plan.baseline.partitions.values()) if plan.baseline else 0
    return max(worst.without_owner_s * tolerance, LEAST_PARTITION_S * partitions)


def most_lag_s(step: Step, costs: StepCosts, tolerance: float) -> float | None:
    """The lag beyond which a step harms more than rehearsed: what it began with, and the worst time of a round."""
    growth_s = most_lag_growth_s(step, tolerance)
    return None if growth_s is None or costs.first_lag_s is None else costs.first_lag_s + growth_s


def most_lag_growth_s(step: Step, tolerance: float) -> float | None:
    """By how much the lag may grow in a step; None: it has no limit."""
    worst = _worst(step)
    if worst is None or worst.lasted_s is None:
        return None
    return max(LEAST_LAG_S, worst.lasted_s / max(1, len(step.rounds)) * tolerance)
