"""Whether a stream gets color, and the code of each role, from the terminal's own colors, which its user chose.
Measurements on common palettes (tests/cli/render/test_color.py): these colors can be read on light and dark
backgrounds, yellow cannot. Bold makes red and magenta brighter, which some dark palettes need."""

import os
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TextIO

from cli.render.lines import Line, Role, plain

VARIABLE = "KOHORT_COLOR"  # The environment variable with the value of `--color`


class Color(Enum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


CODES: Mapping[Role, str] = {
    Role.PLAIN: "",
    Role.HEADING: "1",
    Role.STRONG: "1",
    Role.FAINT: "2",
    Role.GOOD: "32",
    Role.WARNING: "1;35",
    Role.BAD: "1;31",
    Role.CHANGED: "7",
}
MONOCHROME: Mapping[Role, str] = {**CODES, Role.GOOD: "", Role.WARNING: "1", Role.BAD: "1"}
"""Codes for a screen that is redrawn in place without color, but with marks."""


def choose_color(choice: Color | None) -> None:
    """Obey `--color`, also in the processes that this one starts; None means that it was not given."""
    if choice is not None:
        os.environ[VARIABLE] = choice.value


def has_color(stream: TextIO | None) -> bool:
    """Whether text on this stream is colored. `--color` decides; then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE in this
    order; then whether it is a terminal that supports colors and CLICOLOR is not 0."""
    choice = os.environ.get(VARIABLE, "").lower()
    if choice in (Color.ALWAYS.value, Color.NEVER.value):
        return choice == Color.ALWAYS.value
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    is_terminal = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    return is_terminal and os.environ.get("CLICOLOR") != "0"


def painted(line: Line, codes: Mapping[Role, str] = CODES) -> str:
    """The line for a terminal, each piece between its code and a reset."""
    return "".join(
        f"\x1b[{codes[piece.role]}m{piece.text}\x1b[0m" if codes[piece.role] and piece.text else piece.text
        for piece in line
    )


def text_lines(lines: Iterable[Line], *, color: bool) -> Iterable[str]:
    """The text of lines, without trailing blanks, each with a line feed."""
    for line in lines:
        yield (painted(_without_blanks(line)) if color else plain(line)) + "\n"


def _without_blanks(line: Line) -> Line:
    """The line without the blanks at its end."""
    left = list(line)
    while left and (kept := left[-1].text.rstrip()) != left[-1].text:
        last = left.pop()
        if kept:
            return (*left, last._replace(text=kept))
    return tuple(left)
