"""CSV: the tables of a document, one after the other, with an empty line between."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TextIO

from cli.render.cells import cell_text
from cli.render.document import Cell, Document, Duration, Table


def render_csv(document: Document, stream: TextIO) -> None:
    """RFC 4180 with `\\n` line ends; an unknown cell is empty, and durations are in seconds."""
    writer = csv.writer(stream, lineterminator="\n")
    tables = [block for block in document.blocks if isinstance(block, Table)]
    for position, table in enumerate(tables):
        if position:
            stream.write("\n")
        if table.header:
            writer.writerow([column.name for column in table.columns])
        writer.writerows(map(csv_texts, table.rows))


def csv_texts(row: Iterable[Cell]) -> list[str]:
    """A row for programs: as for people, but what is unknown is empty, and durations are seconds."""
    return [cell if type(cell) is str else str(cell) if type(cell) is int else _text(cell) for cell in row]


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell / 1000:.3f}" if isinstance(cell, Duration) else cell_text(cell)
