"""Text in drawings: escaped, and cut to a width."""

from __future__ import annotations

from html import escape

from cli.render.cells import safe_text

LETTER = 6.3
"""About how wide a letter is, in the units of a drawing."""


def fitting(text: str, width: float) -> str:
    """The text, cut to a width; its whole stands in a title."""
    most = int(width / LETTER)
    return text if len(text) <= most else text[: most - 1] + "\u2026" if most > 2 else ""


def shortened(name: str, width: float) -> str:
    """A name without its middle: names often begin alike and differ at the end."""
    return shortened_to(name, int(width / LETTER))


def shortened_to(name: str, most: int) -> str:
    """A name of at most so many characters, without its middle where it is longer."""
    if len(name) <= most:
        return name
    return name[: (most - 1) // 2] + "\u2026" + name[-(most // 2) :]


def markup(text: str) -> str:
    """Without markup, and without characters that turn a page around or that a drawing does not allow."""
    return escape(safe_text(text))
