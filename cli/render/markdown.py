"""GitHub-flavored Markdown. No character of a name from a cluster or a file is markup, and GitHub links no `@name` and
no `#1` in them: backslashes do not prevent those links, code spans do."""

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from cli.render import document as doc
from cli.render.cells import Cell, Link, cell_text, prose_parts, safe_text
from cli.render.page import text_html

_LINKED = re.compile(
    r"""(?: (?:https?|ftp)://[^\s|]* | www\.[^\s|]+                         # URLs
    | (?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+ | (?<!\w)@[a-z0-9][\w/-]*    # addresses, and names of users and teams
    | (?<![\w./-])[\w./-]*\#\d+ | (?<!\w)gh-\d+                           # issues
    | :(?=[\d_]*[a-z+-]|100:|1234:)[\w+-]+:                               # emojis
    )+""",
    re.VERBOSE | re.IGNORECASE,
)
"""What GitHub turns into a link or a picture, outside of code."""
_MARKUP = re.compile(r"[\\`*\[\]<~|$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
"""Characters that are or may be markup in a line; except `_` within a word."""
_STARTS_BLOCK = re.compile(r"^(\d{0,9})([#>+=.)-])")
_OUTER_BLANKS = re.compile("^ +| +$")


def render_markdown(document: doc.Document, stream: TextIO) -> None:
    for position, block in enumerate(document.blocks):
        if position:
            stream.write("\n")
        stream.writelines(line + "\n" for line in _lines(block))


def text_markdown(text: str) -> str:
    """Text in a line, each character shown as it is."""
    return text if text.isalnum() else _with_blanks(_escaped(safe_text(text)))


def prose_markdown(text: str, bar: str = "|") -> str:
    """A sentence in a line; words between backticks are code, in which `bar` is written for each `|`."""
    parts = (
        _code_span(part).replace("|", bar) if is_code else _escaped(part)
        for part, is_code in prose_parts(text)
    )
    return _with_blanks("".join(parts))


def _prose_cell(text: str) -> str:
    """A sentence in a table, where a backslash precedes each `|`, also in code."""
    return text_markdown(text) if "\\|" in text else prose_markdown(text, "\\|")


def _paragraph(text: str) -> str:
    return _STARTS_BLOCK.sub(r"\1\\\2", prose_markdown(text))


def _with_blanks(text: str) -> str:
    """The text with the blanks at its ends, which Markdown would drop."""
    return _OUTER_BLANKS.sub(lambda blanks: "&#32;" * len(blanks[0]), text)


def _escaped(text: str) -> str:
    pieces, end = [], 0
    for link in _LINKED.finditer(text):
        pieces += [_MARKUP.sub(r"\\\g<0>", text[end : link.start()]), _code_span(link[0])]
        end = link.end()
    return "".join([*pieces, _MARKUP.sub(r"\\\g<0>", text[end:])])


def _code_span(code: str) -> str:
    """Code, between more backticks than it contains in a row."""
    fence = "`" * _free_run(code, 1)
    blank = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{fence}{blank}{code}{blank}{fence}"


def _free_run(text: str, least: int) -> int:
    """A number of backticks that is longer than any run of them in a text."""
    return max([least, *(len(run) + 1 for run in re.findall("`+", text))])


def _lines(block: doc.Block) -> Iterator[str]:
    if isinstance(block, doc.Heading):
        yield "#" * block.level + " " + re.sub("#$", r"\#", text_markdown(block.text))
    elif isinstance(block, doc.Text | doc.Picture):
        yield _paragraph(block.text)
    elif isinstance(block, doc.Item) and not block.details:
        yield _paragraph(f"{block.lead} {block.text}".rstrip())
    elif isinstance(block, doc.Item):
        yield f"- **{text_markdown(block.lead)}** {prose_markdown(block.text)}".rstrip()
        for detail in block.details:
            yield from ("", f"  {_paragraph(detail)}")
    elif isinstance(block, doc.Bullets):
        yield from (f"- {_paragraph(item)}" for item in block.items)
    elif isinstance(block, doc.Details):
        yield from ("<details>", f"<summary>{text_html(block.summary)}</summary>", "")
        for inner in block.blocks:
            yield from (*_lines(inner), "")
        yield "</details>"
    elif isinstance(block, doc.Code):
        fence = "`" * _free_run("\n".join(block.lines), 3)
        yield fence + re.sub(r"[^\w-]", "", block.language)
        yield from map(safe_text, block.lines)
        yield fence
    elif isinstance(block, doc.Checklist):
        write = prose_markdown if block.is_prose else text_markdown
        yield from (f"- [ ] {write(item)}" for item in block.items)
    else:
        yield from _table(block)


def _table(table: doc.Table) -> Iterator[str]:
    if table.header:
        yield _row(text_markdown(column.name) for column in table.columns)
        yield _row("---:" if column.number else "---" for column in table.columns)
    writers = [_prose_cell if column.is_prose else text_markdown for column in table.columns]
    for row in table.rows:
        cells = zip(writers, table.columns, row, strict=True)
        yield _row(_cell(cell, write(cell_text(cell, column.name))) for write, column, cell in cells)


def _cell(cell: Cell, text: str) -> str:
    return f"[{text}]({cell.target})" if isinstance(cell, Link) else text


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
