"""Cells of tables, and their text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Self, TypeAlias

from groups.times import duration_text

MISSING = "-"
_CODE = re.compile(r"""(?<![^\s(\[{"'/=,])`(?=[^\s`])(.{0,2000}?[^\s`])`(?![^\s)\]}"'/.,;:!?])""")
"""Code between backticks, which stand outside of words: other backticks belong to a name, also those in the code."""


class Duration(int):
    """A cell of milliseconds, printed for people as `4 min 5 s`, and in CSV in seconds."""

    __slots__ = ()


def duration_cell(seconds: float | None) -> Duration | None:
    return None if seconds is None else Duration(round(seconds * 1000))


class Link(str):
    """A cell whose text is a link in pages: to `target`, a relative address, as in a URL."""

    __slots__ = ("target",)
    target: str

    def __new__(cls, text: str, target: str) -> Self:
        link = super().__new__(cls, text)
        link.target = target
        return link


Cell: TypeAlias = str | int | float | bool | None
"""The value of a cell. None means unknown or not applicable, and is printed as `-`."""


_BLANK_START = re.compile(r"( *)(?=[:,] )")


def quoted_start(text: str) -> str:
    """A message or heading that begins with an id, then `: ` or `, `. A blank id, which Kafka allows, is quoted."""
    blank = _BLANK_START.match(text)
    return text if blank is None else f"'{blank[1]}'{text[blank.end() :]}"


def needs_quotes(text: str, column: str) -> bool:
    """Whether a group's id would not be seen: it is empty, or has blanks at an end, which Kafka allows (KIP-289)."""
    return column == "GROUP" and (text[:1] in ("", " ") or text[-1] == " ")


def cell_text(cell: Cell, column: str = "") -> str:
    """A cell for people: `-` for unknown, true and false as Kafka's tools print them; quoted if it `needs_quotes`."""
    if cell is None:
        return MISSING
    if isinstance(cell, str):
        return f"'{cell}'" if needs_quotes(cell, column) else cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    if isinstance(cell, Duration):
        return duration_text(cell)
    return str(cell)


def safe_text(text: str) -> str:
    """Escape the characters that would control a terminal: names and metadata are untrusted."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def prose_parts(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a sentence without control characters, each with whether it is code: ``run `kohort list` ``."""
    parts = _CODE.split(safe_text(text))
    yield from ((part, index % 2 == 1) for index, part in enumerate(parts) if part)


def text_width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def partitions_text(partitions: Mapping[str, Sequence[int]] | None) -> str | None:
    """An assignment as kafka-consumer-groups prints it: `t1:0,1;t2:3`; None for an empty or unknown one."""
    if not partitions:
        return None
    texts = (f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in partitions.items())
    return ";".join(sorted(texts))
