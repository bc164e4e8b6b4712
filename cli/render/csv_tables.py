"""CSV, written in one place: RFC 4180 with line feeds; unknown cells are empty, and durations are in seconds.

A text that a spreadsheet would run as a formula (`=cmd|…`) gets an apostrophe before it: ids and metadata are
untrusted. So does a text that already begins with apostrophes before such a character: removing one gives the text
again. Numbers stay numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import TextIO

from cli.render.cells import Cell, Duration, cell_text
from cli.render.document import Document, Table

_FORMULA = re.compile(r"'*[=+\-@\t\r].")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def render_csv(document: Document, stream: TextIO) -> None:
    """Write the tables of a document, separated by empty lines."""
    writer = CsvWriter(stream)
    tables = [block for block in document.blocks if isinstance(block, Table)]
    for position, table in enumerate(tables):
        if position:
            stream.write("\n")
        if table.header:
            writer.heading([column.csv_name for column in table.columns])
        writer.rows(table.rows)


class CsvWriter:
    """Writes rows to a stream."""

    def __init__(self, stream: TextIO) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")

    def heading(self, names: Sequence[str]) -> None:
        """Write the names of all columns."""
        self._writer.writerow(names)

    def rows(self, rows: Iterable[Sequence[Cell]], *first: str) -> None:
        """Write rows for programs; `first` are cells that precede the cells of each row."""
        before = list(first)
        self._writer.writerows([*before, *_texts(row)] for row in rows)


def _texts(row: Iterable[Cell]) -> list[str]:
    return [
        _harmless(cell) if type(cell) is str else str(cell) if type(cell) is int else _text(cell)
        for cell in row
    ]


def _harmless(text: str) -> str:
    is_formula = _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None
    return f"'{text}" if is_formula else text


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell / 1000:.3f}" if isinstance(cell, Duration) else cell_text(cell)
