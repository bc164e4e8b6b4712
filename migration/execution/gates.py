"""Whether the gate of a round is open, on the way through a plan and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from migration.execution.events import GroupSighting, Place
from migration.execution.rounds import PlanRounds
from migration.execution.seats import Seats
from migration.gate.checks import check_condition
from migration.gate.judge import STEADY_S, check_settled, check_steady, judge_gate
from migration.gate.observation import Check, GateObservation, GateResult, await_all, name_all, no, yes
from migration.model import PlannedMember


@dataclass(slots=True)
class Steadiness:
    """Whether an open gate was open before, and the group the same."""

    first: GroupSighting | None = None

    def is_steady(self, seen: GroupSighting) -> bool:
        if self.first is None or not check_steady(self.first.group, seen.group).holds:
            self.first = seen
            return False
        return seen.at_s - self.first.at_s >= STEADY_S


def judge_round(
    rounds: PlanRounds,
    place: Place,
    seen: GroupSighting,
    opened: Mapping[int, Sequence[PlannedMember]],
    began_with: Sequence[PlannedMember],
    undone: Sequence[PlannedMember],
    *,
    accept_drift: bool,
) -> GateResult:
    """The gate of a round, or before the first step the one of the whole plan. `opened`: the members when the gate of
    each step opened; `began_with`: those when the step of `place` began; `undone`: the round's members that are not as
    it leaves them: for `kohort gate` another one may have been restarted instead."""
    result = judge_gate(observed(rounds, place, seen, opened, began_with), accept_drift=accept_drift)
    if not undone or result.differences:
        return result
    return replace(result, checks=(*result.checks, _undone(undone, "as the round leaves it")))


def judge_back(
    rounds: PlanRounds, place: Place, seen: GroupSighting, seats: Seats, undone: Sequence[PlannedMember]
) -> GateResult:
    """The gate of a round of a rollback. The group can be anything there: only what the round is for must hold."""
    observation = observed(rounds, place, seen, {}, ())
    step = rounds.step(place)
    conditions = () if step is None else step.between if observation.round is not None else step.gate
    checks = [check_condition(condition, observation) for condition in conditions]
    checks.append(_undone(undone, "as before the step") if undone else yes("restarted", "as before the step"))
    if missing := [seats[seat] for seat in seats.absent - rounds.away(place)]:
        awaited = await_all(missing, "is not in the group")
        checks.append(no("member-count", f"not in the group: {name_all(missing)}", awaited=awaited))
    return GateResult(checks=(*checks, check_settled(observation)))


def _undone(members: Sequence[PlannedMember], as_: str) -> Check:
    awaited = await_all(members, f"is not yet {as_}")
    return no("restarted", f"not yet {as_}: {name_all(members)}", awaited=awaited)


def observed(
    rounds: PlanRounds,
    place: Place,
    seen: GroupSighting,
    opened: Mapping[int, Sequence[PlannedMember]],
    began_with: Sequence[PlannedMember],
) -> GateObservation:
    step, number = place
    return GateObservation(
        plan=rounds.plan,
        position=step - 1,
        group=seen.group,
        cluster=seen.cluster,
        partitions=seen.partitions,
        began_with=tuple(began_with),
        was_open=step in opened,
        round=None if rounds.ends_step(place) else number,
    )
