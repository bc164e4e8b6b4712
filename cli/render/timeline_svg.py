"""A timeline as an SVG drawing, to stand in a page, with the colours of its style sheet, or as a file of its own.

From the top: the steps; the group's type and assignor; a lane per member, coloured by what it speaks, with bars as
high as it owns partitions; what each moment costs. Of a large group, bars of members and partitions by what they speak.
Colour is never alone: kinds have letters too, and everything has a title.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from string import ascii_uppercase

from cli.render.page_style import COLOURS, DRAWING, KINDS
from cli.render.runs import runs
from cli.render.svg_text import LETTER, fitting, markup, shortened
from migration.timeline import AWAY, Lane, Timeline

WIDTH = 1000
LEFT = 170
"""Where the columns begin: names stand before."""
WIDEST = 90
"""Of a column: few moments need not fill the page."""
LANE = 34
CROWD = 130
"""How high the bars of a large group are."""
GAP = 14


def draw(timeline: Timeline, title: str, text: str, name: str) -> Iterator[str]:
    """The lines of the `svg` element; `name` keeps its ids apart from those of other drawings on the page."""
    sketch = _Sketch(timeline)
    body = list(sketch.lines())
    yield f'<svg role="img" aria-labelledby="{name}-title {name}-text" viewBox="0 0 {WIDTH} {sketch.height:.0f}">\n'
    yield f'<title id="{name}-title">{markup(title)}</title>\n<desc id="{name}-text">{markup(text)}</desc>\n'
    yield (
        '<defs><pattern id="away" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>\n'
    )
    yield from body
    yield "</svg>\n"


def draw_file(timeline: Timeline, title: str, text: str) -> Iterator[str]:
    """The lines of a file of its own, with the styles of a page."""
    head, *rest = draw(timeline, title, text, "drawing")
    yield head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    yield f"<style>{COLOURS}{DRAWING}{KINDS}</style>\n"
    yield '<rect width="100%" height="100%" style="fill: var(--paper)"/>\n'
    yield from rest


class _Sketch:
    """Draws from top to bottom."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.count = len(timeline.frames)
        self.column = min(WIDEST, (WIDTH - LEFT - 6) / self.count)
        self.height = 0.0
        self.letters = _letters(timeline.kinds)

    def lines(self) -> Iterator[str]:
        """All of it."""
        yield from self._legend()
        top = self.height
        below = [*self._steps(), *self._rows()]
        # Lines first: what is drawn later covers them.
        yield from self._rules(top)
        yield from below
        self.height += 4

    def _rows(self) -> Iterator[str]:
        yield from self._group()
        if self.timeline.lanes:
            most = max(1, *(max(lane.partitions) for lane in self.timeline.lanes))
            yield from self._note(f"numbers and bars: partitions of each member, at most {most:,}")
            for lane in self.timeline.lanes:
                yield from self._lane(lane, most)
        else:
            yield from self._crowd("members", self.timeline.members)
            yield from self._crowd("partitions", self.timeline.partitions)
        self.height += GAP / 2
        frames = self.timeline.frames
        yield from self._cost("rebalances", [frame.rebalances for frame in frames])
        yield from self._cost("partitions moved", [frame.moved for frame in frames])
        yield from self._cost("without owner, s", [frame.without_owner_s for frame in frames])

    def _x(self, frame: int) -> float:
        return LEFT + frame * self.column

    def _legend(self) -> Iterator[str]:
        """Swatches, as many in a line as fit."""
        x, y = 0.0, 4.0
        entries = [
            (self._style(kind)[1], self.letters[kind], label)
            for kind, label in enumerate(self.timeline.kinds)
        ]
        if not self.timeline.lanes and any(self.timeline.partitions[-1]):
            entries.append(("none", "", "no owner"))
        for style, letter, label in entries:
            text = f"{letter} {label}" if letter else label
            width = 30 + LETTER * len(text)
            if x and x + width > WIDTH:
                x, y = 0.0, y + 20
            yield f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="14" height="12"/>'
            yield self._write(x + 20, y + 10, text)
            x += width
        self.height = y + 12 + GAP

    def _steps(self) -> Iterator[str]:
        frames = self.timeline.frames
        for step, run in runs([frame.step for frame in frames]):
            x, width = self._x(run.start), len(run) * self.column
            label = f"Step {step}" if step else "As found"
            if LETTER * len(label) > width:
                label = str(step) if step else ""
            yield self._write(x + 3, self.height + 12, label, "strong")
        self.height += 18
        marks = [f"{frame.round}{_mark(frame.title)}" if frame.step else "" for frame in frames]
        halves = any(map(_mark, (frame.title for frame in frames)))
        label = "round: \u2193 stop, \u2191 start" if halves else "round"
        yield self._write(LEFT - 8, self.height + 10, label, "faint end")
        every = ceil(LETTER * (1 + max(map(len, marks))) / self.column)
        for position in range(0, self.count, every):
            middle = self._x(position) + self.column / 2
            yield self._write(middle, self.height + 10, marks[position], "faint middle")
        self.height += 16

    def _group(self) -> Iterator[str]:
        yield self._write(LEFT - 8, self.height + 15, "group", "end strong")
        for group, run in runs([frame.group for frame in self.timeline.frames]):
            x, width = self._x(run.start), len(run) * self.column
            yield (
                f"<g><title>{markup(f'group: {group}, {self._span(run)}')}</title>"
                f'<rect class="box" x="{x:.1f}" y="{self.height:.1f}" width="{width:.1f}" height="22"/>'
            )
            yield self._write(x + 4, self.height + 15, fitting(group, width - 6)) + "</g>"
        self.height += 22 + GAP

    def _lane(self, lane: Lane, most: int) -> Iterator[str]:
        y = self.height
        label = shortened(lane.name, LEFT - 12)
        yield f"<g><title>{markup(lane.name)}</title>{self._write(LEFT - 8, y + 20, label, 'end')}</g>"
        for kind, run in runs(lane.kinds):
            x, width = self._x(run.start), len(run) * self.column
            tint, _ = self._style(kind)
            what = f"{lane.name}: {self.timeline.kinds[kind]}, {self._span(run)}"
            yield (
                f"<g><title>{markup(what)}</title>"
                f'<rect class="{tint}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{LANE - 4}"/>'
            )
            yield from self._bars(lane, kind, run, most)
            yield self._write(x + 2, y + 10, self.letters[kind], "strong") + "</g>"
        self.height += LANE

    def _bars(self, lane: Lane, kind: int, run: range, most: int) -> Iterator[str]:
        """How many partitions the member owns, frame by frame: a number, and a bar below."""
        _, solid = self._style(kind)
        bottom = self.height + LANE - 4
        for frame in run:
            owned = lane.partitions[frame]
            high = 16 * owned / most
            if owned:
                yield (
                    f'<rect class="{solid}" x="{self._x(frame) + 1:.1f}" y="{bottom - high:.1f}" '
                    f'width="{self.column - 2:.1f}" height="{high:.1f}"/>'
                )
            if self.timeline.kinds[kind] != AWAY and LETTER * len(str(owned)) + 10 < self.column:
                yield self._write(self._x(frame + 1) - 3, self.height + 11, str(owned), "end")

    def _crowd(self, what: str, rows: Sequence[Sequence[int]]) -> Iterator[str]:
        """Bars of all members or partitions, stacked by kind; the last row of partitions are without an owner."""
        most = max(sum(column) for column in zip(*rows, strict=True))
        top, bottom = self.height, self.height + CROWD
        yield self._write(LEFT - 8, top + 12, what, "end strong")
        yield self._write(LEFT - 8, top + 28, f"{most:,}", "end faint")
        yield self._write(LEFT - 8, bottom, "0", "end faint")
        for frame in range(self.count):
            base = bottom
            for kind, row in enumerate(rows):
                if not row[frame]:
                    continue
                high = CROWD * row[frame] / most
                owner = self.timeline.kinds[kind] if kind < len(self.timeline.kinds) else "no owner"
                style = self._style(kind)[1] if kind < len(self.timeline.kinds) else "none"
                base -= high
                title = f"{self.timeline.frames[frame].title}: {row[frame]:,} {what}: {owner}"
                yield (
                    f'<rect class="{style}" x="{self._x(frame) + 0.5:.1f}" y="{base:.1f}" '
                    f'width="{self.column - 1:.1f}" height="{high:.1f}"><title>{markup(title)}</title></rect>'
                )
        self.height = bottom + GAP

    def _cost(self, what: str, values: Sequence[float]) -> Iterator[str]:
        """A row of bars, with their numbers where they fit."""
        most = max(values)
        texts = [f"{value:,.0f}" for value in values]
        written = next((each for each in (texts, [*map(_brief, values)]) if self._fits(each)), None)
        bottom = self.height + 34
        yield self._write(LEFT - 8, bottom - 4, what if written else f"{what}, at most {most:,.0f}", "end")
        for frame, (value, text) in enumerate(zip(values, texts, strict=True)):
            if not value:
                continue
            high = 18 * value / most
            yield (
                f"<g><title>{markup(f'{self.timeline.frames[frame].title}: {text} {what}')}</title>"
                f'<rect class="bar" x="{self._x(frame) + 1:.1f}" y="{bottom - high:.1f}" '
                f'width="{self.column - 2:.1f}" height="{high:.1f}"/>'
            )
            if written:
                middle = self._x(frame) + self.column / 2
                yield self._write(middle, bottom - high - 3, written[frame], "middle")
            yield "</g>"
        self.height = bottom + 4

    def _fits(self, texts: Sequence[str]) -> bool:
        return max(map(len, texts)) * LETTER + 2 < self.column

    def _rules(self, top: float) -> Iterator[str]:
        """Lines where steps begin."""
        for _, run in runs([frame.step for frame in self.timeline.frames]):
            x = self._x(run.start)
            yield f'<line class="step" x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{self.height:.1f}"/>'

    def _note(self, text: str) -> Iterator[str]:
        yield self._write(LEFT, self.height, text, "faint")
        self.height += 6

    def _style(self, kind: int) -> tuple[str, str]:
        """Classes of the ground and of bars."""
        if self.timeline.kinds[kind] == AWAY:
            return "away", "away"
        # Stopped members have no colour of their own.
        number = sum(1 for label in self.timeline.kinds[:kind] if label != AWAY) % 8
        return f"t{number}", f"k{number}"

    def _span(self, run: range) -> str:
        first, last = self.timeline.frames[run.start].title, self.timeline.frames[run[-1]].title
        return first if first == last else f"from {first} to {last}"

    @staticmethod
    def _write(x: float, y: float, text: str, style: str = "") -> str:
        classes = f' class="{style}"' if style else ""
        return f'<text{classes} x="{x:.1f}" y="{y:.1f}">{markup(text)}</text>\n'


def _letters(kinds: Sequence[str]) -> tuple[str, ...]:
    """A letter for each kind but that of stopped members, which are hatched."""
    left = iter(ascii_uppercase)
    return tuple("" if kind == AWAY else next(left, "") for kind in kinds)


def _brief(number: float) -> str:
    """A number in four characters or so: `950`, `15k`, `2.5M`; whole numbers stand in titles."""
    if number < 1000:
        return f"{number:.0f}"
    thousands = number / 1000
    if thousands < 999.5:
        return f"{thousands:.1f}k" if thousands < 9.95 else f"{thousands:.0f}k"
    return f"{thousands / 1000:.1f}M"


def _mark(title: str) -> str:
    """Which half of a round a moment is, where there are two."""
    return {"stop": "\u2193", "start": "\u2191"}.get(title.rpartition(": ")[2], "")
