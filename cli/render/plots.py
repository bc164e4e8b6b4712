"""Plots, as blocks of a document: inline SVG that stretches with the page, and HTML for text, which does not stretch.
Color is never the only information: a legend shows the sums, and every drawn element has a title with its numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from cli.render.document import Plot
from cli.render.page import STYLE, shortened_to, text_html, with_literals

WIDEST_COLUMN = 0.15
"""The maximum width of a column, as a share of the plot's width, over which few columns are spread."""
MOST_PARTED = 48  # The most columns with gaps between them
LABELS = 6  # Maximum number of labels below the columns
LONGEST_NAME = 80  # Maximum length of a name that comes from a cluster; JSON contains all of it

_PLOTS = """\
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(max(9rem, 20%), 1fr)); gap: .75rem; }
.figures { margin: 1rem 0; padding: 0; list-style: none; }
.figures li {
  border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; background: var(--shade);
}
.figures b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.figures span, p.faint { color: var(--faint); font-size: .875rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: .5rem 0; padding: 0; list-style: none; }
.legend { font-size: .875rem; }
svg.key { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; vertical-align: -.05rem; }
.chart { position: relative; margin: 1rem 0 0 3.5rem; padding-bottom: 1.75rem; font-size: .75rem; }
.chart svg { height: 12rem; overflow: visible; }
.over rect { fill: transparent; }
.over rect:hover { fill: var(--ink); fill-opacity: .12; }
.scale, .dates { color: var(--faint); font-variant-numeric: tabular-nums; }
.scale { position: absolute; left: -3.5rem; width: 3.1rem; height: 12rem; text-align: right; }
.scale span { position: absolute; right: 0; transform: translateY(50%); }
.dates { position: absolute; left: 0; right: 0; bottom: 0; height: 1.25rem; overflow: hidden; }
.dates span { position: absolute; white-space: nowrap; }
.bars { display: grid; grid-template-columns: fit-content(18rem) 1fr minmax(4rem, max-content); }
.bars { gap: .3rem .75rem; align-items: center; margin: .75rem 0; font-size: .875rem; }
.bars .name { overflow-wrap: anywhere; }
.bars .value { text-align: right; font-variant-numeric: tabular-nums; }
svg.meter { height: .95rem; background: var(--shade); }
td:not(.n) { min-width: 7rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  .sparse { display: none; }
  .bars { grid-template-columns: 1fr max-content; }
  .bars .name { grid-column: 1 / -1; margin-top: .35rem; }
}
@media print {
  .chart svg, .scale { height: 9rem; }
  figure { overflow: visible; }
  figure > svg { min-width: 0; }
  th.n { white-space: normal; }
  table { font-size: .75rem; }
  td:not(.n) { min-width: 5rem; }
  .figures li, .bars > *, .legend { break-inside: avoid; }
}
"""
PLOTS_STYLE = STYLE + with_literals(_PLOTS)  # The style sheet of a page with plots


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One of the parts of stacked columns; `style` is its class in the style sheet."""

    name: str
    style: str
    values: Sequence[float]
    total: str  # The sum shown in the legend


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A segment of a bar: its share of the whole width, from 0 to 1, and its description."""

    share: float
    style: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar with its name before it and its value after it."""

    name: str
    parts: Sequence[Share]
    value: str


def figures_plot(figures: Sequence[tuple[str, str]]) -> Plot:
    """Cards with a value and its name each."""

    def html() -> Iterator[str]:
        yield '<ul class="figures">\n'
        for value, name in figures:
            yield f"<li><b>{text_html(value)}</b><span>{text_html(name)}</span></li>\n"
        yield "</ul>\n"

    return Plot(tuple(f"{name}: {value}" for value, name in figures), html)


def _legend(entries: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Swatches from entries of style, name and sum."""
    yield '<ul class="legend">\n'
    for style, name, total in entries:
        yield (
            f'<li><svg class="key" aria-hidden="true"><rect class="{style}" width="100%" height="100%"/></svg>'
            f"{text_html(name)} <b>{text_html(total)}</b></li>\n"
        )
    yield "</ul>\n"


def columns_plot(title: str, series: Sequence[Series], labels: Sequence[str], titles: Sequence[str]) -> Plot:
    """Stacked columns, from left to right; each has a label and a title, but only some of the labels are shown."""
    sums = tuple(f"{one.name}: {one.total}" for one in series if any(one.values))
    return Plot(sums, lambda: _columns(title, series, labels, titles))


