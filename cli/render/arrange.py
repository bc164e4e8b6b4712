"""Arrange the tables of a document for a script: `--columns`, `--sort` and `--no-header`.

A table keeps the requested columns that it has, in the requested order; tables without any of them, and
blocks that are not tables, are left out. Rows that compare equal keep their order, and unknown cells are last in
either direction. Numbers are compared as numbers, and texts character by character.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter

from cli.errors import UsageError
from cli.render.cells import Cell
from cli.render.document import Block, Document, Table
from cli.render.output_format import Shape, SortKey
from wire.suggestion import did_you_mean


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
    places = [place for name in shape.columns if (place := _position(table, name)) is not None]
    return _narrowed(table, places) if places else None


def _narrowed(table: Table, places: Sequence[int]) -> Table:
    columns = tuple(table.columns[place] for place in places)
    if len(places) == 1:
        (place,) = places
        return replace(table, columns=columns, rows=[(row[place],) for row in table.rows])
    return replace(table, columns=columns, rows=list(map(itemgetter(*places), table.rows)))


def _position(table: Table, name: str) -> int | None:
    """The index of a column, by its heading in a table or in CSV.

    Case does not matter; `PARTITIONS` also means `#PARTITIONS`, a comment to a shell.
    """
    wanted = name.lower()
    headings = [column.name.lower() for column in table.columns]
    for names in (headings, [column.csv_name.lower() for column in table.columns]):
        for heading in (wanted, f"#{wanted}"):
            if heading in names:
                return names.index(heading)
    return None


def _sorted(table: Table, keys: Sequence[SortKey]) -> Sequence[Sequence[Cell]]:
    rows = table.rows
    for key in reversed(keys):
        place = _position(table, key.column)
        if place is not None:
            known = [row for row in rows if row[place] is not None]
            unknown = [row for row in rows if row[place] is None]
            known.sort(key=lambda row, place=place: _order(row[place]), reverse=key.is_descending)  # type: ignore[misc]
            rows = known + unknown
    return rows


def _order(cell: Cell) -> tuple[bool, float, str]:
    """The sort key of a cell: numbers come before texts if a column has both."""
    return (True, 0, cell) if isinstance(cell, str) else (False, cell or 0, "")
