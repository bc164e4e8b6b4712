"""Lines of a screen: pieces of text, some of them marked, cut to the width of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from textwrap import wrap
from typing import NamedTuple, TypeAlias

CUT = "…"
"""Stands where a line is cut off."""


class Style(Enum):
    """How a piece of a line looks, as the number that a terminal knows it by."""

    PLAIN = ""
    BOLD = "1"
    FAINT = "2"
    CHANGED = "7"
    """Reverse: told without colour."""
    BAD = "1;31"


class Piece(NamedTuple):
    """A piece of a line; its text holds nothing that steers a terminal."""

    text: str
    style: Style = Style.PLAIN


Line: TypeAlias = tuple[Piece, ...]


def plain(line: Line) -> str:
    """The text of a line."""
    return "".join(piece.text for piece in line).rstrip()


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(line: Line, width: int) -> Line:
    """The line in at most `width` columns."""
    if sum(width_of(piece.text) for piece in line) <= width:
        return line
    kept: list[Piece] = []
    left = width - 1
    for piece in line:
        taken = width_of(piece.text)
        if taken > left:
            return (*kept, Piece(_beginning(piece.text, left) + CUT, piece.style))
        kept.append(piece)
        left -= taken
    return tuple(kept)


def folded(text: str, width: int, style: Style = Style.PLAIN, *, indent: int = 2) -> list[Line]:
    """A sentence on as many lines as it takes, those behind the first indented."""
    lines = wrap(text, max(width, indent + 8), subsequent_indent=" " * indent, break_on_hyphens=False)
    return [(Piece(line, style),) for line in lines]


def _beginning(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    for position in range(len(text)):
        if width_of(text[: position + 1]) > width:
            return text[:position]
    return text


def escaped(lines: Sequence[Line], width: int) -> Iterator[str]:
    """The lines as a terminal wants them, each cut to the width; what was there before on a line is erased."""
    for line in lines:
        shown = cut(line, width)
        text = "".join(
            f"\x1b[{piece.style.value}m{piece.text}\x1b[0m" if piece.style.value else piece.text
            for piece in shown
        )
        # Behind a line that fills the width, erasing would take its last character.
        rest = "" if sum(width_of(piece.text) for piece in shown) >= width else "\x1b[K"
        yield text + rest
