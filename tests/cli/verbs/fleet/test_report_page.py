"""A report as a page: what its parts say and draw, whatever the fleet; and the drawing of rebalances.

`KOHORT_WRITE_GOLDEN=1` writes tests/golden/fleet/pages again; read the difference before you commit it.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from xml.etree import ElementTree

import pytest

from cli.render.lanes import draw_file
from cli.render.output_format import OutputFormat
from cli.verbs.fleet import report_page
from cli.verbs.fleet.rebalances_svg import CAUSE_STYLES, rebalances_drawing
from pipeline.report.numbers import CAUSES, GroupTimeline, ReportNumbers
from tests.cli.render.rendered import rendered
from tests.cli.verbs.fleet import numbers as fleet_numbers
from tests.cli.verbs.fleet.numbers import FIRST, HOSTILE, one, timeline
from tests.cli.verbs.fleet.recorded import check_recorded
from tests.support.html_pages import Page

MOST_BYTES = 2_000_000
SVG = "{http://www.w3.org/2000/svg}"


def history_page(numbers: ReportNumbers) -> str:
    return rendered(report_page.history_page(numbers), OutputFormat.HTML)


def timeline_svg(shown: GroupTimeline) -> str:
    return "".join(draw_file(rebalances_drawing(shown)))


def of_audit() -> ReportNumbers:
    """A run that has an audit and no history."""
    whole = fleet_numbers.fleet(groups=12)
    return ReportNumbers(made=whole.made, sources=whole.sources, readiness=whole.readiness, quarantined=1)


def quiet() -> ReportNumbers:
    """A log without rebalances."""
    numbers = one()
    assert numbers.totals is not None
    period = replace(numbers.periods[0], rebalances=0, causes=(0,) * len(CAUSES))
    totals = replace(numbers.totals, rebalances=0)
    return replace(numbers, totals=totals, periods=(period,), worst=(), protocols=(), timelines=())


def instant() -> ReportNumbers:
    """A rebalance that took no time, and two with a pause between them."""
    numbers = one()
    (shown,) = numbers.timelines
    assert numbers.totals is not None
    first = replace(shown.marks[0], rebalancing_s=0.0, end=FIRST + timedelta(seconds=10))
    starts = [FIRST + timedelta(seconds=seconds) for seconds in (4, 75)]
    later = [replace(first, start=start, end=start) for start in starts]
    stretch = replace(later[1], rebalances=1_204, causes=(1_200, 4, 0, 0, 0, 0, 0, 0), epoch=2_000)
    return replace(
        numbers,
        totals=replace(numbers.totals, rebalancing_s=0.0),
        worst=(replace(numbers.worst[0], rebalancing_s=0.0),),
        timelines=(replace(shown, marks=(first, *later, stretch)),),
    )


CASES: dict[str, Callable[[], ReportNumbers]] = {
    "fleet": lambda: fleet_numbers.fleet(days=6, groups=12, marks=6),
    "weeks": lambda: replace(fleet_numbers.fleet(days=3, groups=4, marks=0), step_days=7, readiness=()),
    "audit": of_audit,
    "one": one,
    "quiet": quiet,
    "instant": instant,
    "nothing": fleet_numbers.nothing,
}


@pytest.mark.parametrize("case", CASES)
def test_a_report_says_and_draws_what_is_recorded(case: str) -> None:
    """Its text, and the titles and texts of all that a page draws."""
    document = report_page.history_page(CASES[case]())
    page = Page(rendered(document, OutputFormat.HTML))
    page.check_harmless()
    drawn = [f"{name}: {text}" for name in ("title", "text") for text in page.texts.get(name, [])]
    text = rendered(document, OutputFormat.MARKDOWN)
    check_recorded(f"pages/{case}.md", [*text.splitlines(), "", "## Drawn", *drawn])


def test_columns_are_as_high_as_their_numbers() -> None:
    """What is drawn, read back: the heights of each cause's rectangles are in the ratio of the numbers."""
    numbers = fleet_numbers.fleet()
    page = history_page(numbers)
    plot = page[page.index("Rebalances per day, by cause") :]
    steps = re.findall(r">([\d,]+)</span>", page[: page.index("by cause")])
    top = max(float(step.replace(",", "")) for step in steps)
    for cause, style in enumerate(CAUSE_STYLES):
        path = re.search(rf'<path class="{style}" d="([^"]*)"', plot)
        assert path is not None
        columns = re.findall(r"M([\d.]+) [\d.]+h[\d.]+v([\d.]+)", path[1])
        expected = {
            column: 100 * period.causes[cause] / top
            for column, period in enumerate(numbers.periods)
            if period.causes[cause]
        }
        assert {int(float(x)): float(height) for x, height in columns} == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize(("days", "reached"), [(1, 0.5), (2, 0.8), (7, 0.98), (34, 0.99)])
def test_columns_are_spread_over_the_whole_width(days: int, reached: float) -> None:
    page = history_page(fleet_numbers.fleet(days=days))
    before, _, plot = page.partition("Rebalances per day, by cause")
    width = float(before.rpartition('viewBox="0 0 ')[2].partition(" ")[0])
    columns = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", plot.partition("</svg>")[0])
    assert reached <= max(float(x) + float(wide) for x, wide in columns) / width <= 1


def test_a_big_fleet_gives_a_page_that_a_mail_can_carry() -> None:
    numbers = fleet_numbers.fleet(days=400, groups=20_000, marks=120)
    assert len(history_page(numbers).encode()) < MOST_BYTES
    worst = tuple(replace(group, group=f"{rank}{HOSTILE * 90}") for rank, group in enumerate(numbers.worst))
    hostile = replace(numbers, sources=("/x" * 20_000,) * 500, worst=worst)
    assert len(history_page(hostile).encode()) < MOST_BYTES


@pytest.mark.parametrize("marks", [0, 1, 24, 120])
def test_a_drawing_is_xml_whatever_the_names(marks: int) -> None:
    root = ElementTree.fromstring(timeline_svg(timeline(HOSTILE + "\x00\x1b\ud800", marks=marks)))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert (title.text or "").startswith('Rebalances of "><script>')
