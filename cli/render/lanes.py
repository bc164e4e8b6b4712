"""Lanes over time, as SVG: a caller describes its picture (`Drawing`), with spans, bars and texts in each lane, over
one axis, and a legend. Colors are classes of the page's style sheet."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, count, groupby
from typing import TypeVar

from cli.render.page import COLORS, DRAWING, KINDS, shortened_to, text_html

WIDTH = 1000
LETTER = 6.3  # The approximate width of a letter, in the units of a drawing
AWAY, NONE = "away", "none"
"""Styles: hatched for absent or unknown things, and the style of partitions without an owner."""
_HATCH = (
    '<defs><pattern id="away" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>\n'
)
MOST_MARKS = 10
_DAY_MS = 86_400_000
_CLOCK_STEPS_MS = (
    *(100, 200, 500),
    *(1_000 * seconds for seconds in (1, 2, 5, 10, 15, 30)),
    *(60_000 * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(3_600_000 * hours for hours in (1, 2, 3, 6, 12)),
)
_MARGIN = 8  # The margin between a lane's name and the axis
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A horizontal axis of column numbers or times. Values outside its range are drawn at its ends."""

    left: float  # The x coordinate of its start; names of lanes are to the left of it
    start: float = 0.0
    end: float
    unit: float  # The width of a column, or of a unit of time

    def x(self, at: float) -> float:
        return self.left + (min(max(at, self.start), self.end) - self.start) * self.unit


@dataclass(frozen=True, slots=True)
class Label:
    """A text on the axis, or before it. `y` is the distance from the top of the lane."""

    text: str
    _: KW_ONLY
    y: float
    at: float | None = None  # The value on the axis; None means before the axis
    shift: float = 0.0  # The distance to the right of `at`
    style: str = "end"
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A box from one value of the axis to another; its contents have its title too."""

    start: float
    end: float
    style: str
    title: str = ""
    top: float = 0.0  # The distance from the top of the lane
    height: float
    gap: float = 0.0  # The space left at both ends
    bars: "tuple[Box, ...]" = ()
    texts: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane, drawn below the previous one. Later elements cover earlier ones, and all of them cover rules."""

    height: float
    texts: Sequence[Label] = ()
    spans: Sequence[Box] = ()
    rules: Sequence[float] = ()  # Values at which dashed lines start in this lane
    rule_height: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    title: str
    text: str = ""  # A description in words
    axis: Axis
    legend: Sequence[tuple[str, str]] = ()  # Styles and their meaning
    lanes: Sequence[Lane] = field(default_factory=tuple)
    top: float = 4.0


def columns_axis(count: int, left: float, widest: float) -> Axis:
    """An axis of `count` columns, each at most `widest` wide: a few columns need not fill the page."""
    return Axis(left=left, end=count, unit=min(widest, (WIDTH - left - 6) / max(1, count)))


def runs(values: Sequence[_Value]) -> Iterator[tuple[_Value, range]]:
    """Runs of consecutive equal values, with their indices."""
    for value, run in groupby(range(len(values)), key=values.__getitem__):
        places = list(run)
        yield value, range(places[0], places[-1] + 1)


def round_places(start_ms: int, end_ms: int) -> Iterator[int]:
    """Round times for the marks of an axis, in ms, at most `MOST_MARKS`."""
    return _places(start_ms, end_ms, (lead * 10**power for power in count(2) for lead in (1, 2, 5)))


def clock_places(start_ms: int, end_ms: int) -> Iterator[int]:
    """The same for times of the day: every 15 seconds, every half hour."""
    return _places(start_ms, end_ms, chain(_CLOCK_STEPS_MS, (_DAY_MS * days for days in count(1))))


