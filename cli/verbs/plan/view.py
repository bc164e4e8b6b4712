"""The documents of `kohort plan`: a runbook for one group, or a row with the verdict for each of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cli.findings import finding_item
from cli.render.cells import Cell, duration_cell
from cli.render.document import (
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
    columns,
    table_of,
)
from cli.render.lines import Role
from cli.verbs.plan.timeline import timeline_blocks
from groups.counts import counted
from groups.findings import Level
from groups.model import Problem
from groups.times import seconds_text
from migration.commands import PLAN_FILE, VARIABLE, of_round
from migration.model import Deviation, Expectation, Plan, PlannedMember, Step, Verdict, round_names
from migration.plan_file import plan_to_data
from migration.rollout import RoundAction
from migration.rules.case import without_members

if TYPE_CHECKING:
    from cli.verbs.rehearse.action import Rehearsal

MOST_CHECKED = 12
"""Most rounds printed with a command each; more become a table, with one command for all."""

_VERDICTS = {
    Verdict.READY: "Ready: no blockers and no warnings.",
    Verdict.WARNINGS: "Ready, with warnings: read the findings before the first step.",
    Verdict.BLOCKED: "Blocked: resolve the blockers before the first step.",
}
ROLES = {Verdict.READY: Role.GOOD, Verdict.WARNINGS: Role.WARNING, Verdict.BLOCKED: Role.BAD}
_DONE = {None: "Do", RoundAction.RESTART: "Restart", RoundAction.STOP: "Stop", RoundAction.START: "Start"}
_WEIGHT = {Level.BLOCKER: 0, Level.WARNING: 1}


def plan_document(
    plan: Plan,
    problems: tuple[Problem, ...],
    write: str | None = None,
    rehearsal: Rehearsal | None = None,
    written: str | None = None,
) -> Document:
    """The runbook as a page that was `written` at a time, or, without a time, as tables.

    `write` is the command that writes the plan as data.
    """
    blocks = _tables(plan, write, rehearsal) if written is None else _page(plan, write, rehearsal, written)
    return Document(
        command="plan",
        data=plan_to_data(plan),
        blocks=list(blocks),
        errors=problems,
        remarks=_remarks(rehearsal),
    )


def _remarks(rehearsal: Rehearsal | None) -> tuple[str, ...]:
    if rehearsal is None:
        return ()
    from cli.verbs.rehearse.view import rehearsal_remarks

    return tuple(rehearsal_remarks(rehearsal))


def _tables(plan: Plan, write: str | None, rehearsal: Rehearsal | None) -> Iterator[Block]:
    yield title_of(plan)
    yield Text(_VERDICTS[plan.verdict])
    if plan.findings:
        yield Heading("Findings")
        level = ("LEVEL", lambda finding: finding.level.value)
        yield table_of(plan.findings, level, "RULE", "MEMBER", ("FINDING", "message"), "REMEDY", "SOURCE")
    yield from runbook_blocks(plan, write, rehearsal)


def _page(plan: Plan, write: str | None, rehearsal: Rehearsal | None, written: str) -> Iterator[Block]:
    """The steps, then what supports them; what blocks the steps comes first."""
    yield title_of(plan)
    cluster = plan.baseline.cluster if plan.baseline else None
    yield Text(f"Cluster {cluster or 'not known'}. Written on {written}.", Role.FAINT)
    yield Text(_VERDICTS[plan.verdict], ROLES[plan.verdict])
    findings = list(_finding_cards(plan))
    blocks_first = plan.verdict is Verdict.BLOCKED
    if blocks_first:
        yield from _rehearsal_blocks(plan, rehearsal)
        yield from findings
    if plan.steps:
        yield from overview_blocks(plan)
        yield from before_blocks(plan, write)
    elif plan.verdict is not Verdict.BLOCKED:
        yield nothing_to_do(plan)
    for number, step in enumerate(plan.steps, 1):
        yield from _step_blocks(plan, number, step, is_page=True)
    yield from timeline_blocks(plan)
    if not blocks_first:
        yield from _rehearsal_blocks(plan, rehearsal)
        yield from findings
    if assumed := assumptions(plan):
        yield Details(summary="Assumptions", blocks=(Bullets(tuple(map(_capitalized, assumed))),))
    if plan.alternatives:
        paths = [Item(lead=path.title, details=(path.why_not,)) for path in plan.alternatives]
        yield Details(summary="Paths not taken", blocks=tuple(paths))


def _finding_cards(plan: Plan) -> Iterator[Block]:
    """A card for each blocker and warning; the notes are folded."""
    if not plan.findings:
        return
    yield Heading("Findings")
    shown: list[Item] = []
    notes: list[Item] = []
    for finding in plan.findings:
        member = () if finding.member is None else (f"Member: {finding.member}",)
        card = finding_item(finding, *member, source=finding.source)
        (notes if finding.level is Level.INFO else shown).append(card)
    yield from shown
    if notes:
        yield Details(summary=counted(len(notes), "note"), blocks=tuple(notes))


def _rehearsal_blocks(plan: Plan, rehearsal: Rehearsal | None) -> Iterator[Block]:
    if plan.rehearsal is not None:
        from cli.verbs.plan.rehearsal import rehearsal_blocks

        yield from rehearsal_blocks(plan, plan.rehearsal, rehearsal)


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def title_of(plan: Plan) -> Heading:
    """`billing: classic (range) → consumer`."""
    return Heading(f"{plan.group}: {plan.origin} → {plan.destination.value}", level=1)


def runbook_blocks(plan: Plan, write: str | None, rehearsal: Rehearsal | None) -> Iterator[Block]:
    """The blocks after the findings."""
    yield from _rehearsal_blocks(plan, rehearsal)
    if plan.steps:
        yield from overview_blocks(plan)
        if assumed := assumptions(plan):
            yield Bullets(tuple(f"Assumed: {line}" for line in assumed))
        yield from timeline_blocks(plan)
        yield from before_blocks(plan, write)
    elif plan.verdict is not Verdict.BLOCKED:
        yield nothing_to_do(plan)
    for number, step in enumerate(plan.steps, 1):
        yield from _step_blocks(plan, number, step)
    if plan.alternatives:
        yield Heading("Paths not taken")
        yield table_of(plan.alternatives, ("PATH", "title"), ("WHY-NOT", "why_not"))


def nothing_to_do(plan: Plan) -> Text:
    """The text in place of steps."""
    return Text(f"{plan.group} already uses the target protocol: there is nothing to do.")


def overview_blocks(plan: Plan) -> Iterator[Block]:
    """The path, and a row for each step with its costs."""
    members = len(plan.baseline.members) if plan.baseline else 0
    yield Heading("Overview")
    yield Text(
        f"Path: {plan.path}, for clients of {' and '.join(plan.clients)}{_inferred(plan)}. The group has "
        f"{counted(members, 'member')}{_pace(plan)}."
    )
    rows = [(n, step.title, len(step.rounds), *_figures(step)) for n, step in enumerate(plan.steps, 1)]
    names = ("#STEP", "TITLE", "#ROUNDS", "#REBALANCES", "#MOVED", "#UNOWNED-TIME")
    yield Table(columns=columns(*names), rows=rows)


def before_blocks(plan: Plan, write: str | None) -> Iterator[Block]:
    """Actions before the first step; `write` is the command that writes the plan as data."""
    yield Heading("Before the first step")
    yield Checklist(
        (
            f"Write this plan to {PLAN_FILE}, with the same options: the checks read that file. From now on, use this "
            "page only together with that file.",
            "Do not deploy, scale or restart members of this group for other reasons until the last step is complete.",
            "Watch the lag of the group. If it does not go down again after a step, do not start the next one.",
            "Run every check below, in order: each records the members of the group, and the next one compares with "
            "them. Exit status 0: continue. 1: not complete, or the group is off plan; the output names the missing "
            "members, or the step to go back to. 3: unknown.",
        )
    )
    first = plan.steps[0].commands[0]
    yield Code(
        (
            *((write,) if write else ()),
            *(("export BOOTSTRAP=HOST:PORT",) if VARIABLE in first else ()),
            first.replace("--step 1", "--step 0", 1),
        )
    )


def _inferred(plan: Plan) -> str:
    """A suffix for libraries that are only inferred from the members' ids."""
    found = any(each.rule == "client-library" and each.level is Level.INFO for each in plan.findings)
    return " (inferred)" if found else ""


