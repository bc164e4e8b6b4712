"""Plain columns for people: what fits a screen is folded to the screen, the rest is written as it comes.

rich lays out about 2,000 rows a second, so it gets only what a person would read at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TextIO

from cli.render.cells import cell_text, safe_text
from cli.render.document import Block, Checklist, Code, Document, Heading, Table, Text

TEXT_WIDTH = 80
SCREENFUL = 200
"""Rows that a person may still read at once."""


def render_table(document: Document, stream: TextIO) -> None:
    """Headings and columns; on a terminal, short tables are folded to its width."""
    terminal = stream.isatty()
    for position, block in enumerate(document.blocks):
        if position:
            stream.write("\n")
        if isinstance(block, Table) and terminal and len(block.rows) <= SCREENFUL:
            _folded(block, stream)
        else:
            stream.writelines(line + "\n" for line in _lines(block))


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield safe_text(block.text)
    elif isinstance(block, Text):
        yield from wrap(
            safe_text(block.text), TEXT_WIDTH, break_long_words=False, break_on_hyphens=False
        ) or [""]
    elif isinstance(block, Code):
        yield from ("    " + line for line in block.lines)
    elif isinstance(block, Checklist):
        yield from (f"[ ] {safe_text(item)}" for item in block.items)
    else:
        yield from column_lines(block)


def column_lines(table: Table) -> Iterator[str]:
    """The table in plain columns, two spaces apart, without trailing blanks."""
    texts = [[column.name for column in table.columns]]
    texts += [[safe_text(cell_text(cell)) for cell in row] for row in table.rows]
    widths = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    numbers = [column.number for column in table.columns]
    if all(text.isascii() for row in texts for text in row):
        form = "  ".join(f"%{'' if n else '-'}{w}s" for n, w in zip(numbers, widths, strict=True))
        for row in texts:
            yield (form % tuple(row)).rstrip()
    else:
        for row in texts:
            yield _padded(row, widths, numbers)


def _padded(row: Sequence[str], widths: Sequence[int], numbers: Sequence[bool]) -> str:
    cells = []
    for text, width, number in zip(row, widths, numbers, strict=True):
        blank = " " * (width - _width(text))
        cells.append(blank + text if number else text + blank)
    return "  ".join(cells).rstrip()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _folded(table: Table, stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    view = RichTable(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in table.columns:
        view.add_column(column.name, justify="right" if column.number else "left", overflow="fold")
    for row in table.rows:
        view.add_row(*(RichText(safe_text(cell_text(cell))) for cell in row))
    Console(file=stream, highlight=False).print(view)
