"""The text that `kohort plan` prints: the verdict, blockers, warnings, steps to tick off, and assumptions.

Pages (Markdown, HTML) and `--verbose` contain the whole runbook: all findings, costs, risks and other paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.findings import finding_item, first_sentence, hidden_notes
from cli.render.document import Block, Checklist, Code, Heading, Item, Text
from cli.render.lines import Role
from cli.verbs.plan.view import (
    ROLES,
    assumptions,
    before_blocks,
    instruction_blocks,
    nothing_to_do,
    overview_blocks,
    round_blocks,
    runbook_blocks,
    title_of,
)
from groups.counts import counted
from groups.findings import Finding, Level
from migration.model import Plan, Step, Verdict
from migration.rules.case import MOST_NAMED, without_members

if TYPE_CHECKING:
    from cli.verbs.rehearse.action import Rehearsal


def summary_blocks(plan: Plan, write: str, rehearsal: Rehearsal | None) -> Iterator[Block]:
    """The facts needed before and during the migration. `write` is the command that writes the plan as data."""
    yield title_of(plan)
    yield Text(verdict_line(plan), ROLES[plan.verdict])
    yield from _findings(plan, Level.BLOCKER, Level.WARNING)
    yield from hidden_notes(_count(plan, Level.INFO))
    if plan.rehearsal is not None and plan.rehearsal.safe:
        seeds = counted(plan.rehearsal.seeds, "seed")
        yield Text(f"Rehearsed on {plan.rehearsal.at}, {seeds}: safe in each of them.", Role.GOOD)
    elif plan.rehearsal is not None:
        from cli.verbs.plan.rehearsal import rehearsal_blocks

        yield from rehearsal_blocks(plan, plan.rehearsal, rehearsal)
    if plan.steps:
        yield from overview_blocks(plan)
        yield from before_blocks(plan, write)
    elif plan.verdict is not Verdict.BLOCKED:
        yield nothing_to_do(plan)
    for number, step in enumerate(plan.steps, 1):
        yield from _step_blocks(plan, number, step)
    if assumed := assumptions(plan):
        yield Heading("Assumptions")
        yield from (Item(lead="-", text=line[:1].upper() + line[1:]) for line in assumed)
    if plan.steps:
        yield Text(
            "--verbose shows warnings in full, costs, risks and other paths; --output html writes the runbook.",
            Role.FAINT,
        )


def verbose_blocks(plan: Plan, write: str, rehearsal: Rehearsal | None) -> Iterator[Block]:
    """All findings in full, including notes, and then the rest of the runbook."""
    yield title_of(plan)
    yield Text(verdict_line(plan), ROLES[plan.verdict])
    for found in plan.findings:
        yield finding_item(found, *_member(found), f"Source: {found.source}")
    yield from runbook_blocks(plan, write, rehearsal)


def verdict_line(plan: Plan) -> str:
    """`Ready, with 6 warnings.`"""
    blockers, warnings = _count(plan, Level.BLOCKER), _count(plan, Level.WARNING)
    counts = [counted(count, what) for count, what in ((blockers, "blocker"), (warnings, "warning")) if count]
    match plan.verdict:
        case Verdict.BLOCKED:
            return f"Blocked: {' and '.join(counts)}."
        case Verdict.WARNINGS:
            return f"Ready, with {counts[-1]}."
        case Verdict.READY:
            return "Ready."


def _count(plan: Plan, level: Level) -> int:
    return sum(found.level is level for found in plan.findings)


def _findings(plan: Plan, *levels: Level) -> Iterator[Item]:
    """Blockers in full; for warnings, the members and the first sentences of message and remedy."""
    for level in levels:
        for found in plan.findings:
            if found.level is not level:
                continue
            if level is Level.BLOCKER:
                yield finding_item(found, *_member(found))
            else:
                message = without_members(found)
                members = found.message.removeprefix(message)
                if plan.baseline and MOST_NAMED < len(found.members) == len(plan.baseline.members):
                    members = f" All {len(found.members)} members."
                short = replace(
                    found,
                    message=first_sentence(message) + members,
                    remedy=first_sentence(found.remedy),
                )
                yield finding_item(short)


def _member(found: Finding) -> tuple[str, ...]:
    return () if found.member is None else (f"Member: {found.member}",)


def _step_blocks(plan: Plan, number: int, step: Step) -> Iterator[Block]:
    yield from instruction_blocks(plan, number, step)
    yield from round_blocks(plan, step)
    if step.complete_when:
        yield Checklist((f"Complete when: {step.complete_when}",))
    if step.commands:
        yield Code(step.commands)
    if step.rollback:
        yield Item(lead="Rollback:", text=step.rollback, role=Role.STRONG)
