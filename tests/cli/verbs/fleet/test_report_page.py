"""A report as a page: what its parts say and draw, whatever the fleet; and the drawing of rebalances."""

from __future__ import annotations

import json
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
from tests.support.html_pages import Page

CASES = [fleet_numbers.fleet, fleet_numbers.one, fleet_numbers.nothing]
MOST_BYTES = 2_000_000


def history_page(numbers: ReportNumbers) -> str:
    return rendered(report_page.history_page(numbers), OutputFormat.HTML)


def timeline_svg(shown: GroupTimeline) -> str:
    return "".join(draw_file(rebalances_drawing(shown)))


def _parts(page: str) -> list[str]:
    return Page(page).texts.get("h2", [])


def test_a_whole_report_has_all_parts_in_order() -> None:
    assert _parts(history_page(fleet_numbers.fleet())) == [
        "Rebalances per day",
        "The worst groups",
        "Time without owner under each protocol",
        "Readiness for consumer",
        "Readiness for cooperative",
        "Migration to the consumer protocol",
    ]


def test_an_audit_alone_has_readiness_alone() -> None:
    whole = fleet_numbers.fleet()
    page = history_page(
        ReportNumbers(made=whole.made, sources=whole.sources, readiness=whole.readiness, quarantined=1)
    )
    assert _parts(page) == ["Readiness for consumer", "Readiness for cooperative"]
    assert "Consumer groups: readiness" in page
    assert "1 thing could not be read" in page


def test_a_log_of_nothing_says_so() -> None:
    page = history_page(fleet_numbers.nothing())
    assert _parts(page) == []
    assert "There are no records." in page


def test_a_log_without_rebalances_draws_none() -> None:
    one = fleet_numbers.one()
    assert one.totals is not None
    quiet = replace(one.periods[0], rebalances=0, causes=(0,) * len(CAUSES))
    page = history_page(
        replace(
            one,
            totals=replace(one.totals, rebalances=0),
            periods=(quiet,),
            worst=(),
            protocols=(),
            timelines=(),
        )
    )
    assert _parts(page) == ["Rebalances per day", "Migration to the consumer protocol"]
    assert "There were none." in page


def test_without_durations_the_worst_are_those_that_rebalanced_most_often() -> None:
    page = history_page(fleet_numbers.one())
    assert "The log contains no durations; orders rebalanced most often: 1 rebalance." in page
    assert '<rect class="k3" x="0%" width="100%"' in page


def test_unknown_values_are_not_shown_as_zero() -> None:
    one = fleet_numbers.one()
    page = history_page(one)
    assert "<li><b>-</b><span>rebalancing</span></li>" in page
    assert "1 rebalance (join 1), duration not known" in page
    assert "orders: 1 rebalance, duration not known" in page
    assert "revoked 0; duration not known" in page
    assert re.search(r">took</text>\n<text[^>]*>not known</text>", page)
    # Of time without owner it is known that there was none: of the group, of its protocol, per rebalance.
    assert page.count("0 s") == 3

    (mark,) = one.timelines[0].marks
    assert one.totals is not None
    page = history_page(
        replace(
            one,
            totals=replace(one.totals, rebalancing_s=0.0),
            worst=(replace(one.worst[0], rebalancing_s=0.0),),
            timelines=(replace(one.timelines[0], marks=(replace(mark, rebalancing_s=0.0),)),),
        )
    )
    assert "<li><b>0 s</b><span>rebalancing</span></li>" in page
    assert "No rebalance took any time; orders rebalanced most often: 1 rebalance." in page
    assert "revoked 0; 0 s" in page
    assert re.search(r">took</text>\n<text[^>]*>none</text>", page)


def test_columns_are_as_high_as_their_numbers() -> None:
    """What is drawn, read back: the heights of each cause's rectangles are in the ratio of the numbers."""
    numbers = fleet_numbers.fleet()
    page = history_page(numbers)
    plot = page[page.index("Rebalances per day, by cause") :]
    top = max(
        float(step.replace(",", ""))
        for step in re.findall(r">([\d,]+)</span>", page[: page.index("by cause")])
    )
    for place, style in enumerate(CAUSE_STYLES):
        path = re.search(rf'<path class="{style}" d="([^"]*)"', plot)
        assert path is not None
        drawn = {
            int(float(x)): float(height)
            for x, height in re.findall(r"M([\d.]+) [\d.]+h[\d.]+v([\d.]+)", path[1])
        }
        wanted = {
            column: 100 * period.causes[place] / top
            for column, period in enumerate(numbers.periods)
            if period.causes[place]
        }
        assert drawn == pytest.approx(wanted, abs=0.006)


@pytest.mark.parametrize(("days", "reached"), [(1, 0.5), (2, 0.8), (7, 0.98), (34, 0.99)])
def test_columns_are_spread_over_the_whole_width(days: int, reached: float) -> None:
    page = history_page(fleet_numbers.fleet(days=days))
    before, _, plot = page.partition("Rebalances per day, by cause")
    width = float(before.rpartition('viewBox="0 0 ')[2].partition(" ")[0])
    ends = [
        float(x) + float(wide)
        for x, wide in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", plot.partition("</svg>")[0])
    ]
    assert reached <= max(ends) / width <= 1


def test_every_column_says_its_numbers() -> None:
    numbers = fleet_numbers.fleet()
    page = history_page(numbers)
    for period in numbers.periods:
        said = re.search(
            rf"{period.day.day} {period.day:%b} {period.day.year}: ([\d,]+) rebalances? \(([^)]*)\)", page
        )
        assert said is not None
        assert int(said[1].replace(",", "")) == period.rebalances
        causes = dict(each.split(" ") for each in said[2].split(", "))
        assert {cause: int(count.replace(",", "")) for cause, count in causes.items()} == {
            cause: count for cause, count in zip(CAUSES, period.causes, strict=True) if count
        }