def _pace(plan: Plan) -> str:
    if all(step.round_action is not RoundAction.RESTART for step in plan.steps):
        return ""
    return (
        f"; {plan.concurrency} at a time, and each restart is assumed to take {seconds_text(plan.bounce_s)}"
    )


def _figures(step: Step) -> tuple[Cell, Cell, Cell]:
    found = step.expectation
    return (
        (found.rebalances, found.moved, duration_cell(found.without_owner_s)) if found else (None, None, None)
    )


def _step_blocks(plan: Plan, number: int, step: Step, *, is_page: bool = False) -> Iterator[Block]:
    yield from instruction_blocks(plan, number, step)
    if step.expect:
        yield Text(f"During the step: {step.expect}")
    yield from round_blocks(plan, step)
    if step.complete_when:
        yield Text(f"Complete when: {step.complete_when}")
    if step.commands:
        yield Code(step.commands)
    if step.expectation:
        yield from _expectation(step.expectation, is_page=is_page)
    if step.dangers and is_page:
        problems = [
            Item(lead=risk.what, details=(f"Symptom: {risk.symptom}", f"Action: {risk.then}"))
            for risk in step.dangers
        ]
        yield Details(summary=counted(len(problems), "possible problem"), blocks=tuple(problems))
    elif step.dangers:
        yield Text("Possible problems:")
        yield table_of(step.dangers, ("PROBLEM", "what"), "SYMPTOM", ("ACTION", "then"))
    if step.strays:
        yield Text("If the check reports that the group is off plan:")
        yield table_of(
            step.strays, ("REPORTED", "message"), ("GO-BACK-TO", lambda stray: _back_to(plan, stray))
        )
    if step.rollback:
        yield Text(f"Rollback: {step.rollback}")


