"""The parts of the documents of `kohort plan`: overview, steps, rounds, costs, and the rehearsal of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.render import document as documents
from cli.render.cells import Cell
from groups.counts import counted
from groups.findings import Level
from groups.times import seconds_text
from migration.commands import PLAN_FILE, VARIABLE, of_round
from migration.model import Expectation, Plan, PlanRehearsal, RoundAction, Step, round_names

if TYPE_CHECKING:
    from cli.verbs.rehearse.action import Rehearsal

MOST_CHECKED = 12  # Most rounds printed with a command each; more become a table, with one command for all
_DONE = {None: "Do", RoundAction.RESTART: "Restart", RoundAction.STOP: "Stop", RoundAction.START: "Start"}
_ASSUMED = "Assumed: "
_FIGURES = ("rebalances", "moved", "without_owner_s", "read_twice", "commits_refused", "lasted_s")
_PLAYED = ("#REBALANCES", "#MOVED", "#UNOWNED-TIME", "#READ-TWICE", "#COMMITS-REFUSED", "#LASTED")


def overview_blocks(plan: Plan) -> Iterator[documents.Block]:
    members = len(plan.baseline.members) if plan.baseline else 0
    yield documents.Heading("Overview")
    clients, pace = shown_clients(plan, " and "), ""
    if any(step.round_action is RoundAction.RESTART for step in plan.steps):
        restart = f"each restart is assumed to take {seconds_text(plan.bounce_s)}"
        pace = f"; {plan.concurrency} at a time, and {restart}"
    yield documents.Text(
        f"Path: {plan.path}, for clients of {clients}. The group has {counted(members, 'member')}{pace}."
    )
    rows = [(n, step.title, len(step.rounds), *_computed(step)) for n, step in enumerate(plan.steps, 1)]
    names = ("#STEP", "TITLE", "#ROUNDS", "#REBALANCES", "#MOVED", "#UNOWNED-TIME")
    yield documents.Table(columns=documents.columns(*names), rows=rows)


def shown_clients(plan: Plan, comma: str) -> str:
    """The members' libraries, with a note if they are only inferred from the members' ids."""
    notes = {finding.rule for finding in plan.findings if finding.level is Level.INFO}
    return f"{comma.join(plan.clients)}{' (inferred)' if 'client-library' in notes else ''}"


def _computed(step: Step) -> list[Cell]:
    names = ("rebalances", "moved", "without_owner_s")
    return documents.cells_of(documents.fields(step.expectation, *names)) if step.expectation else [None] * 3


def before_blocks(plan: Plan, write: str) -> Iterator[documents.Block]:
    """Actions before the first step; `write` is the command that writes the plan as data."""
    yield documents.Heading("Before the first step")
    yield documents.Checklist(
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
    export = ("export BOOTSTRAP=HOST:PORT",) if VARIABLE in first else ()
    yield documents.Code((write, *export, first.replace("--step 1", "--step 0", 1)))


def step_blocks(plan: Plan, number: int, step: Step, *, is_page: bool = False) -> Iterator[documents.Block]:
    yield from instruction_blocks(plan, number, step)
    if step.expect:
        yield documents.Text(f"During the step: {step.expect}")
    yield from round_blocks(plan, step)
    if step.complete_when:
        yield documents.Text(f"Complete when: {step.complete_when}")
    if step.commands:
        yield documents.Code(step.commands)
    if step.expectation:
        yield from _expectation(step.expectation, is_page=is_page)
    if step.dangers and is_page:
        problems = [
            documents.Item(lead=risk.what, details=(f"Symptom: {risk.symptom}", f"Action: {risk.then}"))
            for risk in step.dangers
        ]
        yield documents.Details(summary=counted(len(problems), "possible problem"), blocks=tuple(problems))
    elif step.dangers:
        yield documents.Text("Possible problems:")
        yield documents.table_of(step.dangers, ("PROBLEM", "what"), "SYMPTOM", ("ACTION", "then"))
    if step.strays:
        yield documents.Text("If the check reports that the group is off plan:")
        steps = {other.id: f"step {n}" for n, other in enumerate(plan.steps, 1)}
        back_to = ("GO-BACK-TO", lambda stray: steps.get(stray.back_to, stray.back_to))
        yield documents.table_of(step.strays, ("REPORTED", "message"), back_to)
    if step.rollback:
        yield documents.Text(f"Rollback: {step.rollback}")


def instruction_blocks(plan: Plan, number: int, step: Step) -> Iterator[documents.Block]:
    yield documents.Heading(f"Step {number} of {len(plan.steps)}: {step.title}")
    yield documents.Checklist(step.actions)
    if step.config:
        yield documents.Code(step.config, language="properties")
    if step.shell:
        yield documents.Code(step.shell)


def round_blocks(plan: Plan, step: Step) -> Iterator[documents.Block]:
    verb = _DONE[step.round_action]
    if 0 < len(step.rounds) <= MOST_CHECKED:
        places = _places(plan)
        for number, names in enumerate(step.rounds, 1):
            prefix = f"Round {number}: " if len(step.rounds) > 1 else ""
            who = ", ".join(f"{name}{places.get(name, '')}" for name in names)
            yield documents.Checklist((f"{prefix}{verb} {who}",), is_prose=False)
            if step.round_command:
                yield documents.Code((of_round(step.round_command, number),))
    elif step.rounds:
        rows = [(f"☐ {verb}", number, ", ".join(names)) for number, names in enumerate(step.rounds, 1)]
        yield documents.Table(columns=documents.columns("DONE", "#ROUND", "MEMBERS"), rows=rows)
        yield documents.Text("After each round, with its number in K:")
        yield documents.Code(("K=1", step.round_command))


def _places(plan: Plan) -> dict[str, str]:
    """The members' hosts and partitions, without the slash that a broker puts before an address without a name."""
    members = plan.baseline.members if plan.baseline else ()
    names, places = round_names(members), {}
    for member in members:
        name, host = names[member.id], (member.host or "").removeprefix("/")
        shown = "" if not host or name.endswith(f"@{host}") else f"{host}, "
        places[name] = f" ({shown}{counted(member.partitions, 'partition')})"
    return places


