"""Markdown, to paste into runbooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from cli.render.cells import Cell, cell_text, safe_text
from cli.render.document import Block, Checklist, Code, Document, Heading, Item, Picture, Table, Text


def render_markdown(document: Document, stream: TextIO) -> None:
    """Write GitHub-flavored Markdown; an empty line separates blocks."""
    for position, block in enumerate(document.blocks):
        if position:
            stream.write("\n")
        stream.writelines(line + "\n" for line in _lines(block))


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield "#" * block.level + " " + safe_text(block.text)
    elif isinstance(block, Text | Picture):
        yield safe_text(block.text)
    elif isinstance(block, Item):
        yield safe_text(f"{block.lead} {block.text}".rstrip())
        for detail in block.details:
            yield from ("", safe_text(detail))
    elif isinstance(block, Code):
        yield f"```{block.language}"
        yield from map(safe_text, block.lines)
        yield "```"
    elif isinstance(block, Checklist):
        yield from (f"- [ ] {safe_text(item)}" for item in block.items)
    else:
        yield from _table(block)


def _table(table: Table) -> Iterator[str]:
    if table.header:
        yield _row([column.name for column in table.columns])
        yield _row(["---:" if column.number else "---" for column in table.columns])
    for row in table.rows:
        yield _row([_cell(cell) for cell in row])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    return safe_text(cell_text(cell)).replace("\\", "\\\\").replace("|", "\\|")
