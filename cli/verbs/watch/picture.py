"""A recording as a picture: who owned each partition over time, and when nobody did."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from cli.errors import CommandError, UsageError
from cli.render.page_style import COLOURS, DRAWING, KINDS
from cli.render.svg_text import LETTER, fitting, markup, shortened
from cli.verbs.watch.course import Course, GroupCourse, owners_are_shown
from cli.verbs.watch.events import Place, owners_of
from cli.verbs.watch.recording import Recording
from cli.verbs.watch.words import clock_text, duration_text, places_text

WIDTH, LEFT, RIGHT = 1000, 190, 16
LANE = 20
MOST_LANES = 60
"""Lanes that can still be told apart. Partitions that always had the same owner share one."""
MOST_MARKS = 10
UNKNOWN = "?"
"""What does not show: who owns what while a classic group rebalances, or a group that nobody could ask about."""
KINDS_COUNT = 8

Owner: TypeAlias = str | None
"""What members are called, joined; None: nobody."""


@dataclass(frozen=True, slots=True)
class Run:
    """Something that stayed the same from one look to another."""

    start_ms: int
    end_ms: int
    value: Owner


@dataclass(slots=True)
class Track:
    """Runs in the making: a value from each look at which it changed."""

    changes: list[tuple[int, Owner]] = field(default_factory=list)

    def at(self, ms: int, value: Owner) -> None:
        """What it was at a look."""
        if not self.changes or self.changes[-1][1] != value:
            self.changes.append((ms, value))

    def runs(self, end_ms: int) -> tuple[Run, ...]:
        """All of it, the last value lasting to the end."""
        ends = [*(ms for ms, _ in self.changes[1:]), end_ms]
        return tuple(Run(start, end, value) for (start, value), end in zip(self.changes, ends, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Partitions of which the same is to be told."""

    places: tuple[Place, ...]
    runs: tuple[Run, ...]

    @property
    def without_owner_ms(self) -> int:
        """How long nobody owned them."""
        return sum(run.end_ms - run.start_ms for run in self.runs if run.value is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A group over time."""

    group: str
    states: tuple[Run, ...]
    lanes: tuple[Lane, ...]
    """Those that are drawn."""
    left_out: int
    """Partitions that are not: those that changed least."""


def write_picture(file: Path, recording: Recording, *, force: bool) -> None:
    """Write the picture of all recorded groups; UsageError when the file is there already, unless `force`."""
    how = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
    try:
        with os.fdopen(os.open(file, how, 0o666), "w", encoding="utf-8") as stream:
            stream.writelines(picture_lines(recording))
    except FileExistsError:
        raise UsageError(
            f"{file} is there already: name another file, or overwrite it with --force"
        ) from None
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None


def stories(recording: Recording) -> list[Story]:
    """Each group of a recording over time."""
    course = Course()
    states: dict[str, Track] = {}
    tracks: dict[str, dict[Place, Track]] = {}
    end_ms = _end_ms(recording)
    for seen in recording.observations:
        course, _ = course.step(seen)
        for name, found in course.groups.items():
            is_seen = name in seen.groups
            states.setdefault(name, Track()).at(seen.at_ms, _state(found) if is_seen else UNKNOWN)
            own = tracks.setdefault(name, {})
            owners = _owners(found, course.labels) if is_seen else {}
            for place in found.wanted | own.keys():
                value = owners.get(place) if is_seen else UNKNOWN
                own.setdefault(place, Track()).at(seen.at_ms, value)
    return [_story(name, track, tracks[name], end_ms) for name, track in states.items()]


def picture_lines(recording: Recording) -> Iterator[str]:
    """The SVG file."""
    told = stories(recording)
    start_ms, end_ms = recording.observations[0].at_ms, _end_ms(recording)
    axis = _Axis(start_ms, end_ms)
    body: list[str] = []
    y = 34.0
    for story in told:
        lines, y = _drawn(story, axis, y)
        body += lines
    every = f", a look every {duration_text(recording.header.every_ms)}" if recording.header.every_ms else ""
    title = f"{', '.join(story.group for story in told)}: who owned what"
    last_ms = recording.observations[-1].at_ms
    text = (
        f"{clock_text(start_ms)} to {clock_text(last_ms)} UTC{every}; what changed, did so before its border"
    )
    height = y + 4
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}">\n'
    )
    yield f"<title>{markup(title)}</title>\n<desc>{markup(text)}</desc>\n"
    yield f"<style>{COLOURS}{DRAWING}{KINDS}</style>\n"
    yield (
        '<defs><pattern id="away" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>\n'
    )
    yield f'<rect width="{WIDTH}" height="{height:.0f}" style="fill: var(--paper)"/>\n'
    yield _write(LEFT, 16, text, "faint")
    yield from _legend()
    yield from body
    yield "</svg>\n"


@dataclass(frozen=True, slots=True)
class _Axis:
    """Time, from left to right."""

    start_ms: int
    end_ms: int

    def x(self, ms: int) -> float:
        """Where a moment is; a clock that was set back draws to the left of where it should."""
        share = (ms - self.start_ms) / (self.end_ms - self.start_ms)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def marks(self) -> Iterator[int]:
        """Round moments, at most `MOST_MARKS`."""
        step = next(step for step in _steps() if (self.end_ms - self.start_ms) / step <= MOST_MARKS)
        first = -(-self.start_ms // step) * step
        yield from range(first, self.end_ms + 1, step)


def _steps() -> Iterator[int]:
    """100 ms, 200 ms, 500 ms, 1 s, … in milliseconds."""
    power = 100
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _state(found: GroupCourse) -> str:
    return "no such group" if found.shown is None else found.shown.state.value


def _owners(found: GroupCourse, labels: Mapping[str, str]) -> dict[Place, str]:
    """`UNKNOWN` where the look did not show it: of what had an owner in the rebalance before, and nobody has left."""
    if found.shown is None or found.belief is None:
        return {}
    if not owners_are_shown(found.shown):
        return dict.fromkeys(owners_of(found.belief), UNKNOWN)
    owners = owners_of(found.shown)
    return {place: ", ".join(labels.get(each, each) for each in ids) for place, ids in owners.items()}


def _end_ms(recording: Recording) -> int:
    """Where the picture ends: a little behind the last look, or what that showed could not be seen."""
    first, last = recording.observations[0].at_ms, recording.observations[-1].at_ms
    return max(last + max(recording.header.every_ms, (last - first) // 50), first + 1)


def _story(name: str, state: Track, tracks: Mapping[Place, Track], end_ms: int) -> Story:
    together: dict[tuple[Run, ...], list[Place]] = {}
    for place in sorted(tracks):
        together.setdefault(tracks[place].runs(end_ms), []).append(place)
    lanes = [Lane(places=tuple(places), runs=runs) for runs, places in together.items()]
    drawn = sorted(lanes, key=lambda lane: (-len(lane.runs), lane.places))[:MOST_LANES]
    count = sum(len(lane.places) for lane in lanes) - sum(len(lane.places) for lane in drawn)
    return Story(
        group=name,
        states=state.runs(end_ms),
        lanes=tuple(sorted(drawn, key=lambda lane: lane.places)),
        left_out=count,
    )


def _drawn(story: Story, axis: _Axis, y: float) -> tuple[list[str], float]:
    """The lines of a group, and where the next one begins."""
    kinds = _kinds(story)
    lines = [_write(4, y + 14, story.group, "strong")]
    y += 22
    lines.append(_write(LEFT - 8, y + 14, "state", "end"))
    for run in story.states:
        lines += _bar(axis, run, y, "away" if run.value == UNKNOWN else "box", run.value or "", story.group)
    y += LANE + 4
    # Rules first: what is drawn later covers them.
    bottom = y + LANE * len(story.lanes)
    for ms in axis.marks():
        x = axis.x(ms)
        lines.append(f'<line class="step" x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"/>\n')
        lines.append(_write(x, bottom + 12, clock_text(ms)[: -4 if ms % 1000 == 0 else None], "faint middle"))
    for lane in story.lanes:
        label = _label(lane.places)
        lines.append(
            f"<g><title>{markup(label + _without_owner(lane))}</title>"
            f"{_write(LEFT - 8, y + 14, shortened(label, LEFT - 12), 'end')}</g>"
        )
        for run in lane.runs:
            if run.value is None:
                lines += _bar(axis, run, y, "none", "", f"{label}: no owner")
            elif run.value == UNKNOWN:
                lines += _bar(axis, run, y, "away", "", f"{label}: not shown")
            else:
                lines += _bar(axis, run, y, f"t{kinds[run.value]}", run.value, f"{label}: {run.value}")
        y += LANE
    y += 16
    if story.left_out:
        lines.append(_write(LEFT, y + 12, f"{story.left_out:,} more partitions, which changed less", "faint"))
        y += 16
    return lines, y + 12


def _kinds(story: Story) -> dict[Owner, int]:
    """A colour for each owner, in order of appearance."""
    owners = dict.fromkeys(run.value for lane in story.lanes for run in lane.runs)
    return {
        owner: number % KINDS_COUNT
        for number, owner in enumerate(owner for owner in owners if owner not in (None, UNKNOWN))
    }


def _bar(axis: _Axis, run: Run, y: float, style: str, label: str, title: str) -> Iterator[str]:
    x, end = axis.x(run.start_ms), axis.x(run.end_ms)
    width = max(end - x, 0.5)
    lasted = duration_text(max(run.end_ms - run.start_ms, 0))
    told = f"{title}, from {clock_text(run.start_ms)} for {lasted}"
    yield (
        f"<g><title>{markup(told)}</title>"
        f'<rect class="{style}" x="{x:.1f}" y="{y + 1:.1f}" width="{width:.1f}" height="{LANE - 3}"/>'
    )
    if style.startswith("t"):  # ground and, solid, a strip below: owners are told apart at a glance
        yield (
            f'<rect class="k{style[1:]}" x="{x:.1f}" y="{y + LANE - 5:.1f}" width="{width:.1f}" height="3"/>'
        )
    text = fitting(label, width - 6)
    yield (_write(x + 3, y + 13, text) if text else "") + "</g>\n"


def _legend() -> Iterator[str]:
    x = WIDTH - RIGHT - 2 * (26 + LETTER * 14)
    for style, text in (("none", "no owner"), ("away", "not shown")):
        yield f'<rect class="{style}" x="{x:.1f}" y="7" width="14" height="12"/>\n'
        yield _write(x + 20, 17, text)
        x += 26 + LETTER * 14


def _without_owner(lane: Lane) -> str:
    return f", {duration_text(lane.without_owner_ms)} without an owner" if lane.without_owner_ms else ""


def _label(places: Sequence[Place]) -> str:
    partitions: dict[str, list[int]] = {}
    for topic, number in places:
        partitions.setdefault(topic, []).append(number)
    return places_text(partitions)


def _write(x: float, y: float, text: str, style: str = "") -> str:
    classes = f' class="{style}"' if style else ""
    return f'<text{classes} x="{x:.1f}" y="{y:.1f}">{markup(text)}</text>\n'
