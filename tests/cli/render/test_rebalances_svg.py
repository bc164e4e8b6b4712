"""The timeline of a group's rebalances as a drawing."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from xml.etree import ElementTree

import pytest

from cli.verbs.fleet.rebalances_svg import CAUSE_STYLES, timeline_svg
from pipeline.report.numbers import CAUSES, GroupTimeline
from tests.cli.render.fleet_numbers import FIRST, HOSTILE, one, timeline

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
            continue  # members have the same colour
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
    assert "1m11s" in texts
    assert "at most 1m11s" in texts


def test_no_rebalance_says_so() -> None:
    assert _texts(timeline_svg(GroupTimeline(group="orders", marks=()))) == ["no rebalances"]
