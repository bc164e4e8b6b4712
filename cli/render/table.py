"""Text for people: plain columns in a pipe; on a terminal, colored text that fits its width. Rows in a pipe are
formatted one column at a time: a million of them take seconds."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from types import NoneType
from typing import TextIO, cast

from cli.render.cells import MISSING, Cell, cell_text, safe_text, text_width
from cli.render.color import has_color, text_lines
from cli.render.document import Block, Document, Table
from cli.render.layout import TEXT_WIDTH, block_lines, document_lines, is_parted, table_pieces
from cli.render.layout import column_lines as colored_lines
from cli.render.streamed import MOST_ROWS, Streamed

USUAL_WIDTH = 80


def render_table(document: Document, stream: TextIO) -> None:
    is_long = any(isinstance(block, Table) and len(block.rows) > MOST_ROWS for block in document.text_blocks)
    color = has_color(stream) and not is_long
    if stream.isatty() and not is_long:
        stream.writelines(text_lines(document_lines(document, terminal_width(stream)), color=color))
        return
    before: Block | None = None
    for block in document.text_blocks:
        if before is not None and is_parted(before, block):
            stream.write("\n")
        before = block
        stream.writelines(_block_lines(block, color=color))


def terminal_width(stream: TextIO) -> int:
    """The number of columns of a terminal; the variable COLUMNS overrides the reported number."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isascii() and chosen.isdecimal() and int(chosen):
        return int(chosen)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH


def _block_lines(block: Block, *, color: bool) -> Iterable[str]:
    if not isinstance(block, Table):
        return text_lines(block_lines(block, TEXT_WIDTH), color=color)
    if color:
        pieces = table_pieces(block)
        return text_lines(colored_lines(block.columns, pieces, with_heads=block.header), color=True)
    if isinstance(block.rows, Streamed) and not block.rows.is_complete:
        return _lines_of_chunks(block, block.rows.chunks())
    return (line + "\n" for line in column_lines(block))


def _lines_of_chunks(table: Table, chunks: Iterable[Sequence[Sequence[Cell]]]) -> Iterator[str]:
    """The columns are as wide as the first rows need, and wider from the first row on that needs more."""
    widths: list[int] = []
    for chunk in chunks:
        yield "\n".join([*column_lines(replace(table, rows=chunk), widths), ""])


def column_lines(table: Table, widths: list[int] | None = None) -> Iterable[str]:
    """The table in plain columns, two spaces apart, without trailing blanks. If a table is printed in parts, `widths`
    are those of the previous parts: empty before the first, which gets the headings. They grow if a part needs it."""
    cells = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    columns = [_texts(column.name, texts) for column, texts in zip(table.columns, cells, strict=True)]
    rows: Iterable[tuple[Cell, ...]] = zip(*(texts for texts, _ in columns), strict=True)
    measured = [distinct for _, distinct in columns]
    if not widths and table.header:
        heads = [head.name for head in table.columns]
        rows = chain([tuple(heads)], rows)
        measured = [[head, *distinct] for head, distinct in zip(heads, measured, strict=True)]
    numbers = [column.number for column in table.columns]
    ascii_only = all("".join(texts).isascii() for texts in measured)
    needed = [max(map(len if ascii_only else text_width, texts), default=0) for texts in measured]
    if widths is not None:
        widths[:] = needed = list(map(max, needed, widths or needed))
    if ascii_only:
        form = "  ".join(f"%{'' if n else '-'}{w}s" for n, w in zip(numbers, needed, strict=True))
        return ((form % row).rstrip() for row in rows)
    return (_padded(map(str, row), needed, numbers) for row in rows)


def _texts(name: str, cells: Sequence[Cell]) -> tuple[Sequence[Cell], Sequence[str]]:
    """A column's texts or numbers, and the texts that may be its widest: of numbers, and of names that repeat, there
    are few."""
    kinds = set(map(type, cells))
    if int in kinds <= {int, NoneType}:
        known = [cell for cell in cells if cell is not None] if NoneType in kinds else cells
        numbers = cast(Sequence[int], known)
        shown = cells if known is cells else [MISSING if cell is None else cell for cell in cells]
        return shown, [str(min(numbers)), str(max(numbers))]
    if kinds <= {str, NoneType}:
        of_cell = {cell: safe_text(cell_text(cell, name)) for cell in set(cells)}
        return [of_cell[cell] for cell in cells], [*of_cell.values()]
    texts = [safe_text(cell_text(cell, name)) for cell in cells]
    return texts, texts


def _padded(row: Iterable[str], widths: Sequence[int], numbers: Sequence[bool]) -> str:
    cells = []
    for text, width, number in zip(row, widths, numbers, strict=True):
        blank = " " * (width - text_width(text))
        cells.append(blank + text if number else text + blank)
    return "  ".join(cells).rstrip()
