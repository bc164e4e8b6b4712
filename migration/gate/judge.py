"""The whole judgement of a gate."""

from __future__ import annotations

from migration.conditions import Leads, Precedes
from migration.gate.answers import Check, Judgement
from migration.gate.checks import check_condition
from migration.gate.implied import implied_checks, implied_conditions
from migration.gate.rest import check_rest
from migration.gate.sight import Sight
from migration.gate.staleness import differences
from migration.gate.straying import find_stray
from migration.model import Step


def judge_gate(sight: Sight, *, accept_drift: bool = False) -> Judgement:
    """Judge a step's gate, that of a round, or (at position -1) whether the first step may begin.

    With `accept_drift` a group that reads other topics than it did, or has other members, is judged all the same.
    """
    found = tuple(each for each in differences(sight) if not (each.drift and accept_drift))
    if found:
        return Judgement(differences=found)
    if sight.step is None:
        return Judgement(checks=(check_rest(sight), _is_there(sight)))
    return Judgement(strayed=find_stray(sight), checks=_checks(sight, sight.step))


def needs_leader(step: Step | None) -> bool:
    """Whether a step's gate asks who leads, which costs a live source more."""
    if step is None:
        return False
    asked = (*step.gate, *step.between, *(one for stray in step.strays for one in stray.conditions))
    return any(isinstance(one, Precedes | Leads) for one in asked)


def _checks(sight: Sight, step: Step) -> tuple[Check, ...]:
    of_round = (*step.between, *implied_conditions(step, step.between))
    conditions = step.gate if sight.round is None else of_round
    if not conditions:
        return (
            Check(
                check="gate",
                holds=None,
                text="the plan says of this step nothing that a broker could be asked",
                by_waiting=False,
            ),
        )
    checks = tuple(check_condition(one, sight) for one in conditions)
    return (*checks, *implied_checks(sight, step, conditions), check_rest(sight))


def _is_there(sight: Sight) -> Check:
    if sight.group is not None:
        return Check(check="plan", holds=True, text="the group is as it was when the plan was made")
    return Check(check="plan", holds=False, text=f"there is no group {sight.plan.group}")
