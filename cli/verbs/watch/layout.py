"""A document on a screen that does not scroll: lines that do not fit are counted, and changed cells are marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.render.cells import Cell
from cli.render.document import Document, Table
from cli.render.layout import document_lines, table_pieces
from cli.render.lines import Line, Piece, Role


def changed_document_lines(document: Document, before: Document | None, width: int) -> Iterator[Line]:
    """The lines of a document; cells that are new since `before` are marked."""
    earlier = iter(
        [] if before is None else [block for block in before.text_blocks if isinstance(block, Table)]
    )
    return document_lines(document, width, lambda table: marked(table, next(earlier, None)))


def shortened(lines: Sequence[Line], height: int) -> list[Line]:
    """The lines that fit; the last one contains the number of lines that do not."""
    if len(lines) <= height:
        return list(lines)
    kept = max(height - 1, 0)
    return [*lines[:kept], (Piece(f"… {len(lines) - kept:,} more lines", Role.FAINT),)]


def marked(table: Table, before: Table | None) -> list[list[Piece]]:
    """The cells of a table; changed cells are marked."""
    changed = changed_cells(before, table)
    pieces = table_pieces(table)
    for row, position in changed:
        pieces[row][position] = pieces[row][position]._replace(role=Role.CHANGED)
    return pieces


Row = Sequence[Cell]


def changed_cells(before: Table | None, after: Table) -> frozenset[tuple[int, int]]:
    """The changed cells as (row, column) in `after`, from 0; empty if there was no table before.

    Rows correspond if they agree in the first columns that distinguish all rows. All cells of a new row or a new
    column are changed.
    """
    if before is None:
        return frozenset()
    names = [column.name for column in after.columns]
    places = {column.name: position for position, column in enumerate(before.columns)}
    keys = _key_columns(before, after, names, places)
    known = {tuple(row[places[names[key]]] for key in range(keys)): row for row in before.rows}
    changed: set[tuple[int, int]] = set()
    for number, row in enumerate(after.rows):
        old = known.get(tuple(row[:keys]))
        for position, name in enumerate(names):
            if old is None or name not in places or old[places[name]] != row[position]:
                changed.add((number, position))
    return frozenset(changed)


def _key_columns(before: Table, after: Table, names: Sequence[str], places: dict[str, int]) -> int:
    """The number of first columns that distinguish all rows in both tables; if none do, of all shared ones."""
    shared = next((count for count, name in enumerate(names) if name not in places), len(names))
    for count in range(1, shared + 1):
        old = {tuple(row[places[name]] for name in names[:count]) for row in before.rows}
        new = {tuple(row[:count]) for row in after.rows}
        if len(old) == len(before.rows) and len(new) == len(after.rows):
            return count
    return shared