@pytest.mark.parametrize("case", CASES)
def test_nothing_runs_and_nothing_is_fetched(case: Callable[[], ReportNumbers]) -> None:
    page = history_page(case())
    Page(page).check_harmless()
    assert "default-src 'none'" in page
    assert "url(http" not in page


def test_names_that_others_chose_are_text_and_short() -> None:
    page = history_page(fleet_numbers.fleet())
    assert any(HOSTILE[:20] in text for texts in Page(page).texts.values() for text in texts)
    assert "\u202e" not in page
    assert "é" * 250 not in page


def test_a_big_fleet_gives_a_page_that_a_mail_can_carry() -> None:
    numbers = fleet_numbers.fleet(days=400, groups=20_000, marks=120)
    assert len(history_page(numbers).encode()) < MOST_BYTES
    hostile = replace(numbers, sources=("/x" * 20_000,) * 500, worst=tuple(
        replace(group, group=f"{place}{HOSTILE * 90}") for place, group in enumerate(numbers.worst)
    ))  # fmt: skip
    assert len(history_page(hostile).encode()) < MOST_BYTES


def test_weeks_are_named_from_their_first_day_to_their_last() -> None:
    numbers = replace(fleet_numbers.fleet(days=5), step_days=7)
    page = history_page(numbers)
    assert "Rebalances per 7 days" in page
    assert "20 Oct 2026 to 26 Oct 2026: " in page


@pytest.mark.parametrize("case", CASES)
def test_the_same_numbers_as_json(case: Callable[[], ReportNumbers]) -> None:
    numbers = case()
    data = json.loads(json.dumps(numbers.as_data(), allow_nan=False))
    assert data["kohort"] == 1
    report = data["report"]
    assert report["made"] == "2026-11-22T06:30:00Z"
    assert [period["causes"] for period in report["periods"]] == [list(one.causes) for one in numbers.periods]
    assert [group["group"] for group in report["worst"]] == [one.group for one in numbers.worst]
    assert [one["destination"] for one in report["readiness"]] == [
        one.destination for one in numbers.readiness
    ]


SVG = "{http://www.w3.org/2000/svg}"


def _texts(drawing: str) -> list[str]:
    root = ElementTree.fromstring(drawing)
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("marks", [0, 1, 24, 120])
def test_it_is_xml_whatever_the_names(marks: int) -> None:
    root = ElementTree.fromstring(timeline_svg(timeline(HOSTILE + "\x00\x1b\ud800", marks=marks)))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text is not None
    assert title.text.startswith('Rebalances of "><script>')


def test_every_rebalance_has_a_box_in_the_row_of_its_cause() -> None:
    shown = timeline("orders", marks=40)
    drawing = timeline_svg(shown)
    for cause, style in enumerate(CAUSE_STYLES):
        if style == "k1":
            continue  # members have the same color
        wanted = [
            f"{mark.start:%Y-%m-%d %H:%M:%S}, epoch {mark.epoch}"
            for mark in shown.marks
            if mark.causes[cause]
        ]
        boxes = re.findall(rf'<rect class="{style}"[^>]*><title>([^:]*:[^:]*:[^:]*):', drawing)
        assert boxes == wanted
        assert (CAUSES[cause] in _texts(drawing)) == bool(wanted)


def test_it_is_drawn_from_left_to_right() -> None:
    places = [
        float(x)
        for x in re.findall(r'<rect class="k1" x="([\d.]+)"', timeline_svg(timeline("orders", marks=30)))
    ]
    members = places[-30:]
    assert members == sorted(set(members))


def test_one_rebalance_says_what_it_was() -> None:
    (shown,) = one().timelines
    drawing = timeline_svg(shown)
    assert (
        "2026-10-20 09:15:00, epoch 1: join; members 1 (+1 -0); moved 0, revoked 0; duration not known"
        in drawing
    )
    assert {"20 Oct 2026", "09:15:00", "classic, range", "join"} & set(_texts(drawing)) >= {
        "20 Oct 2026",
        "09:15:00",
        "join",
    }


def test_a_stretch_of_rebalances_says_how_many_and_of_what() -> None:
    (shown,) = one().timelines
    mark = replace(shown.marks[0], rebalances=1_204, causes=(1_200, 4, 0, 0, 0, 0, 0, 0), epoch=2_000)
    drawing = timeline_svg(GroupTimeline(group="orders", marks=(mark,)))
    assert "1,204 rebalances to epoch 2000: join 1,200, leave 4;" in drawing
    assert "Rebalances of orders: 1,204" in drawing
    assert {"1,200", "4"} <= set(_texts(drawing))


def test_quiet_is_the_time_from_the_end_of_one_to_the_start_of_the_next() -> None:
    (shown,) = one().timelines
    first = replace(shown.marks[0], end=FIRST + timedelta(seconds=10))
    later = [
        replace(first, start=FIRST + timedelta(seconds=s), end=FIRST + timedelta(seconds=s)) for s in (4, 75)
    ]
    texts = _texts(timeline_svg(GroupTimeline(group="orders", marks=(first, *later))))
    assert "1 min 11 s" in texts
    assert "at most 1 min 11 s" in texts


def test_no_rebalance_says_so() -> None:
    assert _texts(timeline_svg(GroupTimeline(group="orders", marks=()))) == ["no rebalances"]
