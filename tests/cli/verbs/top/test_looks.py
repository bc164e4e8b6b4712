"""How it looks and is found: keys on screen, widths, themes, the mouse, names that try to harm."""

import unicodedata
from itertools import cycle
from pathlib import Path

import pytest
from textual.widgets import Input

from cli.options import SourceOptions
from cli.render.cells import text_width
from cli.verbs.top.key_line import keys_by_place
from cli.verbs.top.options import TopOptions
from cli.verbs.top.theme import DARK, LIGHT, OWN_DARK, OWN_LIGHT, first_theme
from tests.cli.verbs.top.driving import AT_MS, SMALL, Driven, drive, saved

HOSTILE = (
    "[bold red]markup[/]",
    "[@click=app.quit]click[/]",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202eright to left\u202c",
    "日本語の消費者グループ" * 8,
    "e\u0301\u0300" * 20,
    "👩‍👩‍👧‍👦 family",
    "x" * 249,
    "\n\ttwo\r\nlines",
    " ",
)


@pytest.fixture
def hostile(tmp_path: Path) -> SourceOptions:
    member = {"id": HOSTILE[0], "client": {"id": HOSTILE[2], "host": HOSTILE[4]}}
    group = {"type": "classic", "state": "Stable", "members": [member]}
    return saved(tmp_path, dict.fromkeys(HOSTILE, group))


def test_names_neither_harm_the_screen_nor_move_a_column(hostile: SourceOptions) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        assert {text_width(line[: line.find("Stable")]) for line in top.lines if "Stable" in line} == {26}
        for name, size in zip(sorted(HOSTILE), cycle((SMALL, (31, 9), (1, 1))), strict=False):
            await top.pilot.resize_terminal(*size)
            while top.app.group != name:
                await top.press("down")
            for key in ("enter", "question_mark", "escape", "f", "slash", "x", "escape", "escape", "colon"):
                await top.press(key)
                assert not any(unicodedata.category(letter) in ("Cc", "Cf") for letter in "".join(top.lines))
            await top.press("escape")

    drive(course, hostile)


def test_what_a_stranger_looks_for_is_on_the_screen(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        for words in ("Enter Open", "s Sort", "/ Filter", ": Command", "? Keys", "q Quit"):
            assert words in top.lines[-1]
        await top.press("enter")
        assert "Esc Back" in top.lines[-1]
        await top.press("escape", "slash", *"nothing")
        assert "state:" in top.lines[-1]
        assert "Esc Clear" in top.lines[-1]
        assert "Nothing matches the filter" in top.text
        await top.press("escape", "question_mark")
        assert "To a time in the past" in top.text

    drive(course, SourceOptions(embedded=sample), at_ms=AT_MS)


def test_no_line_ends_in_the_middle_of_its_keys(sample: Path) -> None:
    async def course(top: Driven) -> None:
        for width in (40, 60, 80, 200):
            await top.pilot.resize_terminal(width, 24)
            await top.wait_for(lambda: top.lines[-1].endswith("q Quit"), "the last key")

    drive(course, SourceOptions(embedded=sample))


def test_the_mouse_sorts_opens_and_presses_keys(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        await top.pilot.click(offset=(top.lines[1].index("STATE"), 1))
        await top.wait_for("STATE▲")
        await top.pilot.click(offset=(5, 4), times=2)
        await top.wait_for(lambda: top.screen == "GroupScreen", "a group")
        tabs = next(number for number, line in enumerate(top.lines) if "o partitions" in line)
        await top.pilot.click(offset=(top.lines[tabs].index("partitions"), tabs))
        await top.wait_for("COMMITTED")
        await top.pilot.click(offset=(top.lines[-1].index("Esc"), 23))
        await top.wait_for(lambda: top.screen == "GroupsScreen", "the list")

    drive(course, SourceOptions(embedded=sample))


def test_the_wheel_takes_the_cursor_along(tmp_path: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        grid = top.app.screen.query_one("Grid")
        grid.scroll_to(y=40, animate=False)
        await top.wait_for("group-045")
        assert top.app.group == "group-040"
        await top.press("r")
        await top.wait_for("group-045")

    groups = {f"group-{number:03}": {"type": "consumer"} for number in range(100)}
    drive(course, saved(tmp_path, groups))


def test_a_filter_that_is_kept_stays_on_the_screen(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        await top.press("slash", *"state:empty", "enter")
        assert top.app.group == "nightly-report"
        assert "/ state:empty" in top.text
        assert "1 of 10 groups" in top.text
        await top.press("escape")
        assert "10 groups" in top.text
        assert not top.app.screen.query_one(Input).value

    drive(course, SourceOptions(embedded=sample))


@pytest.mark.parametrize(
    ("environment", "colors", "theme"),
    [
        ({}, "truecolor", DARK),
        ({"COLORFGBG": "0;15"}, "256", LIGHT),
        ({"COLORFGBG": "15;default;0"}, "256", DARK),
        ({}, "standard", OWN_DARK),
        ({"COLORFGBG": "0;7"}, "standard", OWN_LIGHT),
        ({"NO_COLOR": "1"}, "truecolor", OWN_DARK),
        ({"KOHORT_COLOR": "never"}, "truecolor", OWN_DARK),
        ({"TEXTUAL_THEME": "nord"}, "standard", None),
    ],
)
def test_the_first_theme(environment: dict[str, str], colors: str, theme: str | None) -> None:
    assert first_theme(environment, colors) == theme


def test_a_key_shows_each_theme_in_turn(sample: Path) -> None:
    async def course(top: Driven) -> None:
        themes = set()
        for _ in range(4):
            await top.press("a")
            themes.add(top.app.theme)
        assert themes == {DARK, LIGHT, OWN_DARK, OWN_LIGHT}

    drive(course, SourceOptions(embedded=sample))


@pytest.mark.parametrize("variable", ["NO_COLOR=1", "KOHORT_COLOR=never"])
def test_no_color_is_shown_where_it_is_not_wanted(
    sample: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        strips = top.app.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
        colors = [color for style in styles for color in (style.color, style.bgcolor) if color is not None]
        assert [color for color in colors if not color.is_default] == []
        assert any(style.reverse for style in styles)

    monkeypatch.setenv(*variable.split("="))
    drive(course, SourceOptions(embedded=sample))


def test_a_resized_terminal_keeps_the_group_that_is_read(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        await top.press("enter")
        await top.pilot.resize_terminal(120, 40)
        assert top.app.poller._focus.opened == "audit"

    drive(course, SourceOptions(embedded=sample))


def test_every_key_is_in_the_page(sample: Path) -> None:
    page = (Path(__file__).parents[4] / "docs" / "top.md").read_text()

    async def course(top: Driven) -> None:
        await top.read()
        for way in ("", "enter", "P", "c", "T", "C", "X"):
            await top.press(*([way] if way else []))
            keys = [key for place in keys_by_place(top.app.screen).values() for key in place]
            assert [name for key in keys for name in key.names.split() if f"`{name}`" not in page] == [], way
            if way:
                await top.press("escape")

    drive(course, SourceOptions(embedded=sample), TopOptions(every=3600.0, read_only=True))
