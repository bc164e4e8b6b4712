"""Columns as the tool prints them: left-justified, each as wide as told, the last one without padding.

Characters that would steer a terminal are escaped: names come from whoever wrote them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cli.render.cells import MISSING, safe_text

NARROWEST = 15
"""The width of columns of names that are all short."""


def width_of(values: Iterable[str], narrowest: int = NARROWEST) -> int:
    """The width of a column: of its longest value, in UTF-16 units as Java counts, and at least `narrowest`."""
    return max([narrowest, *(java_length(safe_text(value)) for value in values)])


def java_length(text: str) -> int:
    """The length of a string as Java tells it."""
    return len(text) + sum(character > "\uffff" for character in text)


def row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """One line without its end; cells beyond the widths are not padded."""
    texts = [safe_text(cell) for cell in cells]
    padded = [text + " " * (width - java_length(text)) for text, width in zip(texts, widths, strict=False)]
    return " ".join([*padded, *texts[len(widths) :]])


def or_missing(value: object | None) -> str:
    """A value as text, `-` where it is None or empty."""
    return MISSING if value is None or value == "" else str(value)
