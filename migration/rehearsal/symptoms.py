"""The symptoms of a mistake, and whether the gates detect it.

Theory of operation. A mistake is played from the same seed as the plan itself. What differs between the two is its
symptom: errors that only then are answered, how the group is shown, what it costs.

A mistake that lasts must keep the gate of its step closed. One that passes (a round that was started too early, a
deploy) may open it as soon as every member runs as planned and the group has settled. A gate that opens otherwise has
not detected the mistake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from groups.model import GroupState
from migration.model import Plan
from migration.rehearsal.actions import StepRound
from migration.rehearsal.faults import NO_FAULTS, PlanFaults
from migration.rehearsal.mistakes import PlacedMistake
from migration.rehearsal.plan_run import rehearse
from migration.rehearsal.rehearsed import GroupSummary, Rehearsed
from migration.rehearsal.simulated_members import SimulatedMembers
from migration.rehearsal.simulation import Costs, FoundGroup


class GateOutcome(Enum):
    """The reaction of the gates to a mistake."""

    CLOSED = "closed"
    SETTLED = "opens-at-rest"
    """Once every member runs as planned, and the group has settled."""
    OPENED = "opens-in-spite"
    """It cannot see the mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An error that a member is answered, and is not where the plan is followed."""

    member: str
    error: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """The symptoms of a mistake, compared with the correct plan."""

    refused: tuple[Refused, ...]
    passed: tuple[GroupSummary, ...]
    """How else the group was shown while it was Stable, but for the end: types and assignors that the plan has not."""
    fewest: int
    """Members at a time."""
    planned_fewest: int
    shown: GroupSummary
    """At the end."""
    planned: GroupSummary
    """After the same round of the plan."""
    costs: Costs
    planned_costs: Costs
    """Of the same rounds."""
    violations: tuple[str, ...]
    """Invariants that fell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeResult:
    """The result of a mistake."""

    placed: PlacedMistake
    seed: int
    symptom: Symptom
    outcome: GateOutcome
    closed_by: tuple[str, ...]
    """Names of the checks that kept the gate closed: those of the end, or all of them where it opened later."""
    why: str
    """The gate's last words while it was closed; where it opened wrongly, what it did not see."""
    step: int
    """The step of the gate, from 1."""
    round: int | None
    """None: the gate of the whole step."""


def worst_of(played: Sequence[MistakeResult]) -> MistakeResult:
    """Of a mistake that was played from several seeds: the first one with the worst outcome."""
    order = list(GateOutcome)
    return max(played, key=lambda each: order.index(each.outcome))


def play_mistake(
    plan: Plan,
    found: FoundGroup,
    simulated: SimulatedMembers,
    placed: PlacedMistake,
    right: Rehearsed,
    faults: PlanFaults = NO_FAULTS,
) -> MistakeResult:
    """Play it from the seed of `right`, the plan as it should be done, which was played with its story.

    :raises CannotRehearseError, InvalidSetting: see `rehearse`
    """
    wrong = rehearse(
        plan,
        found,
        simulated,
        right.seed,
        with_story=True,
        operator=placed.operator,
        last_step=placed.last_step,
        faults=faults,
    )
    return compare(placed, wrong, right)


def compare(placed: PlacedMistake, wrong: Rehearsed, right: Rehearsed) -> MistakeResult:
    """The result of a mistake: `wrong` is the plan with it, up to where it was played; `right`, without, was played to
    its end."""
    polls = [poll for poll in wrong.polls if poll.place >= placed.place]
    last = polls[-1]
    closed = [poll for poll in polls if poll.closed_by]
    if wrong.opened_wrongly:
        outcome, why = GateOutcome.OPENED, wrong.opened_wrongly[0]
    elif last.closed_by:
        outcome, why = GateOutcome.CLOSED, "; ".join(last.judged.reasons)
        closed = [last]
    else:
        outcome, why = GateOutcome.SETTLED, "; ".join(closed[-1].judged.reasons) if closed else ""
    return MistakeResult(
        placed=placed,
        seed=right.seed,
        symptom=_symptom(placed, wrong, right),
        outcome=outcome,
        closed_by=tuple(dict.fromkeys(check for poll in closed for check in poll.closed_by)),
        why=why,
        step=last.place[0],
        round=last.round,
    )


def _symptom(placed: PlacedMistake, wrong: Rehearsed, right: Rehearsed) -> Symptom:
    usual = {each.error for each in right.refusals}
    refused = Counter((each.member, each.error) for each in wrong.refusals if each.error not in usual)
    last = wrong.polls[-1]
    of_plan = [poll.shown for poll in right.polls if poll.place <= last.place]
    kinds = {(each.type, each.protocol) for each in of_plan}
    strange = [
        replace(poll.shown, members=0, upgraded=0)
        for poll in wrong.polls
        if poll.shown.state is GroupState.STABLE and (poll.shown.type, poll.shown.protocol) not in kinds
    ]
    end = replace(last.shown, members=0, upgraded=0)
    fewest, planned_fewest = (
        min(poll.shown.members for poll in run.polls if placed.place <= poll.place <= last.place)
        for run in (wrong, right)
    )
    played = {(each.step, each.round) for each in wrong.rounds if (each.step, each.round) >= placed.place}
    return Symptom(
        refused=tuple(
            Refused(member=member, error=error, times=times) for (member, error), times in refused.items()
        ),
        passed=tuple(each for each in dict.fromkeys(strange) if each != end),
        fewest=fewest,
        planned_fewest=planned_fewest,
        shown=last.shown,
        planned=of_plan[-1],
        costs=_costs(wrong, played),
        planned_costs=_costs(right, played),
        violations=tuple(dict.fromkeys(each.invariant for each in wrong.violations)),
    )


def _costs(run: Rehearsed, played: set[StepRound]) -> Costs:
    return sum((each.costs for each in run.rounds if (each.step, each.round) in played), Costs())
