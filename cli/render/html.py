"""A document as one self-contained HTML page: no script, and no external font or picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from cli.render.cells import Cell, cell_text
from cli.render.document import Block, Checklist, Code, Document, Heading, Item, Picture, Table, Text
from cli.render.page import PAGE_END, STYLE, page_head, prose_html, text_html
from groups.listing import Problem

DEEPEST = 6
BOX = "\N{BALLOT BOX}"
"""A box to tick."""


def render_html(document: Document, stream: TextIO) -> None:
    """Write the whole page."""
    stream.write(page_head(_title(document), STYLE))
    if document.errors:
        stream.writelines(_errors(document.errors))
    for position, block in enumerate(document.blocks):
        stream.writelines(_lines(block, position))
    stream.write(PAGE_END)


def _title(document: Document) -> str:
    headings = [block.text for block in document.blocks if isinstance(block, Heading)]
    return headings[0] if headings else f"kohort {document.command}"


def _errors(errors: Sequence[Problem]) -> Iterator[str]:
    yield '<section class="errors" role="alert">\n<h2>Not read</h2>\n<ul>\n'
    yield from (f"<li>{text_html(error.subject)}: {text_html(error.message)}</li>\n" for error in errors)
    yield "</ul>\n</section>\n"


def _lines(block: Block, position: int) -> Iterator[str]:
    if isinstance(block, Heading):
        level = min(block.level, DEEPEST)
        yield f"<h{level}>{prose_html(block.text)}</h{level}>\n"
    elif isinstance(block, Text):
        yield f"<p>{prose_html(block.text)}</p>\n"
    elif isinstance(block, Item):
        for text in (f"{block.lead} {block.text}".rstrip(), *block.details):
            yield f"<p>{prose_html(text)}</p>\n"
    elif isinstance(block, Code):
        lines = "\n".join(map(text_html, block.lines))
        yield f'<pre><code class="language-{text_html(block.language)}">{lines}</code></pre>\n'
    elif isinstance(block, Checklist):
        yield '<ul class="todo">\n'
        for item in block.items:
            yield f'<li><label><input type="checkbox"><span>{prose_html(item)}</span></label></li>\n'
        yield "</ul>\n"
    elif isinstance(block, Picture):
        yield from _figure(block, position)
    else:
        yield from table_html(block)


def _figure(picture: Picture, position: int) -> Iterator[str]:
    from cli.render.lanes import draw

    yield "<figure>\n"
    yield from draw(picture.drawing(), f"p{position}")
    yield f"<figcaption>{prose_html(picture.text)}</figcaption>\n</figure>\n"


def table_html(table: Table) -> Iterator[str]:
    """The HTML of a table, one row at a time, because tables may be long."""
    numbers = [' class="n"' if column.number else "" for column in table.columns]
    writers = [prose_html if column.is_prose else text_html for column in table.columns]
    heads = (
        f'<th scope="col"{number}>{text_html(column.name)}</th>'
        for column, number in zip(table.columns, numbers, strict=True)
    )
    yield '<div class="wide"><table>\n'
    if table.header:
        yield f"<thead><tr>{''.join(heads)}</tr></thead>\n"
    yield "<tbody>\n"
    for row in table.rows:
        cells = (
            f"<td{number}>{_cell(cell, write)}</td>"
            for cell, number, write in zip(row, numbers, writers, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody>\n</table></div>\n"


def _cell(cell: Cell, write: Callable[[str], str]) -> str:
    if cell == BOX:
        return '<input type="checkbox" aria-label="done">'
    return str(cell) if type(cell) is int else write(cell_text(cell))
