"""A document as lines for a terminal of some width. A table that fits has columns. Otherwise, ids lose their middle,
then the longest text is folded, then values that repeat are shown once above their rows, or the sentences of the last
column below their rows. As a last resort, each row becomes a record with a line per column."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from textwrap import wrap
from typing import TypeAlias

from cli.render import document as doc
from cli.render import fit
from cli.render.cells import MISSING, cell_text, safe_text, text_width
from cli.render.headings import role_of
from cli.render.lines import Line, Piece, Role, folded

TEXT_WIDTH = 80  # Width of paragraphs in a pipe
READABLE_WIDTH = 100  # Maximum width of paragraphs on a terminal
SCREENFUL = 200  # The most rows that a person may read: a longer table is not fitted to the width
LEAST_VALUE = 12  # Minimum width of the values of a record
_LISTED = (doc.Bullets, doc.Checklist, doc.Code, doc.Item)
"""Blocks that form a list with the block after them."""
_GAP = " " * fit.GAP
_BOX = "[ ] "
_BULLET = "- "
Texts: TypeAlias = Sequence[Sequence[Piece]]


def document_lines(
    document: doc.Document, width: int, pieces: Callable[[doc.Table], Texts] | None = None
) -> Iterator[Line]:
    """The blocks of a document, and whether ids were shortened; `pieces` are the cells of its tables."""
    shortened = False
    before: doc.Block | None = None
    for block in document.text_blocks:
        if before is not None and is_parted(before, block):
            yield ()
        before = block
        if isinstance(block, doc.Table):
            cells = (pieces or table_pieces)(block)
            lines, is_shortened = table_lines(block, cells, width, whole=not document.more)
            shortened |= is_shortened
            yield from lines
        else:
            room = width if isinstance(block, doc.Heading) else min(width, READABLE_WIDTH)
            yield from block_lines(block, room)
    if shortened:
        note = f"Ids are shortened to fit this terminal; {document.more} shows them in full."
        yield from folded(note, width, Role.FAINT, indent=0)


def is_parted(before: doc.Block, block: doc.Block) -> bool:
    """Whether an empty line comes between two blocks: not after a heading or a colon, and not within a list."""
    if isinstance(before, doc.Heading):
        return False
    if isinstance(before, doc.Text) and before.text.endswith(":"):
        return False
    return not (isinstance(before, _LISTED) and isinstance(block, _LISTED))


def block_lines(block: doc.Block, width: int) -> Iterator[Line]:
    """The lines of a block other than a table; commands and settings are not wrapped, because they are copied."""
    if isinstance(block, doc.Heading):
        yield from folded(safe_text(block.text), width, Role.HEADING)
    elif isinstance(block, doc.Item):
        first, *more = folded(f"{block.lead} {safe_text(block.text)}".rstrip(), width, breaks=False)
        yield (Piece(block.lead, block.role), Piece(first[0].text.removeprefix(block.lead)))
        yield from more
        for detail in block.details:
            lines = wrap(safe_text(detail), width - 2, break_long_words=False, break_on_hyphens=False)
            yield from ((Piece(f"  {line}"),) for line in lines)
    elif isinstance(block, doc.Text | doc.Picture):
        role = block.role if isinstance(block, doc.Text) else Role.PLAIN
        yield from folded(safe_text(block.text), width, role, indent=0, breaks=False) or [()]
    elif isinstance(block, doc.Code):
        role = Role.STRONG if block.language == "sh" else Role.PLAIN
        yield from ((Piece("    "), Piece(safe_text(line), role)) for line in block.lines)
    elif isinstance(block, doc.Checklist | doc.Bullets):
        mark = _BOX if isinstance(block, doc.Checklist) else _BULLET
        for item in block.items:
            yield from folded(mark + safe_text(item), width, indent=len(mark), breaks=False)
    elif isinstance(block, doc.Details):
        yield from folded(safe_text(block.summary), width, Role.HEADING)
        for inner in block.blocks:
            if isinstance(inner, doc.Table):
                yield from table_lines(inner, table_pieces(inner), width, whole=True)[0]
            else:
                yield from block_lines(inner, width)


def table_pieces(table: doc.Table) -> list[list[Piece]]:
    """The cells of a table, each with the role that its heading gives it."""
    roles = [role_of(column.name) for column in table.columns]
    return [
        [
            Piece(safe_text(cell_text(cell, column.name)), role(cell))
            for column, role, cell in zip(table.columns, roles, row, strict=True)
        ]
        for row in table.rows
    ]


def table_lines(table: doc.Table, pieces: Texts, width: int, *, whole: bool) -> tuple[list[Line], bool]:
    """The lines of a table, and whether ids were shortened; with `whole` none are."""
    columns, texts = table.columns, [[piece.text for piece in row] for row in pieces]
    widths = fit.column_widths(columns, texts)
    if fit.table_width(widths) <= width:
        return list(column_lines(columns, pieces, widths, with_heads=table.header)), False
    stacked = fit.stacked_heads(columns, texts)
    short = texts if whole else fit.shortened_ids(stacked, texts, width)
    is_short = short != texts
    if len(texts) > SCREENFUL or fit.table_width(fit.column_widths(stacked, short)) <= width:
        cells, widths = _with_texts(pieces, short), fit.column_widths(stacked, short)
        return list(column_lines(stacked, cells, widths, with_heads=table.header)), is_short
    candidates = [(columns, texts), (stacked, texts), *([(stacked, short)] if is_short else [])]
    for takes, folds in ((False, True), (True, False), (True, True)):
        fitting = []
        for heads, rows in candidates:
            taken = fit.repeating_columns(heads, rows, width) if takes else []
            rest = [position for position in range(len(columns)) if position not in taken]
            left = tuple(heads[position] for position in rest)
            inner = [[row[position] for position in rest] for row in texts]
            if rows is not texts:
                room = width + (fit.foldable_width(left, inner) if folds else 0)
                inner = fit.shortened_ids(left, inner, room)
            widths = fit.folded_widths(left, inner, width) if folds else fit.column_widths(left, inner)
            if fit.table_width(widths) <= width:
                cells = _with_texts([[row[position] for position in rest] for row in pieces], inner)
                shared = [[row[position] for position in taken] for row in pieces]
                names = [columns[position].name for position in taken]
                lines = list(_sections(names, shared, replace(table, columns=left, rows=()), cells, widths))
                fitting.append((fit.section_count(texts, taken), lines, rows is not texts))
        if fitting:
            _, lines, is_short = min(fitting, key=lambda candidate: max(candidate[0], fit.FEW_SECTIONS))
            return lines, is_short
    if (noted := _noted_rows(table, pieces, width)) is not None:
        return noted
    return list(_records(columns, pieces, width)), False


def _noted_rows(table: doc.Table, pieces: Texts, width: int) -> tuple[list[Line], bool] | None:
    """Rows with the sentences of their last column below them; None if that does not help."""
    columns, texts = table.columns, [[piece.text for piece in row] for row in pieces]
    left, whole = columns[:-1], [row[:-1] for row in texts]
    if not any(fit.is_sentence(row[-1]) for row in texts) or any(
        fit.is_sentence(text) for row in whole for text in row
    ):
        return None
    short = fit.shortened_ids(left, whole, width + fit.foldable_width(left, whole))
    widths = fit.folded_widths(left, short, width)
    if fit.table_width(widths) > width:
        return None
    cells = _with_texts([row[:-1] for row in pieces], short)
    name = Piece(f"  {columns[-1].name}", Role.HEADING)
    lines = [*column_lines(left, [], widths), (name,)] if table.header else []
    for row, cell in zip(pieces, cells, strict=True):
        lines += column_lines(left, [cell], widths, with_heads=False)
        if row[-1].text != MISSING:
            lines += folded(f"  {row[-1].text}", width, row[-1].role)
    return lines, short != whole


def _with_texts(pieces: Texts, texts: Sequence[Sequence[str]]) -> Texts:
    return [
        [piece if piece.text is text else piece._replace(text=text) for piece, text in zip(*row, strict=True)]
        for row in zip(pieces, texts, strict=True)
    ]


def column_lines(
    columns: Sequence[doc.Column],
    rows: Texts,
    widths: Sequence[int] | None = None,
    *,
    with_heads: bool = True,
) -> Iterator[Line]:
    """The lines of columns as wide as they need to be, or of the given widths, in which texts are folded."""
    if widths is None:
        texts = [[piece.text for piece in row] for row in rows]
        widths = fit.column_widths(columns, texts, with_heads=with_heads)
    if with_heads:
        for names in zip_longest(*(column.name.split("\n") for column in columns), fillvalue=""):
            yield _row(columns, widths, [Piece(name, Role.HEADING) for name in names])
    for row in rows:
        texts = [_folded_cell(piece.text, width) for piece, width in zip(row, widths, strict=True)]
        for line in zip_longest(*texts, fillvalue=""):
            pieces = [piece._replace(text=text) for piece, text in zip(row, line, strict=True)]
            yield _row(columns, widths, pieces)


def _row(columns: Sequence[doc.Column], widths: Sequence[int], cells: Sequence[Piece]) -> Line:
    pieces: list[Piece] = []
    for position, (column, width, cell) in enumerate(zip(columns, widths, cells, strict=True)):
        blank = " " * (width - text_width(cell.text))
        gap = _GAP if position else ""
        if column.number:
            pieces += [Piece(gap + blank), cell]
        else:
            pieces += [Piece(gap), cell, Piece(blank)]
    while pieces and not pieces[-1].text.strip() and pieces[-1].role is not Role.CHANGED:
        pieces.pop()
    return tuple(piece for piece in pieces if piece.text)


def _folded_cell(text: str, width: int) -> list[str]:
    """A text in lines of at most a width, broken between words if possible."""
    if text_width(text) <= width:
        return [text]
    if text_width(text) == len(text):
        return wrap(text, width, break_on_hyphens=False) or [text]
    from rich.cells import chop_cells

    return chop_cells(text, width)


def _sections(
    names: Sequence[str], shared: Texts, table: doc.Table, rows: Texts, widths: Sequence[int]
) -> Iterator[Line]:
    """Consecutive rows below the cells of `shared` that they share, labeled with `names`; all columns are aligned."""
    name_width = max(map(text_width, names), default=0)
    sections = groupby(zip(shared, rows, strict=True), key=lambda pair: [piece.text for piece in pair[0]])
    for number, (_, section) in enumerate(sections):
        values, inner = zip(*section, strict=True)
        if number:
            yield ()
        for name, value in zip(names, values[0], strict=True):
            yield (Piece(f"{name:{name_width}}", Role.HEADING), Piece(_GAP), value)
        yield from column_lines(table.columns, inner, widths, with_heads=table.header)


def _records(columns: Sequence[doc.Column], rows: Texts, width: int) -> Iterator[Line]:
    name_width = max(text_width(column.name) for column in columns)
    room = max(width - name_width - fit.GAP, LEAST_VALUE)
    for number, row in enumerate(rows):
        if number:
            yield ()
        for column, cell in zip(columns, row, strict=True):
            first, *more = _folded_cell(cell.text, room)
            yield (Piece(f"{column.name:{name_width}}", Role.HEADING), Piece(_GAP), cell._replace(text=first))
            yield from ((Piece(" " * (name_width + fit.GAP)), cell._replace(text=text)) for text in more)
