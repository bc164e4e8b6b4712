"""Rehearsals from several seeds as figures of each step, and the plan with these figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from statistics import median

from groups.findings import Finding, Level
from migration.model import Plan, PlanRehearsal, RehearsedStep, StepFigures
from migration.rehearsal.rehearsed import Rehearsed

RULE = "rehearsal"
MOST_LINES = 60
"""Maximum lines of a story in a plan; the last ones are kept."""


def figures_of(played: Sequence[Rehearsed], step: int) -> RehearsedStep | None:
    """The figures of a step (from 1) over all seeds; None if no round of it was played."""
    runs = [of_run for run in played if (of_run := _of_run(run, step)) is not None]
    if not runs:
        return None
    return RehearsedStep(median=_over(median, runs), worst=_over(max, runs))


def _of_run(run: Rehearsed, step: int) -> StepFigures | None:
    rounds = [each for each in run.rounds if each.step == step]
    if not rounds:
        return None
    costs = sum((each.costs for each in rounds[1:]), rounds[0].costs)
    times = [each.gate_open_after_s for each in rounds]
    known = [each for each in times if each is not None]
    return StepFigures(
        rebalances=costs.rebalances,
        moved=costs.moved,
        without_owner_s=costs.without_owner_s,
        read_twice=costs.read_twice,
        commits_refused=costs.commits_refused,
        lasted_s=sum(known) if len(known) == len(times) else None,
    )


def _over(of: Callable[[Sequence[float]], float], runs: Sequence[StepFigures]) -> StepFigures:
    """`of` applied to each figure separately; None for a figure that is missing in some seed."""
    found: dict[str, float | None] = {}
    for name in (each.name for each in fields(StepFigures)):
        values = [getattr(run, name) for run in runs]
        found[name] = None if None in values else as_number(of(values))
    return StepFigures(**found)  # type: ignore[arg-type]


def as_number(value: float) -> float | int:
    """The number as it is printed: whole, or with one decimal."""
    return int(value) if float(value).is_integer() else round(value, 1)


def with_rehearsal(
    plan: Plan, at: str, played: Sequence[Rehearsed], back: Iterable[Rehearsed], detailed: Rehearsed | None
) -> Plan:
    """The plan with the figures of its rehearsals; a plan that is not safe is blocked, and has no steps.

    :param at: when it was rehearsed, in UTC
    :param back: rehearsals of rollbacks, each after some round
    :param detailed: the first rehearsal that is not safe, with its story
    """
    runs = [*played, *back]
    unsafe = [(run.seed, reason) for run in runs for reason in run.unsafe]
    rehearsal = PlanRehearsal(
        at=at,
        seed=played[0].seed,
        seeds=len(played),
        safe=not unsafe,
        unsafe=tuple(dict.fromkeys(reason for _, reason in unsafe)),
        story=detailed.story[-MOST_LINES:] if detailed is not None and unsafe else (),
    )
    if unsafe:
        seed, reason = unsafe[0]
        finding = Finding(
            rule=RULE,
            level=Level.BLOCKER,
            message=f"A rehearsal on the present group shows that the plan is not safe. Seed {seed}: {reason}.",
            remedy="Read the events of that seed. Fix the cause, or choose another path (--offline, --concurrency 1).",
            source="kohort rehearse: docs/rehearsal.md",
        )
        return replace(
            plan, findings=(finding, *plan.findings), steps=(), settled_groups=(), rehearsal=rehearsal
        )
    steps = tuple(
        replace(step, rehearsed=figures_of(played, number)) for number, step in enumerate(plan.steps, 1)
    )
    return replace(plan, steps=steps, rehearsal=rehearsal)


def not_rehearsed(plan: Plan, why: str) -> Plan:
    """The plan with a finding that explains why it could not be rehearsed."""
    finding = Finding(
        rule=RULE,
        level=Level.INFO,
        message=f"The plan was not rehearsed: {why}.",
        remedy="The costs of its steps are computed only.",
        source="kohort rehearse: docs/rehearsal.md",
    )
    return replace(plan, findings=(*plan.findings, finding))