def _columns(
    title: str, series: Sequence[Series], labels: Sequence[str], titles: Sequence[str]
) -> Iterator[str]:
    count = len(labels)
    tops = [0.0, *(sum(values) for values in zip(*(one.values for one in series), strict=True))]
    top, tick = _scale(max(tops))
    shown = [one for one in series if any(one.values)]
    yield '<figure class="plot">\n'
    yield from _legend([(one.style, one.name, one.total) for one in shown])
    yield '<div class="chart">\n<div class="scale" aria-hidden="true">'
    steps = [tick * step for step in range(round(top / tick) + 1)]
    yield from (f'<span style="bottom:{100 * step / top:.6g}%">{step:,.10g}</span>' for step in steps)
    yield "</div>\n"
    yield (
        f'<svg viewBox="0 0 {count} 100" preserveAspectRatio="none" role="img" aria-label="{text_html(title)}">\n'
    )
    lines = "".join(f"M0 {_number(100 - 100 * step / top)}h{count}" for step in steps)
    yield f'<path class="rule" vector-effect="non-scaling-stroke" d="{lines}"/>\n'
    yield from _stacks(shown, count, top)
    yield '<g class="over">\n'
    for index, words in enumerate(titles):
        yield f'<rect x="{index}" width="1" height="100"><title>{text_html(words)}</title></rect>\n'
    yield '</g>\n</svg>\n<div class="dates" aria-hidden="true">'
    every, margin = -(-count // LABELS), (1 - _column_width(count)) / 2
    for order, index in enumerate(range(0, count, every)):
        sparse = ' class="sparse"' if order % 2 else ""
        yield f'<span{sparse} style="left:{100 * (index + margin) / count:.6g}%">{text_html(labels[index])}</span>'
    yield "</div>\n</div>\n</figure>\n"


def _stacks(series: Sequence[Series], count: int, top: float) -> Iterator[str]:
    """One path for each part: hundreds of rectangles would make up most of the page."""
    width = _column_width(count)
    margin = (1 - width) / 2
    bases = [0.0] * count
    for one in series:
        path = []
        for index, value in enumerate(one.values):
            if not value:
                continue
            bases[index] += 100 * value / top
            path.append(
                f"M{_number(index + margin)} {_number(100 - bases[index])}h{width:g}"
                f"v{_number(100 * value / top)}h-{width:g}z"
            )
        yield f'<path class="{one.style}" d="{"".join(path)}"/>\n'


def _column_width(count: int) -> float:
    """The width of a column, as a share of the room that it has."""
    return min(0.8, WIDEST_COLUMN * count) if count <= MOST_PARTED else 1.0


def bars_plot(bars: Sequence[Bar], legend: Sequence[tuple[str, str, str]] = ()) -> Plot:
    """Horizontal bars, one below another; `legend` has a style, its name and a sum for each color."""
    sums = (f"{name}: {total}" for _, name, total in legend if total)
    return Plot((*sums, *(f"{_named(bar)}: {bar.value}" for bar in bars)), lambda: _bars(bars, legend))


def _named(bar: Bar) -> str:
    return shortened_to(bar.name, LONGEST_NAME)


def _bars(bars: Sequence[Bar], legend: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    if legend:
        yield from _legend(legend)
    yield '<div class="bars">\n'
    for bar in bars:
        starts = accumulate((part.share for part in bar.parts), initial=0.0)
        rects = "".join(
            f'<rect class="{part.style}" x="{100 * start:.4g}%" width="{100 * part.share:.4g}%" height="100%">'
            f"<title>{text_html(part.title)}</title></rect>"
            for part, start in zip(bar.parts, starts, strict=False)
            if part.share
        )
        titles = "; ".join(part.title for part in bar.parts)
        yield (
            f'<div class="name">{text_html(_named(bar))}</div>'
            f'<svg class="meter" role="img" aria-label="{text_html(titles)}">{rects}</svg>'
            f'<div class="value">{text_html(bar.value)}</div>\n'
        )
    yield "</div>\n"


def _scale(most: float) -> tuple[float, float]:
    """The end of the scale and the distance of its lines: 1, 2 or 5 times a power of ten, at most five lines."""
    tick = 1.0
    while most / tick > 50:
        tick *= 10
    tick *= next(factor for factor in (1, 2, 5, 10) if most / (tick * factor) <= 5)
    return tick * max(1, -(-most // tick)), tick


def _number(value: float) -> str:
    """A coordinate as text; two decimals are precise to a tenth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
