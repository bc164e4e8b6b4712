"""The symptoms of a mistake (differences from the plan of the same seed), and whether the gates detect it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from groups.model import GroupState
from migration.model import Plan
from migration.rehearsal.faults import NO_FAULTS, PlanFaults
from migration.rehearsal.mistakes import PlacedMistake
from migration.rehearsal.plan_run import rehearse
from migration.rehearsal.rehearsed import GroupSummary, Rehearsed
from migration.rehearsal.simulated_members import FoundGroup, SimulatedMembers, StepRound
from migration.rehearsal.simulation import RehearsalCosts


class GateOutcome(Enum):
    CLOSED = "closed"
    SETTLED = "opens-at-rest"  # The gate opens once every member runs as planned, and the group has settled
    OPENED = "opens-in-spite"  # The gate opens without detecting the mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRequest:
    """An error response to a member that does not occur if the plan is followed."""

    member: str
    error: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeSymptoms:
    refused: tuple[RefusedRequest, ...]
    passed: tuple[GroupSummary, ...]
    """Types and assignors that a Stable group showed before the end, and never shows if the plan is followed."""
    fewest: int  # The lowest number of members at any time
    planned_fewest: int
    shown: GroupSummary
    planned: GroupSummary  # The group after the same round of the plan without the mistake
    costs: RehearsalCosts
    planned_costs: RehearsalCosts  # The costs of the same rounds without the mistake
    violations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeResult:
    placed: PlacedMistake
    seed: int
    symptom: MistakeSymptoms
    outcome: GateOutcome
    closed_by: tuple[str, ...]
    """Names of the checks that kept the gate closed: at the end, or at any time if the gate opened later."""
    why: str  # The gate's last reasons for being closed; if it opened wrongly, what it did not detect
    step: int
    round: int | None  # None: the gate of the whole step


def worst_of(played: Sequence[MistakeResult]) -> MistakeResult:
    """The first result with the worst outcome, of a mistake that was played from several seeds."""
    order = list(GateOutcome)
    return max(played, key=lambda result: order.index(result.outcome))


def play_mistake(
    plan: Plan,
    found_group: FoundGroup,
    simulated: SimulatedMembers,
    placed: PlacedMistake,
    right: Rehearsed,
    faults: PlanFaults = NO_FAULTS,
) -> MistakeResult:
    """Play the mistake from the seed of `right`, which is the plan without it, played with its story."""
    operator, last = placed.operator, placed.last_step
    asked = plan, found_group, simulated, right.seed
    wrong = rehearse(*asked, with_story=True, operator=operator, last_step=last, faults=faults)
    return compare(placed, wrong, right)


def compare(placed: PlacedMistake, wrong: Rehearsed, right: Rehearsed) -> MistakeResult:
    """The result of a mistake: `wrong` is the plan with it, as far as played; `right` is the plan without it."""
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


def _symptom(placed: PlacedMistake, wrong: Rehearsed, right: Rehearsed) -> MistakeSymptoms:
    usual = {refusal.error for refusal in right.refusals}
    refused = Counter((one.member, one.error) for one in wrong.refusals if one.error not in usual)
    last = wrong.polls[-1]
    of_plan = [poll.shown for poll in right.polls if poll.place <= last.place]
    kinds = {(summary.type, summary.protocol) for summary in of_plan}
    stable = [poll.shown for poll in wrong.polls if poll.shown.state is GroupState.STABLE]
    odd = [shown for shown in stable if (shown.type, shown.protocol) not in kinds]
    strange = [replace(shown, members=0, upgraded=0) for shown in odd]
    end = replace(last.shown, members=0, upgraded=0)
    fewest, planned_fewest = (
        min(poll.shown.members for poll in run.polls if placed.place <= poll.place <= last.place)
        for run in (wrong, right)
    )
    played = {place for one in wrong.rounds if (place := (one.step, one.round)) >= placed.place}
    requests = [RefusedRequest(member=one, error=error, times=n) for (one, error), n in refused.items()]
    return MistakeSymptoms(
        refused=tuple(requests),
        passed=tuple(summary for summary in dict.fromkeys(strange) if summary != end),
        fewest=fewest,
        planned_fewest=planned_fewest,
        shown=last.shown,
        planned=of_plan[-1],
        costs=_costs(wrong, played),
        planned_costs=_costs(right, played),
        violations=tuple(dict.fromkeys(violation.invariant for violation in wrong.violations)),
    )


def _costs(run: Rehearsed, played: set[StepRound]) -> RehearsalCosts:
    costs = (checked.costs for checked in run.rounds if (checked.step, checked.round) in played)
    return sum(costs, RehearsalCosts())
