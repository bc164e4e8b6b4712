"""The rebalances of one group as a drawing: a column for each, or for several where there are many.

From the top: days and times; the protocol and its assignor; a row for each cause; members; partitions moved and
revoked; how long it took, and how long it had been quiet. Columns are as far apart as they are many, not as the time
between them: a storm of a minute in a month is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from itertools import pairwise
from math import ceil
from typing import TypeAlias

from cli.render.cells import duration_text
from cli.render.page_style import COLOURS, DRAWING, KINDS
from cli.render.runs import runs
from cli.render.svg_text import LETTER, fitting, markup, shortened_to
from pipeline.report.numbers import CAUSES, GroupTimeline, Mark

WIDTH = 1000
LEFT = 130
"""Where the columns begin: what they show stands before."""
WIDEST = 90
"""Of a column: few rebalances need not fill the page."""
BOLD = 7.3
"""About how wide a bold letter is."""
UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "m"), (1.0, "s"), (0.001, "ms"))
CAUSE_STYLES = ("k1", "k3", "k5", "k2", "k7", "k4", "k6", "k0")
LONGEST_NAME = 120
Words: TypeAlias = Callable[[float], str]


def timeline_svg(timeline: GroupTimeline) -> str:
    """A file of its own: an SVG document with the styles of a page, light and dark."""
    head, *rest = draw(timeline, "drawing")
    return "".join(
        [
            head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1),
            f"<style>{COLOURS}{DRAWING}{KINDS}</style>\n",
            '<rect width="100%" height="100%" style="fill: var(--paper)"/>\n',
            *rest,
        ]
    )


def draw(timeline: GroupTimeline, name: str) -> Iterator[str]:
    """The lines of the `svg` element; `name` keeps its ids apart from those of other drawings on the page."""
    sketch = _Sketch(timeline.marks)
    body = list(sketch.lines())
    count = sum(mark.rebalances for mark in timeline.marks)
    title = f"Rebalances of {shortened_to(timeline.group, LONGEST_NAME)}: {count:,}"
    yield f'<svg role="img" aria-labelledby="{name}-title" viewBox="0 0 {WIDTH} {sketch.height:.0f}">\n'
    yield f'<title id="{name}-title">{markup(title)}</title>\n'
    yield from body
    yield "</svg>\n"


class _Sketch:
    """Draws from top to bottom."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self.marks = marks
        self.column = min(WIDEST, (WIDTH - LEFT - 6) / max(1, len(marks)))
        self.height = 4.0
        self.titles = [_title(mark) for mark in marks]

    def lines(self) -> Iterator[str]:
        """All of it."""
        if not self.marks:
            yield self._write(0, 16, "no rebalances")
            self.height = 24
            return
        yield from self._days()
        yield from self._times()
        yield from self._protocols()
        yield from self._causes()
        marks = self.marks
        yield from self._bars("members", [mark.members for mark in marks], "k1", _number)
        yield from self._bars("partitions moved", [mark.moved for mark in marks], "bar", _number)
        yield from self._bars("revoked", [mark.revoked for mark in marks], "bar", _number)
        yield from self._bars("took", [mark.rebalancing_s for mark in marks], "bar", _seconds, _brief)
        quiet = [0.0, *(_between(one, two) for one, two in pairwise(marks))]
        yield from self._bars("quiet before", quiet, "bar", _seconds, _brief)
        self.height += 6

    def _x(self, place: int) -> float:
        return LEFT + place * self.column

    def _days(self) -> Iterator[str]:
        days = [mark.start.astimezone(UTC).date() for mark in self.marks]
        for day, run in runs(days):
            x, width = self._x(run.start), len(run) * self.column
            labels = (f"{day.day} {day:%b} {day.year}", f"{day.day} {day:%b}", str(day.day), "")
            label = next(text for text in labels if _fits(text, width - 3, BOLD))
            yield f'<line class="step" x1="{x:.1f}" y1="{self.height:.1f}" x2="{x:.1f}" y2="{self.height + 16:.1f}"/>'
            yield self._write(x + 3, self.height + 12, label, "strong")
        self.height += 16

    def _times(self) -> Iterator[str]:
        every = ceil(LETTER * 9 / self.column)
        for place in range(0, len(self.marks), every):
            text = f"{self.marks[place].start.astimezone(UTC):%H:%M:%S}"
            yield self._write(self._x(place) + 3, self.height + 11, text, "faint")
        self.height += 18

    def _protocols(self) -> Iterator[str]:
        yield self._write(LEFT - 8, self.height + 15, "protocol", "end strong")
        spoken = [
            f"{mark.protocol}, {mark.assignor}" if mark.assignor else mark.protocol for mark in self.marks
        ]
        for protocol, run in runs(spoken):
            x, width = self._x(run.start), len(run) * self.column
            yield (
                f"<g><title>{markup(shortened_to(protocol, LONGEST_NAME))}</title>"
                f'<rect class="box" x="{x:.1f}" y="{self.height:.1f}" width="{width:.1f}" height="22"/>'
            )
            yield self._write(x + 4, self.height + 15, fitting(protocol, width - 6)) + "</g>"
        self.height += 28

    def _causes(self) -> Iterator[str]:
        """A row for each cause that there was."""
        for cause, style in enumerate(CAUSE_STYLES):
            counts = [mark.causes[cause] for mark in self.marks]
            if not any(counts):
                continue
            yield self._write(LEFT - 8, self.height + 12, CAUSES[cause], "end")
            for place, count in enumerate(counts):
                if count:
                    yield self._box(place, self.height, 15, style)
                    if count > 1 and _fits(f"{count:,}", self.column - 4, BOLD):
                        yield self._write(self._x(place) + 4, self.height + 12, f"{count:,}", "strong")
            self.height += 18
        self.height += 4

    def _bars(self, what: str, values: Sequence[float | None], style: str, *scales: Words) -> Iterator[str]:
        """A row of bars, with their numbers in the first of the scales in which all of them fit; where nothing is
        known there is no bar."""
        words = scales[0]
        written = next((each for each in scales if self._all_fit(map(each, filter(None, values)))), None)
        known = [value for value in values if value is not None]
        most, bottom = max(known, default=0), self.height + 36
        least = "none" if known else "not known"
        yield self._write(LEFT - 8, bottom - 14, what, "end")
        yield self._write(LEFT - 8, bottom - 2, f"at most {words(most)}" if most else least, "end faint")
        for place, number in enumerate(values):
            if not number:
                continue
            high = max(1.0, 22 * number / most)
            yield self._box(place, bottom - high, high, style)
            if written:
                middle = self._x(place) + self.column / 2
                yield self._write(middle, bottom - high - 3, written(number), "middle")
        self.height = bottom + 6

    def _all_fit(self, texts: Iterable[str]) -> bool:
        return all(_fits(text, self.column - 2) for text in texts)

    def _box(self, place: int, y: float, height: float, style: str) -> str:
        gap = min(1.0, self.column / 8)
        return (
            f'<rect class="{style}" x="{self._x(place) + gap:.1f}" y="{y:.1f}" width="{self.column - 2 * gap:.1f}" '
            f'height="{height:.1f}"><title>{markup(self.titles[place])}</title></rect>\n'
        )

    @staticmethod
    def _write(x: float, y: float, text: str, style: str = "") -> str:
        classes = f' class="{style}"' if style else ""
        return f'<text{classes} x="{x:.1f}" y="{y:.1f}">{markup(text)}</text>\n' if text else ""


