"""A report in a real browser: nothing complains, nothing is fetched, nothing sticks out, everything can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.verbs.fleet.rehearse import rehearsal_report
from pipeline.report.numbers import GroupTimeline, ReportNumbers
from tests.browser.chromium import Chromium, Page, chromium
from tests.cli.verbs.fleet import numbers as fleet_numbers
from tests.cli.verbs.fleet.numbers import HOSTILE
from tests.cli.verbs.fleet.test_fleet_rehearse import page_of, run_of
from tests.cli.verbs.fleet.test_report_page import history_page, timeline_svg

WIDTHS = (375, 1280)
PAPER = 718
"""Pixels of the width of A4 without margins of a centimeter."""
PDF_PAGES = 26
READABLE = 4.5
"""The contrast that WCAG 2 asks of text (success criterion 1.4.3)."""

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


def _big() -> ReportNumbers:
    return fleet_numbers.fleet(days=400, groups=20_000, marks=120)


def _hostile() -> ReportNumbers:
    """Every name is as long and as nasty as names get."""
    numbers = fleet_numbers.fleet(marks=3)
    name = HOSTILE + "W" * 5_000
    readiness = tuple(
        replace(
            one,
            destination=name,
            reasons=tuple(replace(reason, rule=name, example=name, message=name) for reason in one.reasons),
            first=tuple(replace(group, group=name, cluster=name, path=name) for group in one.first),
        )
        for one in numbers.readiness
    )
    return replace(
        numbers,
        sources=(name,),
        worst=tuple(replace(group, group=name) for group in numbers.worst),
        timelines=tuple(
            GroupTimeline(group=name, marks=tuple(replace(mark, assignor=name) for mark in timeline.marks))
            for timeline in numbers.timelines
        ),
        readiness=readiness,
    )


LONG = HOSTILE + "W" * 5_000
CASES: dict[str, Callable[[], str]] = {
    "fleet": lambda: history_page(fleet_numbers.fleet()),
    "one": lambda: history_page(fleet_numbers.one()),
    "nothing": lambda: history_page(fleet_numbers.nothing()),
    "big": lambda: history_page(_big()),
    "hostile": lambda: history_page(_hostile()),
    "rehearsals": lambda: page_of(
        rehearsal_report(run_of("billing", "checkout", settings=("", "concurrency=2")))
    ),
    "hostile rehearsals": lambda: page_of(rehearsal_report(run_of(LONG, settings=("", LONG)))),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    """Give a headless Chromium; without one the test skips, or fails where it is required."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="module", params=CASES)
def page(request: pytest.FixtureRequest, browser: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Each of the reports, loaded from its file."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(CASES[request.param](), encoding="utf-8")
    return browser.open(file.as_uri())


def test_nothing_complains_and_nothing_is_fetched(page: Page) -> None:
    for scheme in ("light", "dark"):
        page.look(scheme=scheme)
        page.screenshot()
    assert page.messages == []
    assert len(page.requests) == 1
    assert page.evaluate("document.querySelectorAll('script, img, link, iframe').length") == 0


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


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out(page: Page, width: int) -> None:
    page.look(width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("width", [*WIDTHS, 600])
def test_what_is_written_at_plots_does_not_overlap(page: Page, width: int) -> None:
    page.look(width=width)
    for selector in (".dates", ".scale", ".drawing svg"):
        assert page.evaluate(OVERLAPS.replace("SELECTOR", repr(selector))) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(page: Page, scheme: Any) -> None:
    page.look(scheme=scheme)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 3
    assert min(contrasts) >= READABLE
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]


def test_paper_is_white_and_wide_enough(page: Page) -> None:
    page.look(width=PAPER, scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    assert page.evaluate(SCROLLING) == 0
    assert min(page.evaluate(CONTRASTS)) >= READABLE
    page.look()
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF-")
    assert 1 <= pdf.count(b"/Type /Page\n") <= PDF_PAGES


def test_pictures_have_names(page: Page) -> None:
    unnamed = "[...document.querySelectorAll('svg')].filter(svg => !svg.closest('[aria-hidden]') && "
    unnamed += (
        "!svg.getAttribute('aria-label') && !document.getElementById(svg.getAttribute('aria-labelledby')))"
    )
    assert page.evaluate(f"{unnamed}.length") == 0


@pytest.mark.parametrize("marks", [0, 1, 5, 24, 60, 120])
def test_a_separate_drawing(browser: Chromium, tmp_path: Path, marks: int) -> None:
    file = tmp_path / "timeline.svg"
    file.write_text(timeline_svg(fleet_numbers.timeline(HOSTILE, marks=marks)), encoding="utf-8")
    page = browser.open(file.as_uri())
    page.screenshot()
    assert page.messages == []
    assert len(page.requests) == 1
    assert page.evaluate(OVERLAPS.replace("SELECTOR", "'svg'")) == []
    inside = "[...document.querySelectorAll('text, rect')].every(element => { const box = element.getBBox(); "
    inside += "const view = document.documentElement.viewBox.baseVal; "
    inside += "return box.x >= -1 && box.x + box.width <= view.width + 1 && box.y + box.height <= view.height + 1 })"
    assert page.evaluate(inside)