def _expectation(expectation: Expectation, *, is_page: bool) -> Iterator[documents.Block]:
    yield documents.Text(
        f"Expected: {counted(expectation.rebalances, 'rebalance')}, {counted(expectation.moved, 'partition')} moved, "
        f"{expectation.without_owner_s:g} partition-seconds without an owner."
    )
    lines = documents.Bullets(tuple(line for line in expectation.arithmetic if not line.startswith(_ASSUMED)))
    yield documents.Details(summary="How this is computed", blocks=(lines,)) if is_page else lines


def assumptions(plan: Plan) -> tuple[str, ...]:
    """The assumptions in the figures of all steps, each line once."""
    lines = [line for step in plan.steps if step.expectation for line in step.expectation.arithmetic]
    return tuple(dict.fromkeys(line.removeprefix(_ASSUMED) for line in lines if line.startswith(_ASSUMED)))


def rehearsed_line(rehearsal: PlanRehearsal) -> str:
    result = "safe in each of them" if rehearsal.safe else "not safe"
    return f"Rehearsed on {rehearsal.at}, {counted(rehearsal.seeds, 'seed')}: {result}."


def rehearsal_blocks(plan: Plan, rehearsal: Rehearsal | None) -> Iterator[documents.Block]:
    """The figures of each step in a rehearsal, or the events of an unsafe run; nothing without a rehearsal."""
    noted = plan.rehearsal
    if noted is None:
        return
    yield documents.Heading("Rehearsal")
    yield documents.Text(rehearsed_line(noted))
    if noted.safe:
        yield documents.Table(columns=documents.columns("#STEP", "FIGURES", *_PLAYED), rows=list(_rows(plan)))
    else:
        yield documents.Code(noted.unsafe, language="text")
    if rehearsal and rehearsal.detailed:
        from cli.verbs.rehearse.picture import picture_of

        picture = picture_of(plan.group, rehearsal.detailed)
        yield from () if picture is None else (picture,)
    if noted.story:
        yield documents.Text("Last events of the first seed that is not safe:")
        yield documents.Code(noted.story, language="text")


def _rows(plan: Plan) -> Iterator[list[Cell]]:
    for number, step in enumerate(plan.steps, 1):
        played = step.rehearsed
        if step.expectation is not None:
            yield [number, "computed", *_computed(step), None, None, None]
        for what, figures in () if played is None else (("median", played.median), ("worst", played.worst)):
            yield [number, what, *documents.cells_of(documents.fields(figures, *_FIGURES))]
