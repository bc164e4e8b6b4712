"""The rebalances of one group as a drawing: columns are evenly spaced, so that a short storm is visible."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from itertools import pairwise
from math import ceil
from typing import TypeAlias

from cli.render.lanes import LETTER, Axis, Box, Drawing, Label, Lane, columns_axis, named_box, runs
from cli.render.page import shortened_to
from cli.verbs.why.picture import STYLE_OF_CAUSE
from groups.history.causes import RebalanceCause
from groups.times import duration_text
from pipeline.report.numbers import CAUSES, GroupTimeline, Mark

LEFT = 130
WIDEST = 90  # Maximum width of a column: a few rebalances need not fill the page
BOLD = 7.3  # Approximate width of a bold letter
UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "m"), (1.0, "s"), (0.001, "ms"))
CAUSE_STYLES = tuple(STYLE_OF_CAUSE[RebalanceCause(cause)] for cause in CAUSES)
LONGEST_NAME = 120
Words: TypeAlias = Callable[[float], str]


def rebalances_drawing(timeline: GroupTimeline) -> Drawing:
    count = sum(mark.rebalances for mark in timeline.marks)
    axis = columns_axis(len(timeline.marks), LEFT, WIDEST)
    return Drawing(
        title=f"Rebalances of {shortened_to(timeline.group, LONGEST_NAME)}: {count:,}",
        axis=axis,
        lanes=tuple(_lanes(timeline.marks, axis)),
    )


def _lanes(marks: Sequence[Mark], axis: Axis) -> Iterator[Lane]:
    if not marks:
        yield Lane(height=20, texts=(Label("no rebalances", y=12, style=""),))
        return
    titles = [_title(mark) for mark in marks]
    yield _days(marks, axis)
    every = ceil(LETTER * 9 / axis.unit)
    times = {index: f"{marks[index].start.astimezone(UTC):%H:%M:%S}" for index in range(0, len(marks), every)}
    yield Lane(height=18, texts=[_at(text, index, 3, 11, "faint") for index, text in times.items()])
    yield _protocols(marks, axis)
    yield from _causes(marks, titles, axis)
    quiet_s = [0.0, *(max(0.0, (two.start - one.end).total_seconds()) for one, two in pairwise(marks))]
    for name, values, style, scales in (
        ("members", [mark.members for mark in marks], "k1", (_number,)),
        ("partitions moved", [mark.moved for mark in marks], "bar", (_number,)),
        ("revoked", [mark.revoked for mark in marks], "bar", (_number,)),
        ("took", [mark.rebalancing_s for mark in marks], "bar", (_seconds, _brief)),
        ("quiet before", quiet_s, "bar", (_seconds, _brief)),
    ):
        yield _bars(name, values, style, scales, titles, axis)
    yield Lane(height=6)


def _days(marks: Sequence[Mark], axis: Axis) -> Lane:
    texts, rules = [], []
    for day, run in runs([mark.start.astimezone(UTC).date() for mark in marks]):
        labels = (f"{day.day} {day:%b} {day.year}", f"{day.day} {day:%b}", str(day.day), "")
        label = next(text for text in labels if _fits(text, len(run) * axis.unit - 3, BOLD))
        rules.append(run.start)
        texts.append(_at(label, run.start, 3, 12, "strong"))
    return Lane(height=16, texts=texts, rules=rules, rule_height=16)


def _protocols(marks: Sequence[Mark], axis: Axis) -> Lane:
    spoken = [f"{mark.protocol}, {mark.assignor}" if mark.assignor else mark.protocol for mark in marks]
    titles = {protocol: shortened_to(protocol, LONGEST_NAME) for protocol in spoken}
    spans = [named_box(run, protocol, titles[protocol], axis.unit) for protocol, run in runs(spoken)]
    return Lane(height=28, texts=(Label("protocol", y=15, style="end strong"),), spans=spans)


def _causes(marks: Sequence[Mark], titles: Sequence[str], axis: Axis) -> Iterator[Lane]:
    for cause, style in enumerate(CAUSE_STYLES):
        counts = {index: mark.causes[cause] for index, mark in enumerate(marks) if mark.causes[cause]}
        if not counts:
            continue
        numbers = {index: f"{count:,}" for index, count in counts.items() if count > 1}
        written = [pair for pair in numbers.items() if _fits(pair[1], axis.unit - 4, BOLD)]
        labels = [_at(text, index, 4, 12, "strong") for index, text in written]
        spans = [_box(index, 0, 15, style, titles, axis) for index in counts]
        yield Lane(height=18, spans=spans, texts=[Label(CAUSES[cause], y=12), *labels])
    yield Lane(height=4)


def _bars(
    name: str,
    values: Sequence[float | None],
    style: str,
    scales: Sequence[Words],
    titles: Sequence[str],
    axis: Axis,
) -> Lane:
    """A row of bars, with their numbers in the first scale in which all of them fit; unknown values have no bar."""
    shown = {index: value for index, value in enumerate(values) if value}
    known = [value for value in values if value is not None]
    most, bottom = max(known, default=0), 36.0
    heights = {index: max(1.0, 22 * value / most) for index, value in shown.items()}
    width = axis.unit - 2
    fitting = [scale for scale in scales if all(_fits(scale(value), width) for value in shown.values())]
    least = "none" if known else "not known"
    texts = [
        Label(name, y=bottom - 14),
        Label(f"at most {scales[0](most)}" if most else least, y=bottom - 2, style="end faint"),
    ]
    if fitting:
        above = {index: bottom - height - 3 for index, height in heights.items()}
        texts += [_at(fitting[0](shown[index]), index + 0.5, 0, y, "middle") for index, y in above.items()]
    spans = [_box(index, bottom - high, high, style, titles, axis) for index, high in heights.items()]
    return Lane(height=bottom + 6, texts=texts, spans=spans)


def _box(index: int, top: float, height: float, style: str, titles: Sequence[str], axis: Axis) -> Box:
    gap = min(1.0, axis.unit / 8)
    return Box(start=index, end=index + 1, style=style, title=titles[index], top=top, height=height, gap=gap)


def _at(text: str, at: float, shift: float, y: float, style: str) -> Label:
    return Label(text, y=y, at=at, shift=shift, style=style)


def _title(mark: Mark) -> str:
    counts = zip(CAUSES, mark.causes, strict=True)
    causes = ", ".join(cause if count == 1 else f"{cause} {count:,}" for cause, count in counts if count)
    several = "" if mark.rebalances == 1 else f"{mark.rebalances:,} rebalances to "
    took = "duration not known" if mark.rebalancing_s is None else _seconds(mark.rebalancing_s)
    return (
        f"{mark.start.astimezone(UTC):%Y-%m-%d %H:%M:%S}, {several}epoch {mark.epoch}: {causes}; members "
        f"{mark.members:,} (+{mark.joined:,} -{mark.left:,}); moved {mark.moved:,}, revoked {mark.revoked:,}; {took}"
    )


def _seconds(seconds: float) -> str:
    return duration_text(round(seconds * 1000))


def _brief(seconds: float) -> str:
    """A time in its largest unit, rounded down."""
    unit, letter = next((unit for unit in UNITS if seconds >= unit[0]), UNITS[-1])
    return f"{seconds // unit:.0f}{letter}"


def _number(number: float) -> str:
    return f"{number:,}"


def _fits(text: str, width: float, letter: float = LETTER) -> bool:
    return letter * len(text) <= width
