"""The documents of `kohort plan`: a runbook for one group, or a row with the verdict for each of several.

A runbook in short, in full, as a page or as tables has the same parts in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.findings import finding_item, first_sentence, hidden_notes
from cli.render.document import (
    VERBOSE,
    Block,
    Bullets,
    Checklist,
    Code,
    Details,
    Document,
    Heading,
    Item,
    Table,
    Text,
    table_of,
)
from cli.render.lines import Role
from cli.verbs.plan.blocks import (
    assumptions,
    before_blocks,
    instruction_blocks,
    overview_blocks,
    rehearsal_blocks,
    rehearsed_line,
    round_blocks,
    shown_clients,
    step_blocks,
)
from cli.verbs.plan.timeline import timeline_blocks
from groups.counts import counted
from groups.findings import Finding, Level
from groups.model import Problem
from migration.model import LIBRARY_RULE, Plan, PlanVerdict, Step
from migration.plan_file import plan_to_data
from migration.rules.case import MOST_NAMED, without_members
from migration.rules.clients import about_unknown

if TYPE_CHECKING:
    from cli.verbs.plan.directory import WrittenPlan
    from cli.verbs.rehearse.action import Rehearsal

_VERDICTS = {
    PlanVerdict.READY: "Ready: no blockers and no warnings.",
    PlanVerdict.WARNINGS: "Ready, with warnings: read the findings before the first step.",
    PlanVerdict.BLOCKED: "Blocked: resolve the blockers before the first step.",
    PlanVerdict.UNKNOWN: "Unknown: set the client library of the members to get the steps.",
}
_NOTHING, _UNKNOWN = "with nothing to do", "with an unknown library"
_ROLES = {
    PlanVerdict.READY: Role.GOOD,
    PlanVerdict.WARNINGS: Role.WARNING,
    PlanVerdict.BLOCKED: Role.BAD,
    PlanVerdict.UNKNOWN: Role.WARNING,
}


def plan_document(
    plan: Plan,
    problems: tuple[Problem, ...],
    write: str,
    rehearsal: Rehearsal | None,
    *,
    written: str | None,
    verbose: bool,
) -> Document:
    """The runbook; `write` is the command that writes the plan as data, `written` the time at which a page is made."""
    blocks = _tables(plan, write, rehearsal) if written is None else _page(plan, write, rehearsal, written)
    text = _in_full(plan, write, rehearsal) if verbose else _in_short(plan, write, rehearsal)
    remarks: tuple[str, ...] = ()
    if rehearsal is not None:
        from cli.verbs.rehearse.view import rehearsal_remarks

        remarks = tuple(rehearsal_remarks(rehearsal))
    return Document(
        command="plan",
        data=plan_to_data(plan),
        blocks=list(blocks),
        text=list(text),
        errors=problems,
        remarks=remarks,
        more="" if verbose else VERBOSE,
    )


def _in_short(plan: Plan, write: str, rehearsal: Rehearsal | None) -> Iterator[Block]:
    yield from _head(plan)
    for level in (Level.BLOCKER, Level.WARNING):
        yield from (_short_finding(plan, finding) for finding in plan.findings if finding.level is level)
    yield from hidden_notes(_count(plan, Level.INFO))
    if plan.rehearsal is not None and plan.rehearsal.safe:
        yield Text(rehearsed_line(plan.rehearsal), Role.GOOD)
    else:
        yield from rehearsal_blocks(plan, rehearsal)
    yield from _start(plan, write)
    for number, step in enumerate(plan.steps, 1):
        yield from _short_step(plan, number, step)
    if assumed := assumptions(plan):
        yield Heading("Assumptions")
        yield from (Item(lead="-", text=line) for line in map(_capitalized, assumed))
    if plan.steps:
        more = "--verbose shows warnings in full, costs, risks and other paths"
        yield Text(f"{more}; --output html writes the runbook.", Role.FAINT)


def _in_full(plan: Plan, write: str, rehearsal: Rehearsal | None) -> Iterator[Block]:
    yield from _head(plan)
    for finding in plan.findings:
        yield finding_item(finding, *_member(finding), f"Source: {finding.source}")
    yield from _after_findings(plan, write, rehearsal)


def _tables(plan: Plan, write: str, rehearsal: Rehearsal | None) -> Iterator[Block]:
    yield _title(plan)
    yield Text(_VERDICTS[plan.verdict])
    if plan.findings:
        yield Heading("Findings")
        level = ("LEVEL", lambda finding: finding.level.value)
        yield table_of(plan.findings, level, "RULE", "MEMBER", ("FINDING", "message"), "REMEDY", "SOURCE")
    yield from _after_findings(plan, write, rehearsal)


def _page(plan: Plan, write: str, rehearsal: Rehearsal | None, written: str) -> Iterator[Block]:
    """The steps, then what supports them; what blocks the steps comes first."""
    yield _title(plan)
    cluster = plan.baseline.cluster if plan.baseline else None
    yield Text(f"Cluster {cluster or 'not known'}. Written on {written}.", Role.FAINT)
    yield Text(_VERDICTS[plan.verdict], _ROLES[plan.verdict])
    support = [*rehearsal_blocks(plan, rehearsal), *_finding_cards(plan)]
    blocks_first = plan.has_blocker
    yield from support if blocks_first else ()
    yield from _start(plan, write)
    for number, step in enumerate(plan.steps, 1):
        yield from step_blocks(plan, number, step, is_page=True)
    yield from timeline_blocks(plan)
    yield from () if blocks_first else support
    if assumed := assumptions(plan):
        yield Details(summary="Assumptions", blocks=(Bullets(tuple(map(_capitalized, assumed))),))
    if plan.alternatives:
        paths = [Item(lead=path.title, details=(path.why_not,)) for path in plan.alternatives]
        yield Details(summary="Paths not taken", blocks=tuple(paths))


def _after_findings(plan: Plan, write: str, rehearsal: Rehearsal | None) -> Iterator[Block]:
    """The rest of a runbook in full, as text or as tables."""
    yield from rehearsal_blocks(plan, rehearsal)
    yield from _start(plan, write, in_full=True)
    for number, step in enumerate(plan.steps, 1):
        yield from step_blocks(plan, number, step)
    if plan.alternatives:
        yield Heading("Paths not taken")
        yield table_of(plan.alternatives, ("PATH", "title"), ("WHY-NOT", "why_not"))


def _start(plan: Plan, write: str, *, in_full: bool = False) -> Iterator[Block]:
    """What comes before the steps, or a text in their place; a blocked plan has neither."""
    if plan.steps:
        yield from overview_blocks(plan)
        if in_full:
            if assumed := assumptions(plan):
                yield Bullets(tuple(f"Assumed: {line}" for line in assumed))
            yield from timeline_blocks(plan)
        yield from before_blocks(plan, write)
    elif not plan.has_blocker:
        yield Text(f"{plan.group} already uses the target protocol: there is nothing to do.")


def _title(plan: Plan) -> Heading:
    """`billing: classic (range) → consumer`."""
    return Heading(f"{plan.group}: {plan.origin} → {plan.destination.value}", level=1)


def _head(plan: Plan) -> Iterator[Block]:
    """The title, and `Ready, with 6 warnings.`"""
    yield _title(plan)
    blockers, warnings = _count(plan, Level.BLOCKER), _count(plan, Level.WARNING)
    counts = [counted(count, what) for count, what in ((blockers, "blocker"), (warnings, "warning")) if count]
    lines = {
        PlanVerdict.BLOCKED: f"Blocked: {' and '.join(counts)}.",
        PlanVerdict.UNKNOWN: f"Unknown: {' and '.join(counts)}.",
        PlanVerdict.WARNINGS: f"Ready, with {' and '.join(counts)}.",
        PlanVerdict.READY: "Ready.",
    }
    yield Text(lines[plan.verdict], _ROLES[plan.verdict])


def _count(plan: Plan, level: Level) -> int:
    return sum(finding.level is level for finding in plan.findings)


def _member(finding: Finding) -> tuple[str, ...]:
    return () if finding.member is None else (f"Member: {finding.member}",)


def _short_finding(plan: Plan, finding: Finding) -> Item:
    """A blocker in full; of a warning, the members and the first sentences of message and remedy."""
    if finding.level is Level.BLOCKER:
        return finding_item(finding, *_member(finding))
    message = without_members(finding)
    members = finding.message.removeprefix(message)
    if plan.baseline and MOST_NAMED < len(finding.members) == len(plan.baseline.members):
        members = f" All {len(finding.members)} members."
    message, remedy = first_sentence(message) + members, first_sentence(finding.remedy)
    return finding_item(replace(finding, message=message, remedy=remedy))


def _finding_cards(plan: Plan) -> Iterator[Block]:
    """A card for each blocker and warning; the notes are folded."""
    if plan.findings:
        yield Heading("Findings")
    notes: list[Item] = []
    for finding in plan.findings:
        card = finding_item(finding, *_member(finding), source=finding.source)
        if finding.level is Level.INFO:
            notes.append(card)
        else:
            yield card
    if notes:
        yield Details(summary=counted(len(notes), "note"), blocks=tuple(notes))


def _short_step(plan: Plan, number: int, step: Step) -> Iterator[Block]:
    yield from instruction_blocks(plan, number, step)
    yield from round_blocks(plan, step)
    if step.complete_when:
        yield Checklist((f"Complete when: {step.complete_when}",))
    if step.commands:
        yield Code(step.commands)
    if step.rollback:
        yield Item(lead="Rollback:", text=step.rollback, role=Role.STRONG)


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def readiness_document(plans: Sequence[Plan], problems: tuple[Problem, ...], *, verbose: bool) -> Document:
    data = {"plans": list(map(plan_to_data, plans))}
    return Document(
        command="plan",
        data=data,
        blocks=[_verdicts(plans)],
        errors=problems,
        remarks=_hint(plans),
        more="" if verbose else VERBOSE,
    )


def _hint(plans: Sequence[Plan]) -> tuple[str, ...]:
    return about_unknown(sum(plan.verdict is PlanVerdict.UNKNOWN for plan in plans))


def written_document(
    written: Sequence[WrittenPlan], problems: tuple[Problem, ...], *, verbose: bool
) -> Document:
    """What is in a directory of plans: a row for each group, and how many of them can begin."""
    files = {one.plan.group: str(one.file) for one in written}
    plans = [one.plan for one in written]
    data = {
        "written": [
            {
                "group": plan.group,
                "file": files[plan.group],
                "verdict": plan.verdict.value,
                "steps": len(plan.steps),
                "first_reason": _first_reason(plan),
            }
            for plan in plans
        ]
    }
    table = _verdicts(plans, ("FILE", lambda plan: files[plan.group]))
    return Document(
        command="plan",
        data=data,
        blocks=[table, Text(_totals(plans))],
        errors=problems,
        remarks=_hint(plans),
        more="" if verbose else VERBOSE,
    )


def _totals(plans: Sequence[Plan]) -> str:
    """`Wrote 10 plans: 3 ready, 5 with warnings, 1 blocked, 1 with nothing to do.`"""
    kinds = Counter(_kind(plan) for plan in plans)
    order = ("ready", "with warnings", "blocked", _UNKNOWN, _NOTHING)
    parts = [f"{kinds[kind]:,} {kind}" for kind in order if kinds[kind]]
    return f"Wrote {counted(len(plans), 'plan')}: {', '.join(parts)}."


def _kind(plan: Plan) -> str:
    kinds = {
        PlanVerdict.BLOCKED: "blocked",
        PlanVerdict.UNKNOWN: _UNKNOWN,
        PlanVerdict.WARNINGS: "with warnings",
        PlanVerdict.READY: "ready",
    }
    return kinds[plan.verdict] if plan.steps or plan.has_blocker else _NOTHING


def _verdicts(plans: Sequence[Plan], *last: tuple[str, Callable[[Plan], str]]) -> Table:
    return table_of(
        plans,
        *("GROUP", ("FROM", "origin")),
        ("VERDICT", lambda plan: plan.verdict.value),
        ("##BLOCKERS", lambda plan: _count(plan, Level.BLOCKER)),
        ("##WARNINGS", lambda plan: _count(plan, Level.WARNING)),
        *((("REHEARSED", _rehearsed),) if any(plan.rehearsal for plan in plans) else ()),
        ("CLIENTS", lambda plan: shown_clients(plan, ", ") or None),
        ("FIRST-REASON", _first_reason),
        *last,
    )


def _rehearsed(plan: Plan) -> str | None:
    if plan.rehearsal is None:
        return None
    return "safe" if plan.rehearsal.safe else "not safe"


def _first_reason(plan: Plan) -> str | None:
    found = [finding for finding in plan.findings if finding.level is not Level.INFO]
    if (
        plan.verdict is PlanVerdict.BLOCKED
    ):  # by something else than an unknown library, which one hint is about
        found = [finding for finding in found if finding.rule != LIBRARY_RULE]
    if found:
        return without_members(found[0])
    return None if plan.steps or plan.has_blocker else "Nothing to do."
