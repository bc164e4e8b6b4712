"""Tables that are wider than the screen.

What repeats from row to row is taken out and stands once above the rows that share it. Where that is not enough,
every row becomes a record of its own, a line per column. Nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from cli.render.document import Cell, Column, Table

GAP = 2
"""Blanks between two columns."""


def natural_width(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    """How wide the table is when nothing is folded; cells are as wide as they have characters."""
    return sum(_widths(columns, rows)) + GAP * (len(columns) - 1)


def folds_well(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether folding the widest text column in two is enough, and no heading is broken by it."""
    widths = _widths(columns, rows)
    widest = max((w for w, column in zip(widths, columns, strict=True) if not column.number), default=0)
    heading = max((len(c.name) for w, c in zip(widths, columns, strict=True) if w == widest), default=0)
    return natural_width(columns, rows) - width <= min(widest // 2, widest - heading)


def repeating_columns(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int
) -> list[int] | None:
    """The text columns to take out so that the rest fits into the width, widest gain first.

    A column can be taken out when its value changes at most every other row. None when that is not enough.
    """
    widths = _widths(columns, rows)
    able = [
        position
        for position, column in enumerate(columns)
        if not column.number and _changes(rows, [position]) <= max(1, len(rows) // 2)
    ]
    taken: list[int] = []
    for position in sorted(able, key=lambda position: -widths[position]):
        left = [w for i, w in enumerate(widths) if i not in taken]
        if sum(left) + GAP * (len(left) - 1) <= width:
            break
        if _changes(rows, [*taken, position]) <= max(1, len(rows) // 2):
            taken.append(position)
    left = [w for i, w in enumerate(widths) if i not in taken]
    fits = sum(left) + GAP * (len(left) - 1) <= width
    return sorted(taken) if fits and taken else None


def sections(table: Table, taken: Sequence[int]) -> Iterator[tuple[list[tuple[str, Cell]], Table]]:
    """Runs of rows that agree in the columns taken out: those columns' names and values, and the rest."""
    rest = [position for position in range(len(table.columns)) if position not in taken]
    columns = tuple(table.columns[position] for position in rest)
    for values, rows in groupby(table.rows, key=lambda row: tuple(row[position] for position in taken)):
        names = [table.columns[position].name for position in taken]
        yield (
            list(zip(names, values, strict=True)),
            replace(table, columns=columns, rows=[[row[position] for position in rest] for row in rows]),
        )


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    return [
        max([len(column.name), *(len(row[position]) for row in rows)])
        for position, column in enumerate(columns)
    ]


def _changes(rows: Sequence[Sequence[str]], positions: Sequence[int]) -> int:
    """Runs of rows that agree in these columns."""
    return sum(1 for _ in groupby(rows, key=lambda row: [row[position] for position in positions]))
