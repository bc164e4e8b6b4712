"""Pages in a real browser: what a reader acts on is on the screen, and can be read."""

from pathlib import Path
from typing import Literal

import pytest

from cli.verbs.migrate.report import write_reports
from tests.browser.chromium import Chromium
from tests.cli.command import Kohort
from tests.cli.verbs.fleet.test_report_page_in_browser import CONTRASTS, READABLE
from tests.cli.verbs.fleet.test_report_page_in_browser import browser as browser
from tests.cli.verbs.migrate.test_report import fleet

ROOT = Path(__file__).parents[2]
MIGRATION = "migration"  # The report that `kohort migrate` writes
NARROW, WIDE, SCREEN = 500, 1200, 900
"""Widths of a screen, and its height."""
PAGES = {
    "runbook": f"plan invoices --to consumer --snapshot {ROOT}/migration/runbooks/bridge-leader.yaml",
    "blocked": "plan legacy-etl --to consumer --embedded {sample}",
    "fleet": "plan --all-groups --to consumer --embedded {sample}",
    "list": "list --embedded {sample}",
    "diagnosis": f"diagnose --all-groups --snapshot {ROOT}/golden/screens/fleet.yaml",
    "simulation": "simulate crash",
}
HIDDEN = """
[...document.querySelectorAll('p, li, label, summary, pre, h1, h2, SELECTOR')]
  .filter(element => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map(element => element.outerHTML.slice(0, 120))
"""
PLACES = """
[...document.querySelectorAll('h2')].map(title => [title.textContent, title.getBoundingClientRect().top])
"""
OPEN = "document.querySelectorAll('details').forEach(element => { element.open = true })"
COLORS = """
Object.fromEntries([...document.querySelectorAll('td, b')]
  .map(cell => [cell.textContent, getComputedStyle(cell).color]))
"""


@pytest.fixture(scope="module")
def pages(kohort: Kohort, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    directory, addresses = tmp_path_factory.mktemp("pages"), {}
    for name, line in PAGES.items():
        file = directory / f"{name}.html"
        file.write_text(kohort.quick(line.format(sample=sample), "--output", "html").stdout)
        addresses[name] = file.as_uri()
    return {**addresses, MIGRATION: write_reports(directory, fleet()).as_uri()}


@pytest.mark.parametrize("name", [*PAGES, MIGRATION])
def test_a_page_is_readable_in_light_and_dark(browser: Chromium, pages: dict[str, str], name: str) -> None:
    page = browser.open(pages[name])
    page.evaluate(OPEN)
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.look(width=NARROW, scheme=scheme)
        assert min(page.evaluate(CONTRASTS)) >= READABLE
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW
        assert page.evaluate(HIDDEN.replace(", SELECTOR", "")) == []
    assert page.messages == []


def test_steps_are_on_the_first_screen(browser: Chromium, pages: dict[str, str]) -> None:
    page = browser.open(pages["runbook"])
    page.look(width=WIDE)
    places = dict(page.evaluate(PLACES))
    steps = [step for title, step in places.items() if title.startswith("Step ")]
    assert len(steps) == 4
    assert steps[0] < SCREEN < steps[-1] < places["Timeline"] < places["Findings"]
    assert page.evaluate("document.querySelectorAll('.card.warning').length") == 3
    assert page.evaluate("[...document.querySelectorAll('details')].every(element => !element.open)")


def test_what_a_table_is_read_for_is_on_a_screen_of_1200(browser: Chromium, pages: dict[str, str]) -> None:
    for name in ("simulation", "fleet", "list", MIGRATION):
        page = browser.open(pages[name])
        page.look(width=WIDE)
        assert page.evaluate(HIDDEN.replace("SELECTOR", "th, td")) == []


def test_verdicts_and_states_have_colors(browser: Chromium, pages: dict[str, str]) -> None:
    good, warning, bad = "rgb(26, 127, 55)", "rgb(154, 103, 0)", "rgb(207, 34, 46)"
    for name, colors in {
        "fleet": {"ready": good, "warnings": warning, "blocked": bad},
        "list": {"Stable": good, "Reconciling": warning},
        "diagnosis": {"error": bad, "warning": warning, "ERROR": bad, "WARNING": warning},
        "blocked": {"BLOCKER": bad},
    }.items():
        assert browser.open(pages[name]).evaluate(COLORS).items() >= colors.items()
