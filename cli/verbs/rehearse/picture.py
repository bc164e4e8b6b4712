"""The picture of a rehearsal: the plan's rounds and their gates, above the members' lanes of a simulation."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from cli.errors import CommandError
from cli.output import write_file
from cli.render.document import Picture
from cli.render.lanes import Axis, Box, Drawing, Label, Lane, draw_file, labeled_box
from cli.verbs.rehearse.action import Rehearsal
from cli.verbs.simulate.picture import LEGEND, axis_of, costs_in_words, member_lanes, title_lane
from coordinator.simulation.result import RunResult
from groups.counts import share
from groups.times import seconds_text
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.simulation import RehearsalCosts

BEFORE_S = 5.0  # Seconds of the settled group that are shown before the first round
HEIGHT = 18
CLOSED = "bar"


def write_picture(file: Path | None, rehearsal: Rehearsal) -> None:
    """Draw the detailed run, if there is a file for it. CommandError if no round started in it."""
    if file is None:
        return
    run = rehearsal.detailed
    picture = None if run is None else picture_of(rehearsal.request.plan.group, run)
    if picture is None:
        raise CommandError("--svg: no round was started, so there is nothing to draw")
    write_file(file, draw_file(picture.drawing()))


def picture_of(group: str, run: Rehearsed) -> Picture | None:
    """The owners in a rehearsal; None if it was not played for a picture, or no round started."""
    result = run.result
    if result is None or not run.rounds:
        return None
    text = _in_words(run)
    return Picture(text=text, drawing=lambda: _drawing(group, run, result, text))


def _in_words(run: Rehearsed) -> str:
    opened = [round_ for round_ in run.rounds if round_.gate_open_after_s is not None]
    sentence = f"Seed {run.seed}: {share(len(opened), len(run.rounds), 'round')} ended with an open gate"
    return f"{sentence}; {run.unsafe[0]}." if run.unsafe else f"{sentence}."


def _drawing(group: str, run: Rehearsed, result: RunResult, text: str) -> Drawing:
    axis = axis_of(max(0.0, run.rounds[0].began_s - BEFORE_S), result.ended_s)
    # The formation of the group is not part of the rehearsal.
    shown = replace(
        result,
        callbacks=tuple(callback for callback in result.callbacks if callback.at_s >= axis.start),
        thrown=tuple(error for error in result.thrown if error.at_s >= axis.start),
    )
    costs = sum((round_.costs for round_ in run.rounds), RehearsalCosts())
    return Drawing(
        title=f"{group}: owners round by round",
        text=text,
        axis=axis,
        legend=((CLOSED, "gate closed"), *LEGEND),
        lanes=[
            title_lane(f"seed {run.seed}: {costs_in_words(costs)}", axis),
            Lane(height=HEIGHT + 4, texts=(Label("round", y=13),), spans=list(_boxes(run, axis))),
            *member_lanes(shown, axis),
        ],
    )


def _boxes(run: Rehearsed, axis: Axis) -> Iterator[Box]:
    begins = [round_.began_s for round_ in run.rounds]
    ends = [later for _, later in pairwise(begins)]
    last = run.rounds[-1]
    if run.back is not None:
        ends.append(last.began_s + (last.gate_open_after_s or 0.0))
    for round_, end_s in zip(run.rounds, [*ends, axis.end], strict=False):
        start, after_s = round_.began_s, round_.gate_open_after_s
        opens_s = end_s if after_s is None else min(start + after_s, end_s)
        after = "stays closed" if after_s is None else f"open after {seconds_text(after_s)}"
        title = f"step {round_.step}, round {round_.round}: gate {after}"
        closed = Box(start=start, end=opens_s, style=CLOSED, title=title, top=HEIGHT - 3, height=3)
        name = f"{round_.step}.{round_.round}"
        yield labeled_box(start, end_s, name, title, axis, height=HEIGHT, bars=(closed,))
    if run.back is not None:
        title = f"rollback to the start, in {seconds_text(run.back.lasted_s)}"
        yield labeled_box(ends[-1], axis.end, "back", title, axis, height=HEIGHT)
