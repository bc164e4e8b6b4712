"""The picture of a plan: what the group and its members speak and hold, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.output import write_file
from cli.render.document import Block, Heading, Picture
from migration.model import Plan
from migration.timeline import AWAY, Timeline, timeline_of

if TYPE_CHECKING:
    from cli.render.lanes import Drawing


def write_timeline(file: Path, plans: Sequence[Plan]) -> None:
    """Draw the only plan; UsageError when there are several, or one that has no course."""
    if len(plans) != 1:
        raise UsageError(f"--svg draws one plan; this is {len(plans)}")
    picture = picture_of(plans[0])
    if picture is None:
        raise UsageError(f"--svg: the plan of {plans[0].group} has no course that could be drawn")
    from cli.render.lanes import draw_file

    write_file(file, draw_file(picture.drawing()))


def timeline_blocks(plan: Plan) -> Iterator[Block]:
    """A heading and the picture; nothing where the plan could not be walked."""
    picture = picture_of(plan)
    if picture is not None:
        yield Heading("Timeline")
        yield picture


def picture_of(plan: Plan) -> Picture | None:
    """The course of the group, round by round; None where the plan could not be walked."""
    names = {
        member: name
        for step in plan.steps
        if step.course
        # A guest comes and goes without a round in the runbook.
        for ids, labels in zip(step.course.rounds, step.rounds, strict=False)
        for member, name in zip(ids, labels, strict=False)
    }
    rounds = sum(len(step.course.rounds) for step in plan.steps if step.course)
    timeline = timeline_of(plan.moments, names, rounds)
    if timeline is None:
        return None
    text = in_words(timeline)
    return Picture(text=text, drawing=lambda: _drawing(timeline, plan.group, text))


def _drawing(timeline: Timeline, group: str, text: str) -> Drawing:
    from cli.verbs.plan.drawing import timeline_drawing

    return timeline_drawing(timeline, f"What {group} and its members speak and own, round by round", text)


def in_words(timeline: Timeline) -> str:
    """What the picture shows, for whoever does not see it."""
    text = f"The group is {'; then '.join(_stretches(timeline))}. {_members(timeline)}."
    if timeline.left_out:
        text += f" {timeline.left_out:,} rounds are not drawn; they are like those beside them."
    return f"{text} Computed, not measured."


def _stretches(timeline: Timeline) -> Iterator[str]:
    """`classic, range` as found; `consumer, uniform` from step 1, round 1: start."""
    for group, frames in groupby(timeline.frames, key=lambda frame: frame.group):
        first = next(frames)
        yield f"{group} as found" if not first.step else f"{group} from {_since(first.title)}"


def _since(title: str) -> str:
    """`step 1, round 2 (start)`."""
    where, _, done = title.partition(": ")
    return f"{where} ({done})" if done else where


def _members(timeline: Timeline) -> str:
    return f"Members as found: {_counts(timeline, 0)}; at the end: {_counts(timeline, -1)}"


def _counts(timeline: Timeline, frame: int) -> str:
    counted = [
        (row[frame], kind)
        for kind, row in zip(timeline.kinds, timeline.members, strict=True)
        if row[frame] and kind != AWAY
    ]
    return ", ".join(f"{count:,} {kind}" for count, kind in counted) or "none"
