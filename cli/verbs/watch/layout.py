"""A document on a screen that does not scroll: what does not fit is counted, and changed cells are marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from cli.render.cells import Cell, cell_text, safe_text, text_width
from cli.render.document import Block, Checklist, Code, Column, Document, Heading, Picture, Table, Text
from cli.render.table import natural_width, repeating_columns
from cli.verbs.watch.redraw import Line, Piece, Style

TEXT_WIDTH = 80
_GAP = "  "
Texts = Sequence[Sequence[Piece]]


def document_lines(document: Document, before: Document | None, width: int) -> Iterator[Line]:
    """The blocks of a document, an empty line between two; what is new since `before` is marked."""
    earlier = {} if before is None else dict(_tables(before))
    tables = 0
    for position, block in enumerate(document.blocks):
        if position:
            yield ()
        if isinstance(block, Table):
            yield from table_lines(block, earlier.get(tables), width)
            tables += 1
        else:
            yield from _text_lines(block, width)


def shortened(lines: Sequence[Line], height: int) -> list[Line]:
    """The lines that fit, the last of them saying how many do not."""
    if len(lines) <= height:
        return list(lines)
    kept = max(height - 1, 0)
    return [*lines[:kept], (Piece(f"… {len(lines) - kept:,} more lines", Style.FAINT),)]


def table_lines(table: Table, before: Table | None, width: int) -> Iterator[Line]:
    """In columns where they fit, else with what repeats taken out, else a line per cell."""
    texts = _marked(table, before)
    bare = [[piece.text for piece in row] for row in texts]
    if natural_width(table.columns, bare) <= width:
        yield from _columns(table.columns, texts, with_heads=table.header)
        return
    taken = repeating_columns(table.columns, bare, width)
    if taken is None:
        yield from _records(table.columns, texts)
    else:
        yield from _sections(table.columns, texts, taken, with_heads=table.header)


def column_lines(table: Table, before: Table | None) -> Iterator[Line]:
    """In columns, however wide they are."""
    yield from _columns(table.columns, _marked(table, before))


def _marked(table: Table, before: Table | None) -> list[list[Piece]]:
    marks = changed_cells(before, table)
    return [
        [
            Piece(safe_text(cell_text(cell)), Style.CHANGED if (number, position) in marks else Style.PLAIN)
            for position, cell in enumerate(row)
        ]
        for number, row in enumerate(table.rows)
    ]


def _tables(document: Document) -> Iterator[tuple[int, Table]]:
    return enumerate(block for block in document.blocks if isinstance(block, Table))


def _text_lines(block: Block, width: int) -> Iterator[Line]:
    if isinstance(block, Heading):
        yield (Piece(safe_text(block.text), Style.BOLD),)
    elif isinstance(block, Text | Picture):
        lines = wrap(safe_text(block.text), min(width, TEXT_WIDTH), break_on_hyphens=False)
        yield from ((Piece(line),) for line in lines)
    elif isinstance(block, Code):
        yield from ((Piece("    " + safe_text(line)),) for line in block.lines)
    elif isinstance(block, Checklist):
        yield from ((Piece(f"[ ] {safe_text(item)}"),) for item in block.items)


def _columns(columns: Sequence[Column], rows: Texts, *, with_heads: bool = True) -> Iterator[Line]:
    widths = [
        max([text_width(column.name) if with_heads else 0, *(text_width(row[position].text) for row in rows)])
        for position, column in enumerate(columns)
    ]
    if with_heads:
        yield _row(columns, widths, [Piece(column.name, Style.BOLD) for column in columns])
    for row in rows:
        yield _row(columns, widths, row)


def _row(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Piece]) -> Line:
    pieces: list[Piece] = []
    for position, (column, width, cell) in enumerate(zip(columns, widths, cells, strict=True)):
        blank = " " * (width - text_width(cell.text))
        gap = _GAP if position else ""
        if column.number:
            pieces += [Piece(gap + blank), cell]
        else:
            pieces += [Piece(gap), cell, Piece(blank)]
    while pieces and not pieces[-1].text.strip() and pieces[-1].style is not Style.CHANGED:
        pieces.pop()
    return tuple(piece for piece in pieces if piece.text)


def _sections(
    columns: Sequence[Column], rows: Texts, taken: Sequence[int], *, with_heads: bool
) -> Iterator[Line]:
    """What rows in a row share stands above them."""
    rest = [position for position in range(len(columns)) if position not in taken]
    sections: list[tuple[list[str], list[list[Piece]], Sequence[Piece]]] = []
    for row in rows:
        shared = [row[position].text for position in taken]
        if not sections or sections[-1][0] != shared:
            sections.append((shared, [], row))
        sections[-1][1].append([row[position] for position in rest])
    for number, (_, inner, first) in enumerate(sections):
        if number:
            yield ()
        for position in taken:
            yield (Piece(columns[position].name, Style.BOLD), Piece(_GAP), first[position])
        yield from _columns([columns[position] for position in rest], inner, with_heads=with_heads)


def _records(columns: Sequence[Column], rows: Texts) -> Iterator[Line]:
    width = max(text_width(column.name) for column in columns)
    for number, row in enumerate(rows):
        if number:
            yield ()
        for column, cell in zip(columns, row, strict=True):
            yield (Piece(f"{column.name:{width}}", Style.BOLD), Piece(_GAP), cell)


Row = Sequence[Cell]


def changed_cells(before: Table | None, after: Table) -> frozenset[tuple[int, int]]:
    """Places (row, column) in `after`, from 0. Nothing is changed where there was no table before.

    Rows are the same when the first columns that tell all rows apart agree in them. A new row is changed all over, and
    so is a column that was not there.
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
    """How many columns it takes to tell rows apart, in both tables; all that they share where none do."""
    shared = next((count for count, name in enumerate(names) if name not in places), len(names))
    for count in range(1, shared + 1):
        old = {tuple(row[places[name]] for name in names[:count]) for row in before.rows}
        new = {tuple(row[:count]) for row in after.rows}
        if len(old) == len(before.rows) and len(new) == len(after.rows):
            return count
    return shared