def _places(start_ms: int, end_ms: int, steps: Iterable[int]) -> Iterator[int]:
    step = next(step for step in steps if (end_ms - start_ms) / step <= MOST_MARKS)
    yield from range(-(-start_ms // step) * step, end_ms + 1, step)


def fitting(text: str, width: float) -> str:
    """The text, cut to a width; a title contains all of it."""
    most = int(width / LETTER)
    return text if len(text) <= most else text[: most - 1] + "\u2026" if most > 2 else ""


def named_box(run: range, name: str, title: str, column: float) -> Box:
    """A box around columns of the width `column`, with as much of its name in it as fits."""
    text = Label(fitting(name, len(run) * column - 6), y=15, at=run.start, shift=4, style="")
    return Box(start=run.start, end=run.stop, style="box", title=title, height=22, texts=(text,))


def labeled_box(
    start: float,
    end: float,
    name: str,
    title: str,
    axis: Axis,
    *,
    height: float,
    bars: "tuple[Box, ...]" = (),
) -> Box:
    """A box with as much of its name in it as fits."""
    text = Label(fitting(name, axis.x(end) - axis.x(start) - 6), y=12, at=start, shift=3, style="strong")
    return Box(start=start, end=end, style="box", title=title, height=height, bars=bars, texts=(text,))


def shortened(name: str, width: float) -> str:
    """A name without its middle: names often start alike and differ at the end."""
    return shortened_to(name, int(width / LETTER))


def draw_file(drawing: Drawing) -> Iterator[str]:
    """The lines of a separate file, with the styles of a page, light and dark."""
    head, *rest = draw(drawing, "drawing", 'xmlns="http://www.w3.org/2000/svg" ')
    yield head
    yield f"<style>{COLORS}{DRAWING}{KINDS}</style>\n"
    yield '<rect class="paper" width="100%" height="100%"/>\n'
    yield from rest


def draw(drawing: Drawing, name: str, namespace: str = "") -> Iterator[str]:
    """The lines of the `svg` element; `name` makes its ids distinct from those of other drawings on the page."""
    body, y = _legend(drawing.legend, drawing.top)
    for lane in drawing.lanes:
        body += _lane(lane, drawing.axis, y)
        y += lane.height
    ids = f"{name}-title {name}-text" if drawing.text else f"{name}-title"
    described = f'<desc id="{name}-text">{text_html(drawing.text)}</desc>\n' if drawing.text else ""
    yield f'<svg {namespace}role="img" aria-labelledby="{ids}" viewBox="0 0 {WIDTH} {y:.0f}">\n'
    yield f'<title id="{name}-title">{text_html(drawing.title)}</title>\n{described}'
    if any(f'class="{AWAY}"' in line for line in body):
        yield _HATCH
    yield from body
    yield "</svg>\n"


def _legend(entries: Sequence[tuple[str, str]], y: float) -> tuple[list[str], float]:
    """Swatches, as many in a line as fit, and the y coordinate of their end."""
    lines, x = [], 0.0
    for style, text in entries:
        width = 30 + LETTER * len(text)
        if x and x + width > WIDTH:
            x, y = 0.0, y + 20
        lines.append(f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="14" height="12"/>')
        lines.append(_write(x + 20, y + 10, text))
        x += width
    return lines, y + 26 if entries else y


def _lane(lane: Lane, axis: Axis, y: float) -> Iterator[str]:
    for rule in lane.rules:
        x = axis.x(rule)
        yield f'<line class="step" x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{y + lane.rule_height:.1f}"/>'
    for span in lane.spans:
        yield _span(span, axis, y)
    for text in lane.texts:
        yield _text(text, axis, y)


def _span(span: Box, axis: Axis, y: float) -> str:
    title = f"<title>{text_html(span.title)}</title>" if span.title else ""
    x = axis.x(span.start) + span.gap
    width = max(axis.x(span.end) - span.gap - x, 0.5)
    place = f'x="{x:.1f}" y="{y + span.top:.1f}" width="{width:.1f}" height="{span.height:.1f}"'
    box = f'<rect class="{span.style}" {place}'
    if not span.bars and not span.texts:
        return f"{box}>{title}</rect>\n" if title else f"{box}/>"
    inner = [_span(bar, axis, y) for bar in span.bars] + [_text(text, axis, y) for text in span.texts]
    return f"<g>{title}{box}/>{''.join(inner)}</g>"


def _text(text: Label, axis: Axis, y: float) -> str:
    before = axis.left - _MARGIN if "end" in text.style.split() else _MARGIN / 2
    x = (before if text.at is None else axis.x(text.at)) + text.shift
    line = _write(x, y + text.y, text.text, text.style)
    return f"<g><title>{text_html(text.title)}</title>{line}</g>" if text.title else line


def _write(x: float, y: float, text: str, style: str = "") -> str:
    classes = f' class="{style}"' if style else ""
    return f'<text{classes} x="{x:.1f}" y="{y:.1f}">{text_html(text)}</text>\n' if text else ""