def instruction_blocks(plan: Plan, number: int, step: Step) -> Iterator[Block]:
    """The title of a step, its actions, settings and commands."""
    yield Heading(f"Step {number} of {len(plan.steps)}: {step.title}")
    yield Checklist(step.actions)
    if step.config:
        yield Code(step.config, language="properties")
    if step.shell:
        yield Code(step.shell)


def round_blocks(plan: Plan, step: Step) -> Iterator[Block]:
    """A box for each round, and the command that checks it."""
    verb = _DONE[step.round_action]
    if 0 < len(step.rounds) <= MOST_CHECKED:
        places = _places(plan)
        for number, names in enumerate(step.rounds, 1):
            prefix = f"Round {number}: " if len(step.rounds) > 1 else ""
            who = ", ".join(f"{name}{places.get(name, '')}" for name in names)
            yield Checklist((f"{prefix}{verb} {who}",), is_prose=False)
            if step.round_command:
                yield Code((of_round(step.round_command, number),))
    elif step.rounds:
        rows = [(f"☐ {verb}", number, ", ".join(names)) for number, names in enumerate(step.rounds, 1)]
        yield Table(columns=columns("DONE", "#ROUND", "MEMBERS"), rows=rows)
        yield Text("After each round, with its number in K:")
        yield Code(("K=1", step.round_command))


def _places(plan: Plan) -> dict[str, str]:
    """The host and the number of partitions of each member, by its name in rounds."""
    members = plan.baseline.members if plan.baseline else ()
    names = round_names(members)
    return {names[member.id]: f" ({_place(member, names[member.id])})" for member in members}


def _place(member: PlannedMember, name: str) -> str:
    """The member's host and partitions, without the slash that a broker puts before an address without a name."""
    host = (member.host or "").removeprefix("/")
    parts = [] if not host or name.endswith(f"@{host}") else [host]
    return ", ".join([*parts, counted(member.partitions, "partition")])


def _expectation(found: Expectation, *, is_page: bool) -> Iterator[Block]:
    yield Text(
        f"Expected: {counted(found.rebalances, 'rebalance')}, {counted(found.moved, 'partition')} moved, "
        f"{found.without_owner_s:g} partition-seconds without an owner."
    )
    lines = Bullets(tuple(line for line in found.arithmetic if not _is_assumed(line)))
    yield Details(summary="How this is computed", blocks=(lines,)) if is_page else lines


def assumptions(plan: Plan) -> tuple[str, ...]:
    """The assumptions in the figures of all steps, each line once."""
    found = [line for step in plan.steps if step.expectation for line in step.expectation.arithmetic]
    return tuple(dict.fromkeys(line.removeprefix(_ASSUMED) for line in found if _is_assumed(line)))


_ASSUMED = "Assumed: "


def _is_assumed(line: str) -> bool:
    return line.startswith(_ASSUMED)


def _back_to(plan: Plan, stray: Deviation) -> str:
    number = next((n for n, step in enumerate(plan.steps, 1) if step.id == stray.back_to), None)
    return f"step {number}" if number else stray.back_to


def readiness_document(plans: Sequence[Plan], problems: tuple[Problem, ...]) -> Document:
    """A row per group in the given order; for programs, every plan in full."""
    table = table_of(
        plans,
        *("GROUP", ("FROM", "origin")),
        ("VERDICT", lambda plan: plan.verdict.value),
        ("##BLOCKERS", lambda plan: _count_of(plan, Level.BLOCKER)),
        ("##WARNINGS", lambda plan: _count_of(plan, Level.WARNING)),
        *((("REHEARSED", _rehearsed),) if any(plan.rehearsal for plan in plans) else ()),
        ("CLIENTS", lambda plan: f"{', '.join(plan.clients)}{_inferred(plan)}" or None),
        ("FIRST-REASON", _first_reason),
    )
    data = {"plans": [plan_document(plan, ()).data for plan in plans]}
    return Document(command="plan", data=data, blocks=[table], errors=problems)


def _count_of(plan: Plan, level: Level) -> int:
    return sum(finding.level is level for finding in plan.findings)


def _rehearsed(plan: Plan) -> str | None:
    if plan.rehearsal is None:
        return None
    return "safe" if plan.rehearsal.safe else "not safe"


def _first_reason(plan: Plan) -> str | None:
    """The most severe finding: findings are sorted by severity."""
    first = next((finding for finding in plan.findings if finding.level in _WEIGHT), None)
    if first is not None:
        return without_members(first)
    return None if plan.steps or plan.verdict is Verdict.BLOCKED else "Nothing to do."
