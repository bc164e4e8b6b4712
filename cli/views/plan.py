"""The document of `kohort plan`: a runbook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from cli.render.document import Block, Checklist, Code, Document, Heading, Table, Text, columns
from coordinator.model import Problem
from migration.model import Plan, Step, Verdict

_VERDICTS = {
    Verdict.READY: "Ready: nothing speaks against it.",
    Verdict.WARNINGS: "Ready, with warnings: read them before the first step.",
    Verdict.BLOCKED: "Blocked: no step is safe until what blocks it is gone.",
}


def plan_document(plan: Plan, problems: tuple[Problem, ...]) -> Document:
    """Findings first, then the steps with boxes to tick."""
    return Document(command="plan", data=_data(plan), blocks=list(_blocks(plan)), errors=problems)


def _data(plan: Plan) -> dict[str, Any]:
    return {
        "group": plan.group,
        "from": plan.origin,
        "to": plan.destination.value,
        "client": ", ".join(plan.clients) or None,
        "verdict": plan.verdict.value,
        "findings": [{**asdict(finding), "level": finding.level.value} for finding in plan.findings],
        "steps": [{"step": number, **_step_data(step)} for number, step in enumerate(plan.steps, 1)],
    }


def _step_data(step: Step) -> dict[str, Any]:
    data = asdict(step)
    del data["course"]  # what an expectation is computed from, not what it is
    return {name: list(value) if isinstance(value, tuple) else value for name, value in data.items()}


def _blocks(plan: Plan) -> Iterator[Block]:
    yield Heading(f"{plan.group}: {plan.origin} → {plan.destination.value}", level=1)
    yield Text(_VERDICTS[plan.verdict])
    if plan.findings:
        yield Heading("Findings")
        rows = [(f.level.value, f.rule, f.member, f.message, f.remedy, f.source) for f in plan.findings]
        yield Table(columns=columns("LEVEL", "RULE", "MEMBER", "FINDING", "REMEDY", "SOURCE"), rows=rows)
    if not plan.steps and plan.verdict is not Verdict.BLOCKED:
        yield Text(f"{plan.group} is there already: there is nothing to do.")
    for number, step in enumerate(plan.steps, 1):
        yield from _step_blocks(number, step)


def _step_blocks(number: int, step: Step) -> Iterator[Block]:
    yield Heading(f"Step {number}: {step.title}")
    yield Checklist(step.actions)
    if step.config:
        yield Code(step.config, language="properties")
    if step.expect:
        yield Text(f"Meanwhile: {step.expect}")
    if step.complete_when:
        yield Text(f"Complete when: {step.complete_when}")
    if step.commands:
        yield Code(step.commands)
    if step.danger:
        yield Text(f"Danger: {step.danger}")
    if step.way_back:
        yield Text(f"Way back: {step.way_back}")
