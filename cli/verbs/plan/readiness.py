"""The document of `kohort plan` for several groups: a row of verdict each."""

from __future__ import annotations

from collections.abc import Sequence

from cli.render.document import Document, Table, columns
from cli.verbs.plan.view import plan_document
from groups.model import Problem
from migration.model import Level, Plan, Verdict
from migration.rules.case import without_members

_WEIGHT = {Level.BLOCKER: 0, Level.WARNING: 1}


def readiness_document(plans: Sequence[Plan], problems: tuple[Problem, ...]) -> Document:
    """A row per group in the order given; for programs, the whole of every plan."""
    table = Table(
        columns=columns("GROUP", "FROM", "VERDICT", "##BLOCKERS", "##WARNINGS", "CLIENTS", "FIRST REASON"),
        rows=[
            (
                plan.group,
                plan.origin,
                plan.verdict.value,
                _count(plan, Level.BLOCKER),
                _count(plan, Level.WARNING),
                ", ".join(plan.clients) or None,
                _first_reason(plan),
            )
            for plan in plans
        ],
    )
    data = {"plans": [plan_document(plan, ()).data for plan in plans]}
    return Document(command="plan", data=data, blocks=[table], errors=problems)


def _count(plan: Plan, level: Level) -> int:
    return sum(finding.level is level for finding in plan.findings)


def _first_reason(plan: Plan) -> str | None:
    """What weighs most: findings stand in the order of their weight."""
    first = next((finding for finding in plan.findings if finding.level in _WEIGHT), None)
    if first is not None:
        return without_members(first)
    return None if plan.steps or plan.verdict is Verdict.BLOCKED else "It is there already."
