"""Pictures of a terminal for README.md and the docs: what commands print of the sample fleet, as SVG. `python -m
tests.docs.pictures` writes them to docs/pictures; with a directory, it draws the screens of tests/golden/screens
there instead, on a dark and a light terminal."""

import io
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from cli.render.color import painted
from cli.verbs.migrate.view import view_lines
from tests.cli.command import Kohort
from tests.cli.render.screens import DIRECTORY as SCREENS
from tests.cli.verbs.migrate.test_view import VIEWS
from tests.support.golden import GOLDEN
from tests.support.terminals import on_terminal

DIRECTORY = Path(__file__).parents[2] / "docs" / "pictures"
TOP = GOLDEN / "top"
COLUMNS = 100
LIVE = "migrate"
SCREENS_OF_TOP = {"top": "groups", "top-group": "group", "top-past": "past", "top-change": "change"}
"""Golden screens of `kohort top` by the name of their picture."""
PICTURES = {
    "list": "list",
    "plan": "plan legacy-etl --to consumer --client java:4.1.0",
    LIVE: "migrate PLAN.yaml --restart ./restart.sh --execute",
}
"""Commands by the name of their picture; of the live view, a moment of the tests is drawn."""
DARK, LIGHT = SVG_EXPORT_THEME, DEFAULT_TERMINAL_THEME
_FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Without fonts from elsewhere: a picture needs nothing but itself."""


def picture(text: str, columns: int, title: str, theme: TerminalTheme = DARK) -> str:
    console = Console(
        width=columns, record=True, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    console.print(Text.from_ansi(text), soft_wrap=False)
    return console.export_svg(title=title, theme=theme, code_format=_FRAME, unique_id="terminal")


def shown(kohort: Kohort, command: str, columns: int) -> str:
    return on_terminal([kohort.executable, *shlex.split(command)], kohort.env, columns=columns).terminal


def draw_screens(directory: Path) -> None:
    """The screens that goldens hold, to look at."""
    directory.mkdir(exist_ok=True)
    for file in sorted(SCREENS.glob("*-*.txt")):
        columns = int(file.stem.rpartition("-")[2])
        for name, theme in (("dark", DARK), ("light", LIGHT)):
            svg = picture(file.read_text(), columns, f"{file.stem}, {name}", theme)
            (directory / f"{file.stem}-{name}.svg").write_text(svg, encoding="utf-8")


def draw(name: str, kohort: Kohort) -> str:
    if name in SCREENS_OF_TOP:
        return (TOP / f"{SCREENS_OF_TOP[name]}-80x24-dark.svg").read_text(encoding="utf-8")
    command = PICTURES[name]
    text = live_view() if name == LIVE else shown(kohort, command, COLUMNS)
    return picture(text, COLUMNS, f"kohort {command}")


def live_view() -> str:
    lines = view_lines(VIEWS["waiting"], COLUMNS, 24)
    return "".join(painted(line) + "\n" for line in lines)


def main(arguments: Sequence[str]) -> None:
    """Write the pictures of the documentation, or those of the screens."""
    if arguments:
        draw_screens(Path(arguments[0]))
        return
    DIRECTORY.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        kohort = Kohort(Path(home))
        kohort("demo").succeeded()
        for name in (*PICTURES, *SCREENS_OF_TOP):
            (DIRECTORY / f"{name}.svg").write_text(draw(name, kohort), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
