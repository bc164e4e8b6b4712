"""A report in a real browser: nothing complains, nothing is fetched, nothing sticks out, everything can be read."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from cli.render.output_format import OutputFormat
from cli.verbs.fleet.rehearse import rehearsal_report
from pipeline.report.numbers import GroupTimeline, ReportNumbers
from tests.browser.chromium import Chromium, chromium
from tests.cli.verbs.fleet import numbers as fleet_numbers
from tests.cli.verbs.fleet.numbers import HOSTILE
from tests.cli.verbs.fleet.test_fleet_rehearse import page_of, run_of
from tests.cli.verbs.fleet.test_report_page import history_page
from tests.cli.verbs.why.answers import answer, printed
from tests.support.long import few

SCHEMES: tuple[tuple[Literal["light", "dark"], str], ...] = (
    ("light", "rgb(255, 255, 255)"),
    ("dark", "rgb(13, 17, 23)"),
)
PAPER = 718  # Pixels of the width of A4 without margins of a centimeter
PDF_PAGES = 26
READABLE = 4.5  # The contrast that WCAG 2 asks of text (success criterion 1.4.3)

GROUND = "getComputedStyle(document.body).backgroundColor"
UNNAMED = """
[...document.querySelectorAll('svg')].filter(svg => !svg.closest('[aria-hidden]') &&
  !svg.getAttribute('aria-label') &&
  !svg.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id)))
"""
OUTSIDE = """
[...document.body.querySelectorAll('*')]
  .filter(element => !element.closest('.wide, figure:not(.plot), .dates, svg'))
  .filter(element => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map(element => element.outerHTML.slice(0, 120))
"""
SCROLLING = """
[...document.querySelectorAll('.wide, figure')]
  .filter(element => element.scrollWidth > element.clientWidth + 1).length
"""
OVERLAPS = """
[...document.querySelectorAll(SELECTOR)].flatMap(parent => {
  const boxes = [...parent.querySelectorAll('span, text')]
    .map(element => [element.textContent, element.getBoundingClientRect()])
    .filter(([text, box]) => text && box.width);
  return boxes.flatMap(([text, a], place) => boxes.slice(place + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4)
    .map(([other]) => text + ' | ' + other));
})
"""
CONTRASTS = """
(() => {
  const channels = color => color.match(/[\\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = channels(color).slice(0, 3).map(value => value / 255)
      .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = element => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if ((channels(color)[3] ?? 1) === 1) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.body.querySelectorAll('*')]
    .filter(element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .filter(element => !['title', 'desc', 'STYLE'].includes(element.tagName))
    .map(element => {
      const style = getComputedStyle(element);
      const [a, b] = [element.closest('svg') ? style.fill : style.color, ground(element)].map(light);
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    });
})()
"""


LONG = HOSTILE + "W" * 5_000


def hostile() -> ReportNumbers:
    """Every name is as long and as nasty as names get."""
    numbers = fleet_numbers.fleet(marks=3)
    readiness = [
        replace(
            one,
            destination=LONG,
            reasons=tuple(replace(reason, rule=LONG, example=LONG, message=LONG) for reason in one.reasons),
            first=tuple(replace(group, group=LONG, cluster=LONG, path=LONG) for group in one.first),
        )
        for one in numbers.readiness
    ]
    timelines = [
        GroupTimeline(group=LONG, marks=tuple(replace(mark, assignor=LONG) for mark in timeline.marks))
        for timeline in numbers.timelines
    ]
    worst = tuple(replace(group, group=LONG) for group in numbers.worst)
    return replace(
        numbers, sources=(LONG,), worst=worst, timelines=tuple(timelines), readiness=tuple(readiness)
    )


CASES: dict[str, Callable[[], str]] = {
    "fleet": lambda: history_page(fleet_numbers.fleet()),
    "one": lambda: history_page(fleet_numbers.one()),
    "nothing": lambda: history_page(fleet_numbers.nothing()),
    "big": lambda: history_page(fleet_numbers.fleet(days=400, groups=20_000, marks=120)),
    "hostile": lambda: history_page(hostile()),
    "rehearsals": lambda: page_of(rehearsal_report(run_of("billing", "checkout", settings=("", "a=2")))),
    "incident": lambda: printed(answer("storm"), OutputFormat.HTML),
    "incidents": lambda: printed(answer("storm", "rolling", "quiet"), OutputFormat.HTML),
    "hostile incident": lambda: printed(answer("hostile"), OutputFormat.HTML),
    "hostile rehearsals": lambda: page_of(rehearsal_report(run_of(LONG, settings=("", LONG)))),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    """Give a headless Chromium; without one the test skips, or fails where it is required."""
    with chromium() as running:
        yield running


def test_the_policy_of_the_page_stops_what_would_run_or_load(browser: Chromium, tmp_path: Path) -> None:
    """The page's last defense, should a name ever get through: neither handlers nor pictures."""
    file = tmp_path / "report.html"
    page_with_a_hole = history_page(fleet_numbers.nothing()).replace(
        "</main>", '<img src="https://kohort.invalid/x.png" onerror="document.title = 1"></main>'
    )
    file.write_text(page_with_a_hole, encoding="utf-8")
    page = browser.open(file.as_uri())
    page.screenshot()
    assert page.evaluate("document.title") == "Consumer groups: no history"
    assert len(page.messages) == 2
    assert all("Content Security Policy" in message for message in page.messages)


@pytest.mark.parametrize("case", few(list(CASES), one_in=2))
def test_a_report_can_be_read_on_screen_and_on_paper(browser: Chromium, tmp_path: Path, case: str) -> None:
    """Nothing complains or is fetched, sticks out, overlaps, is too faint, or has no name."""
    file = tmp_path / "report.html"
    file.write_text(CASES[case](), encoding="utf-8")
    page = browser.open(file.as_uri())
    for scheme, ground in SCHEMES:
        page.look(scheme=scheme)
        page.screenshot()
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 3
        assert min(contrasts) >= READABLE
        assert page.evaluate(GROUND) == ground
    for width in (375, 600, 1280):
        page.look(width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == []
        for selector in (".dates", ".scale", ".drawing svg"):
            assert page.evaluate(OVERLAPS.replace("SELECTOR", repr(selector))) == []
    assert page.evaluate(f"{UNNAMED}.length") == 0
    page.look(width=PAPER, scheme="dark", media="print")
    assert page.evaluate(GROUND) == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    assert page.evaluate(SCROLLING) == 0
    assert min(page.evaluate(CONTRASTS)) >= READABLE
    page.look()
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF-")
    assert 1 <= pdf.count(b"/Type /Page\n") <= PDF_PAGES
    assert (page.messages, len(page.requests)) == ([], 1)
    assert page.evaluate("document.querySelectorAll('script, img, link, iframe').length") == 0
