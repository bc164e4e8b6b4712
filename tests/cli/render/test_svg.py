"""Colors of pictures: a literal value, and the variable of a dark screen after it."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.render.lanes import clock_places
from cli.render.page import DRAWING, KINDS
from tests.cli.command import Kohort
from tests.docs.pages import DOCS


@pytest.mark.parametrize(
    ("length_ms", "step_ms"), [(900, 100), (95_000, 10_000), (600_000, 60_000), (7 * 3_600_000, 3_600_000)]
)
def test_marks_of_the_clock_are_at_round_times(length_ms: int, step_ms: int) -> None:
    start_ms = 7 * step_ms + 1
    places = list(clock_places(start_ms, start_ms + length_ms))
    assert places[0] == 8 * step_ms
    assert {later - earlier for earlier, later in pairwise(places)} == {step_ms}


def test_marks_of_weeks_are_at_midnight() -> None:
    assert list(clock_places(1, 30 * 86_400_000)) == [day * 86_400_000 for day in range(3, 31, 3)]


PAINTS = ("fill", "stroke", "color", "background")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


def check_colors(css: str) -> None:
    """A paint with a variable follows the same paint with a value."""
    painted = 0
    for selector, body in _RULE.findall(css):
        values: dict[str, str] = {}
        for name, value in re.findall(r"([\w-]+):([^;]+)", body):
            if name in PAINTS and "var(" in value:
                painted += 1
                assert "var(" not in values.get(name, "var("), (selector, name)
            values[name] = value
    assert painted


def test_each_paint_has_a_literal_first() -> None:
    check_colors(DRAWING)
    check_colors(KINDS)
    pictures = [file.read_text() for file in DOCS.rglob("*.svg")]
    drawn = [text for text in pictures if "var(" in text]
    assert drawn
    for text in drawn:
        check_colors("".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL)))
        assert "var(" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    "line",
    [
        "dry-run billing --add 1 --assignor cooperative-sticky --svg {svg} --embedded {sample}",
        "plan warehouse --to cooperative --svg {svg} --embedded {sample}",
        "simulate rolling-bounce --svg {svg}",
    ],
)
def test_a_picture_is_for_dark_screens_too(kohort: Kohort, sample: Path, tmp_path: Path, line: str) -> None:
    kohort.quick(line.format(svg=tmp_path / "x.svg", sample=sample)).succeeded()
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    css = "".join(element.text or "" for element in root.iter() if element.tag.endswith("style"))
    assert "@media (prefers-color-scheme: dark)" in css
    check_colors(css)
    for element in root.iter():
        assert not any("var(" in value for value in element.attrib.values())
