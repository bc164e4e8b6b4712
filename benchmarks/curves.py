"""Curves of processor seconds and memory over a number of groups, as one SVG: a small plot per command."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

_COLUMNS, _WIDTH, _HEIGHT = 4, 232, 132
_LEFT, _RIGHT, _TOP, _BOTTOM = 36, 62, 22, 18
_GROUPS = (100, 50_000)
_DECADES = range(-1, 4)  # 0.1 s and 10 MiB to 1,000 s and 100,000 MiB
_MIB = 100  # drawn at the height of one second
_STYLE = (
    "text{font:11px sans-serif;fill:#24292f}.name{font-weight:bold}.faint{fill:#6e7781;font-size:9px}"
    "path,path.s,path.m{fill:none;stroke-width:1.5}.grid{stroke:#d0d7de;stroke-width:.5}"
    ".linear{stroke:#8c959f;stroke-dasharray:1 3}"
    "path.s{stroke:#0969da}path.m{stroke:#bc4c00;stroke-dasharray:5 3}.s{fill:#0969da}.m{fill:#bc4c00}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}path.s{stroke:#58a6ff}"
    "path.m{stroke:#f0883e}.s{fill:#58a6ff}.m{fill:#f0883e}}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What a command takes: by number of groups, wall seconds, processor seconds and MiB."""

    title: str
    server: str
    points: Sequence[tuple[int, tuple[float, float, float]]]


def draw_curves(curves: Sequence[Curve]) -> str:
    """The curves of the servers of a command share a plot."""
    plots = [(title, list(group)) for title, group in groupby(curves, lambda curve: curve.title)]
    rows = math.ceil(len(plots) / _COLUMNS)
    shapes = [
        f'<g transform="translate({index % _COLUMNS * _WIDTH} {20 + index // _COLUMNS * _HEIGHT})">\n'
        + "\n".join(_plot(title, shared))
        + "\n</g>"
        for index, (title, shared) in enumerate(plots)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_COLUMNS * _WIDTH} {20 + rows * _HEIGHT}" role="img">\n'
        f"<title>Processor time and memory of commands as the number of groups grows</title>\n<style>{_STYLE}</style>\n"
        '<text x="6" y="14"><tspan class="s">processor seconds, solid</tspan>; <tspan class="m">MiB, dashed</tspan>; '
        "dotted: growth with the number of groups. Both axes are logarithmic. Until 10,000: Kafka; then kohort serve."
        "</text>\n" + "\n".join(shapes) + "\n</svg>\n"
    )


def _plot(title: str, curves: Sequence[Curve]) -> Iterator[str]:
    yield f'<text class="name" x="{_LEFT}" y="14">{escape(title)}</text>'
    grid = "".join(f"M{_LEFT} {_y(10.0**decade)}H{_WIDTH - _RIGHT}" for decade in _DECADES)
    yield f'<path class="grid" d="{grid}"/>'
    for decade in list(_DECADES)[::2]:
        y = _y(10.0**decade)
        yield f'<text class="faint" x="{_LEFT - 4}" y="{y + 3}" text-anchor="end">{10.0**decade:g} s</text>'
    for groups in (100, 1_000, 10_000):
        yield f'<text class="faint" x="{_x(groups)}" y="{_HEIGHT - 6}" text-anchor="middle">{groups:,}</text>'
    yield f'<path class="linear" d="M{_x(100)} {_y(0.1)}L{_x(50_000)} {_y(50)}"/>'
    ends: dict[str, tuple[float, str]] = {}
    for curve in curves:
        for style, column, factor, unit in (("s", 1, 1, "s"), ("m", 2, 1 / _MIB, "MiB")):
            places = [(_x(groups), _y(values[column] * factor)) for groups, values in curve.points]
            yield f'<path class="{style}" d="M' + "L".join(f"{x} {y}" for x, y in places) + '"/>'
            value = curve.points[-1][1][column]
            ends[style] = places[-1][1], f"{value:,.{0 if value >= 10 else 1}f} {unit}"
    upper, lower = sorted(ends, key=lambda style: ends[style][0])
    apart = max(0.0, 11 - (ends[lower][0] - ends[upper][0])) / 2
    for style, shift in ((upper, -apart), (lower, apart)):
        y, text = ends[style]
        yield f'<text class="{style}" x="{_WIDTH - _RIGHT + 3}" y="{y + shift + 4:.1f}">{text}</text>'


def _x(groups: int) -> float:
    first, last = map(math.log10, _GROUPS)
    return round(_LEFT + (math.log10(groups) - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(seconds: float) -> float:
    share = (math.log10(max(seconds, 0.1)) - _DECADES[0]) / (_DECADES[-1] - _DECADES[0])
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)
