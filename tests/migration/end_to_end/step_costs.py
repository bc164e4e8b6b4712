"""What each step of a plan cost real consumers, by what they wrote down, next to what was rehearsed."""

from collections.abc import Sequence
from dataclasses import dataclass

from migration.execution.costs import LEAST_PARTITION_S
from migration.model import Plan, RoundAction
from tests.migration.end_to_end.consumption import without_owner_s
from tests.migration.end_to_end.deployment import PARTITIONS
from tests.migration.end_to_end.journal import Journal
from tests.migration.end_to_end.supervisor import Call

TOLERANCE = 2.0
"""As `kohort migrate --tolerance`: a step may cost twice the worst rehearsal, or a second of each partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    steps: tuple[int, ...]
    measured_s: float  # Partition-seconds without an owner
    median_s: float  # The same, rehearsed
    worst_s: float
    lasted_s: float  # Until the next step, or the end

    def __add__(self, other: "StepCost") -> "StepCost":
        return StepCost(
            steps=(*self.steps, *other.steps),
            measured_s=self.measured_s + other.measured_s,
            median_s=self.median_s + other.median_s,
            worst_s=self.worst_s + other.worst_s,
            lasted_s=self.lasted_s + other.lasted_s,
        )

    @property
    def name(self) -> str:
        return " and ".join(map(str, self.steps))

    @property
    def is_tolerable(self) -> bool:
        return self.measured_s <= max(self.worst_s * TOLERANCE, PARTITIONS * LEAST_PARTITION_S)

    def __str__(self) -> str:
        rehearsed = f"rehearsed {self.median_s:.1f}, worst {self.worst_s:.1f}"
        return f"step {self.name}: {self.measured_s:.1f} partition-seconds without owner ({rehearsed})"


def step_costs(
    plan: Plan, calls: Sequence[Call], journals: Sequence[Journal], until_ns: int
) -> list[StepCost]:
    """The costs of the steps in which a consumer was restarted, from the first call in the step to the next step's. One
    that stops all and the next, which starts them, are one, as for those who wait for records."""
    began = {call.step: int(call.began_s * 1e9) for call in reversed(calls)}
    costs: list[StepCost] = []
    steps = sorted(began)
    for step, end_ns in zip(steps, [*(began[later] for later in steps[1:]), until_ns], strict=True):
        rehearsed = plan.steps[step - 1].rehearsed
        assert rehearsed is not None
        cost = StepCost(
            steps=(step,),
            measured_s=without_owner_s(journals, began[step], end_ns),
            median_s=rehearsed.median.without_owner_s,
            worst_s=rehearsed.worst.without_owner_s,
            lasted_s=(end_ns - began[step]) / 1e9,
        )
        costs += [costs.pop() + cost if step - 1 in began and _stops(plan, step - 1) else cost]
    return costs


def _stops(plan: Plan, step: int) -> bool:
    rollout = plan.steps[step - 1].rollout
    return rollout is not None and rollout.action is RoundAction.STOP
