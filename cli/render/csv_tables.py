"""Columns and order that a user chose, and CSV: RFC 4180 with line feeds. Unknown cells are empty, and durations are in
seconds. A text that a spreadsheet would run as a formula gets an apostrophe before it: ids are untrusted."""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TextIO

from cli.errors import UsageError
from cli.render.cells import Cell, Duration, cell_text
from cli.render.document import Block, Document, Table
from cli.render.output_format import Shape, SortKey
from cli.render.streamed import Streamed
from wire.suggestion import did_you_mean

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
    def __init__(self, stream: TextIO) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self.heading: Callable[[Sequence[str]], object] = self._writer.writerow

    def rows(self, rows: Iterable[Sequence[Cell]], *first: str) -> None:
        """Write rows for programs; `first` are cells that precede the cells of each row."""
        self._writer.writerows(
            [*first, *[str(cell) if type(cell) is int else _text(cell) for cell in row]] for row in rows
        )


def _text(cell: Cell) -> str:
    if type(cell) is str:
        is_formula = _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None
        return f"'{cell}" if is_formula else cell
    if cell is None:
        return ""
    return f"{cell / 1000:.3f}" if isinstance(cell, Duration) else cell_text(cell)


def shaped(document: Document, shape: Shape) -> Document:
    """The document with its tables arranged. UsageError for a column that none of them has."""
    tables = [block for block in document.blocks if isinstance(block, Table)]
    _check("--sort", (key.column for key in shape.sort), tables)
    _check("--columns", shape.columns, tables)
    blocks = [_shaped(block, shape) for block in document.blocks]
    return replace(document, blocks=[block for block in blocks if block is not None], text=None)


def _check(option: str, names: Iterable[str], tables: Sequence[Table]) -> None:
    for name in names:
        if all(_position(table, name) is None for table in tables):
            there = list(dict.fromkeys(column.name for table in tables for column in table.columns))
            has = f"; there are {', '.join(there)}" if there else "; this answer has no table"
            raise UsageError(
                f"{option}: there is no column {name!r}{did_you_mean(name.upper(), there) or has}"
            )


def _shaped(block: Block, shape: Shape) -> Block | None:
    """The arranged block; None if it is left out."""
    if not isinstance(block, Table):
        return None if shape.columns else block
    table = replace(block, rows=_sorted(block, shape.sort), header=shape.header)
    if not shape.columns:
        return table
    places = [index for name in shape.columns if (index := _position(table, name)) is not None]
    if not places:
        return None
    columns = tuple(table.columns[index] for index in places)
    cells = itemgetter(*places, places[-1])  # the last one twice: with one place, there is no tuple

    def chosen(row: Sequence[Cell]) -> Sequence[Cell]:
        return tuple(cells(row)[:-1])

    rows = table.rows.mapped(chosen) if isinstance(table.rows, Streamed) else [*map(chosen, table.rows)]
    return replace(table, columns=columns, rows=rows)


def _position(table: Table, name: str) -> int | None:
    """The index of a column by its heading in any case; `PARTITIONS` also means `#PARTITIONS`."""
    lower_name = name.lower()
    headings = [column.name.lower() for column in table.columns]
    for names in (headings, [column.csv_name.lower() for column in table.columns]):
        for heading in (lower_name, f"#{lower_name}"):
            if heading in names:
                return names.index(heading)
    return None


def _sorted(table: Table, keys: Sequence[SortKey]) -> Sequence[Sequence[Cell]]:
    rows = list(table.rows) if keys else table.rows
    for key in reversed(keys):
        if (index := _position(table, key.column)) is not None:
            known = [row for row in rows if row[index] is not None]
            unknown = [row for row in rows if row[index] is None]
            known.sort(key=lambda row, index=index: _order(row[index]), reverse=key.is_descending)  # type: ignore[misc]
            rows = known + unknown
    return rows


def _order(cell: Cell) -> tuple[bool, float, str]:
    """The sort key of a cell: numbers come before texts if a column has both."""
    return (True, 0, cell) if isinstance(cell, str) else (False, cell or 0, "")
