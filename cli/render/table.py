"""Plain columns for people. On a terminal, a table that is too wide becomes sections or records.

rich lays out about 2,000 rows a second, so it gets only what a person would read at once.

A table may be wider than the screen.

What repeats from row to row is taken out and is shown once above the rows that share it. Where that is not enough,
every row becomes a record of its own, a line per column. Nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import wrap
from types import NoneType
from typing import Any, TextIO

from cli.render.cells import MISSING, Cell, cell_text, safe_text, text_width
from cli.render.document import Block, Checklist, Code, Column, Document, Heading, Picture, Table, Text

TEXT_WIDTH = 80
SCREENFUL = 200
"""Rows that a person may still read at once."""


def render_table(document: Document, stream: TextIO) -> None:
    """Headings and columns; on a terminal, short tables are laid out for its width."""
    terminal = stream.isatty()
    for position, block in enumerate(document.blocks):
        if position:
            stream.write("\n")
        if isinstance(block, Table) and terminal and len(block.rows) <= SCREENFUL:
            _on_screen(block, stream)
        else:
            stream.writelines(line + "\n" for line in _lines(block))


def _lines(block: Block) -> Iterable[str]:
    if isinstance(block, Heading):
        return [safe_text(block.text)]
    if isinstance(block, Text | Picture):
        return wrap(safe_text(block.text), TEXT_WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    if isinstance(block, Code):
        return ["    " + safe_text(line) for line in block.lines]
    if isinstance(block, Checklist):
        return [f"[ ] {safe_text(item)}" for item in block.items]
    return column_lines(block)


def column_lines(table: Table, widths: list[int] | None = None) -> Iterator[str]:
    """The table in plain columns, two spaces apart, without trailing blanks.

    Of a table that comes in parts, `widths` are those of the parts before: empty before the first one, which is given
    the headings. They grow where a part needs it.
    """
    cells = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    columns = [_texts(column) for column in cells]
    if not widths and table.header:
        columns = [[head.name, *column] for head, column in zip(table.columns, columns, strict=True)]
    numbers = [column.number for column in table.columns]
    ascii_only = all("".join(column).isascii() for column in columns)
    needed = [max(map(len if ascii_only else text_width, column), default=0) for column in columns]
    if widths is not None:
        widths[:] = needed = list(map(max, needed, widths or needed))
    if ascii_only:
        form = "  ".join(f"%{'' if n else '-'}{w}s" for n, w in zip(numbers, needed, strict=True))
        return ((form % row).rstrip() for row in zip(*columns, strict=True))
    return (_padded(row, needed, numbers) for row in zip(*columns, strict=True))


def _texts(cells: Sequence[Cell]) -> list[str]:
    """Of a column; most hold plain numbers and harmless words only, whose cells need no look of their own."""
    if set(map(type, cells)) <= {int, str, NoneType}:
        texts = [MISSING if cell is None else str(cell) for cell in cells]
        if "".join(texts).isprintable():
            return texts
    return [safe_text(cell_text(cell)) for cell in cells]


def _padded(row: Sequence[str], widths: Sequence[int], numbers: Sequence[bool]) -> str:
    cells = []
    for text, width, number in zip(row, widths, numbers, strict=True):
        blank = " " * (width - text_width(text))
        cells.append(blank + text if number else text + blank)
    return "  ".join(cells).rstrip()


def _on_screen(table: Table, stream: TextIO) -> None:
    """As columns where they fit, as sections where that makes them fit, else as records."""
    from rich.console import Console

    console = Console(file=stream, highlight=False, soft_wrap=False)
    texts = [[safe_text(cell_text(cell)) for cell in row] for row in table.rows]
    if folds_well(table.columns, texts, console.width):
        console.print(_rich(table))
        return
    taken = repeating_columns(table.columns, texts, console.width)
    if taken is not None:
        for position, (shared, section) in enumerate(sections(table, taken)):
            if position:
                console.print()
            _print_record(console, shared)
            console.print(_rich(section))
        return
    names = [column.name for column in table.columns]
    for position, row in enumerate(table.rows):
        if position:
            console.print()
        _print_record(console, list(zip(names, row, strict=True)))


def _rich(table: Table) -> Any:
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    view = RichTable(
        box=None, header_style="bold", show_header=table.header, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in table.columns:
        view.add_column(column.name, justify="right" if column.number else "left", overflow="fold")
    for row in table.rows:
        view.add_row(*(RichText(safe_text(cell_text(cell))) for cell in row))
    return view


def _print_record(console: Any, values: Sequence[tuple[str, Cell]]) -> None:
    """A line per column, folded to the screen."""
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    view = RichTable(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    view.add_column(style="bold", no_wrap=True)
    view.add_column(overflow="fold")
    for name, cell in values:
        view.add_row(name, RichText(safe_text(cell_text(cell))))
    console.print(view)


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
