"""The part of a runbook that shows the rehearsal of its plan."""

from __future__ import annotations

from collections.abc import Iterator

from cli.render.cells import Cell, duration_cell
from cli.render.document import Block, Code, Heading, Table, Text, columns
from cli.verbs.rehearse.action import Rehearsal
from cli.verbs.rehearse.picture import picture_of
from groups.counts import counted
from migration.model import Plan, PlanRehearsal

_COLUMNS = ("#REBALANCES", "#MOVED", "#UNOWNED-TIME", "#READ-TWICE", "#COMMITS-REFUSED", "#LASTED")


def rehearsal_blocks(plan: Plan, found: PlanRehearsal, rehearsal: Rehearsal | None) -> Iterator[Block]:
    """Time, seeds and result: the figures of each step, or the events of an unsafe run."""
    yield Heading("Rehearsal")
    seeds = counted(found.seeds, "seed")
    if found.safe:
        yield Text(f"Rehearsed on {found.at}, {seeds}: safe in each of them.")
        yield Table(columns=columns("#STEP", "FIGURES", *_COLUMNS), rows=list(_rows(plan)))
    else:
        yield Text(f"Rehearsed on {found.at}, {seeds}: not safe.")
        yield Code(found.unsafe, language="text")
    picture = picture_of(plan.group, rehearsal.detailed) if rehearsal and rehearsal.detailed else None
    if picture is not None:
        yield picture
    if found.story:
        yield Text("Last events of the first seed that is not safe:")
        yield Code(found.story, language="text")


def _rows(plan: Plan) -> Iterator[list[Cell]]:
    """A row for each step: the computed figures, and the figures of the rehearsals."""
    for number, step in enumerate(plan.steps, 1):
        expected, played = step.expectation, step.rehearsed
        if expected is not None:
            computed = (expected.rebalances, expected.moved, duration_cell(expected.without_owner_s))
            yield [number, "computed", *computed, None, None, None]
        for what, found in () if played is None else (("median", played.median), ("worst", played.worst)):
            yield [
                number,
                what,
                found.rebalances,
                found.moved,
                duration_cell(found.without_owner_s),
                found.read_twice,
                found.commits_refused,
                duration_cell(found.lasted_s),
            ]
