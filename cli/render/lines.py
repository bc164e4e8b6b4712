"""Lines of text for people, in pieces that each have a role; `color.py` defines the color of each role."""

from enum import Enum, auto
from textwrap import wrap
from typing import NamedTuple, TypeAlias

from cli.render.cells import text_width

CUT = "…"  # Marks the end of a line that is cut off, or the missing middle of a text


class Role(Enum):
    PLAIN = auto()
    HEADING = auto()
    STRONG = auto()  # Text to type, or to emphasize without a warning
    FAINT = auto()
    GOOD = auto()
    WARNING = auto()
    BAD = auto()
    CHANGED = auto()  # Changed since the screen was last drawn


class Piece(NamedTuple):
    """A piece of a line, without control characters."""

    text: str
    role: Role = Role.PLAIN


Line: TypeAlias = tuple[Piece, ...]


def plain(line: Line) -> str:
    return "".join(piece.text for piece in line).rstrip()


def line_width(line: Line) -> int:
    return sum(text_width(piece.text) for piece in line)


def cut(line: Line, width: int) -> Line:
    """The line in at most `width` columns."""
    if line_width(line) <= width:
        return line
    kept: list[Piece] = []
    left = width - 1
    for piece in line:
        taken = text_width(piece.text)
        if taken > left:
            return (*kept, Piece(beginning(piece.text, left) + CUT, piece.role))
        kept.append(piece)
        left -= taken
    return tuple(kept)


def folded(
    text: str, width: int, role: Role = Role.PLAIN, *, indent: int = 2, breaks: bool = True
) -> list[Line]:
    """The lines of a paragraph, all but the first indented; `breaks`: words that are too long are broken."""
    lines = wrap(
        text,
        max(width, indent + 8),
        subsequent_indent=" " * indent,
        break_long_words=breaks,
        break_on_hyphens=False,
    )
    return [(Piece(line, role),) for line in lines]


def beginning(text: str, width: int) -> str:
    """The longest beginning of a text that takes at most `width` columns."""
    if text.isascii():
        return text[:width]
    for position in range(len(text)):
        if text_width(text[: position + 1]) > width:
            return text[:position]
    return text
