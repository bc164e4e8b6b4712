"""A document as one self-contained HTML page: no script, and no external font or picture."""

from collections.abc import Callable, Iterator
from typing import TextIO

from cli.render import document as doc
from cli.render.cells import Cell, Link, cell_text
from cli.render.headings import role_of
from cli.render.lines import Role
from cli.render.page import PAGE_END, STYLE, page_head, prose_html, text_html

DEEPEST = 6
BOX = "\N{BALLOT BOX}"  # A box to tick


def render_html(document: doc.Document, stream: TextIO) -> None:
    style = STYLE
    if any(isinstance(block, doc.Plot) for block in document.blocks):
        from cli.render.plots import PLOTS_STYLE

        style = PLOTS_STYLE
    headings = (block.text for block in document.blocks if isinstance(block, doc.Heading))
    stream.write(page_head(next(headings, f"kohort {document.command}"), style))
    if document.errors:
        stream.write('<section class="errors" role="alert">\n<h2>Not read</h2>\n<ul>\n')
        for error in document.errors:
            stream.write(f"<li>{text_html(error.subject)}: {text_html(error.message)}</li>\n")
        stream.write("</ul>\n</section>\n")
    for position, block in enumerate(document.blocks):
        stream.writelines(_lines(block, position))
    stream.write(PAGE_END)


def _lines(block: doc.Block, position: int | str) -> Iterator[str]:
    if isinstance(block, doc.Heading):
        level = min(block.level, DEEPEST)
        yield f"<h{level}>{text_html(block.text)}</h{level}>\n"
    elif isinstance(block, doc.Text):
        yield f"<p{_role(block.role)}>{prose_html(block.text)}</p>\n"
    elif isinstance(block, doc.Item):
        yield from _item(block)
    elif isinstance(block, doc.Plot):
        yield from block.html()
    elif isinstance(block, doc.Bullets):
        yield "<ul>\n"
        yield from (f"<li>{prose_html(item)}</li>\n" for item in block.items)
        yield "</ul>\n"
    elif isinstance(block, doc.Details):
        yield f"<details>\n<summary>{prose_html(block.summary)}</summary>\n"
        for inner_position, inner in enumerate(block.blocks):
            yield from _lines(inner, f"{position}-{inner_position}")
        yield "</details>\n"
    elif isinstance(block, doc.Code):
        lines = "\n".join(map(text_html, block.lines))
        yield f'<pre><code class="language-{text_html(block.language)}">{lines}</code></pre>\n'
    elif isinstance(block, doc.Checklist):
        yield '<ul class="todo">\n'
        write = prose_html if block.is_prose else text_html
        for item in block.items:
            yield f'<li><label><input type="checkbox"><span>{write(item)}</span></label></li>\n'
        yield "</ul>\n"
    elif isinstance(block, doc.Picture):
        from cli.render.lanes import draw

        yield "<figure>\n"
        yield from draw(block.drawing(), f"p{position}")
        yield f"<figcaption>{prose_html(block.text)}</figcaption>\n</figure>\n"
    else:
        yield from _table(block)


def _item(item: doc.Item) -> Iterator[str]:
    """A line whose label has the color of its role; with further lines, a card."""
    lead = f"<b{_role(item.role)}>{prose_html(item.lead)}</b>"
    line = f"<p>{lead} {prose_html(item.text)}".rstrip() + "</p>\n"
    if not item.details:
        yield line
        return
    yield f'<section class="card {item.role.name.lower()}">\n{line}'
    yield from (f"<p>{prose_html(detail)}</p>\n" for detail in item.details)
    yield "</section>\n"


def _role(role: Role, *others: str) -> str:
    """The `class` attribute of a role, a space before it; empty for plain text."""
    classes = [*others, *([] if role is Role.PLAIN else [role.name.lower()])]
    return f' class="{" ".join(classes)}"' if classes else ""


def _table(table: doc.Table) -> Iterator[str]:
    """The HTML of a table, one row at a time, because tables may be long."""
    numbers = [_role(Role.PLAIN, *["n"] * column.number) for column in table.columns]
    roles = [role_of(column.name) for column in table.columns]
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
            f"<td{_role(role(cell), *['n'] * column.number)}>{_cell(cell, column.name, write)}</td>"
            for cell, column, role, write in zip(row, table.columns, roles, writers, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody>\n</table></div>\n"


def _cell(cell: Cell, column: str, write: Callable[[str], str]) -> str:
    if cell == BOX:
        return '<input type="checkbox" aria-label="done">'
    if isinstance(cell, Link):
        return f'<a href="{text_html(cell.target)}">{write(cell_text(cell, column))}</a>'
    return str(cell) if type(cell) is int else write(cell_text(cell, column))