def _title(mark: Mark) -> str:
    """What a column says when it is pointed at."""
    causes = ", ".join(cause if count == 1 else f"{cause} {count:,}" for cause, count in _causes_of(mark))
    what = (
        f"epoch {mark.epoch}"
        if mark.rebalances == 1
        else f"{mark.rebalances:,} rebalances to epoch {mark.epoch}"
    )
    return (
        f"{mark.start.astimezone(UTC):%Y-%m-%d %H:%M:%S}, {what}: {causes}; members {mark.members:,} "
        f"(+{mark.joined:,} -{mark.left:,}); moved {mark.moved:,}, revoked {mark.revoked:,}; "
        + ("duration not known" if mark.rebalancing_s is None else _seconds(mark.rebalancing_s))
    )


def _causes_of(mark: Mark) -> list[tuple[str, int]]:
    return [(cause, count) for cause, count in zip(CAUSES, mark.causes, strict=True) if count]


def _between(one: Mark, two: Mark) -> float:
    return max(0.0, (two.start - one.end).total_seconds())


def _seconds(seconds: float) -> str:
    return duration_text(round(seconds * 1000))


def _brief(seconds: float) -> str:
    """A time in its greatest unit, cut off."""
    unit, letter = next((unit for unit in UNITS if seconds >= unit[0]), UNITS[-1])
    return f"{seconds // unit:.0f}{letter}"


def _number(number: float) -> str:
    return f"{number:,}"


def _fits(text: str, width: float, letter: float = LETTER) -> bool:
    return letter * len(text) <= width
