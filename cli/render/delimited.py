"""CSV: the tables of a document, one after the other, with an empty line between."""

from __future__ import annotations

import csv
from typing import TextIO

from cli.render.cells import cell_text
from cli.render.document import Document, Table


def render_csv(document: Document, stream: TextIO) -> None:
    """RFC 4180 with `\\n` line ends; an unknown cell is empty."""
    writer = csv.writer(stream, lineterminator="\n")
    tables = [block for block in document.blocks if isinstance(block, Table)]
    for position, table in enumerate(tables):
        if position:
            stream.write("\n")
        writer.writerow([column.name for column in table.columns])
        writer.writerows(["" if cell is None else cell_text(cell) for cell in row] for row in table.rows)
