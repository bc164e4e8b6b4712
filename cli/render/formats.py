"""The output formats: every one renders the same document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO

from cli.render.document import Document
from cli.render.output_format import OutputFormat


def render(document: Document, output: OutputFormat, stream: TextIO) -> None:
    """Write the document to a stream in a format."""
    _RENDERERS[output](document, stream)


def _table(document: Document, stream: TextIO) -> None:
    from cli.render.table import render_table

    render_table(document, stream)


def _json(document: Document, stream: TextIO) -> None:
    import json

    indent = 2 if stream.isatty() else None
    # dumps, unlike dump, runs in C from end to end.
    stream.write(json.dumps(document.as_data(), ensure_ascii=False, indent=indent) + "\n")


def _yaml(document: Document, stream: TextIO) -> None:
    from groups.yaml_files import yaml_lines

    stream.writelines(yaml_lines(document.as_data()))


def _csv(document: Document, stream: TextIO) -> None:
    from cli.render.csv_tables import render_csv

    render_csv(document, stream)


def _markdown(document: Document, stream: TextIO) -> None:
    from cli.render.markdown import render_markdown

    render_markdown(document, stream)


def _html(document: Document, stream: TextIO) -> None:
    from cli.render.html import render_html

    render_html(document, stream)


_RENDERERS: Mapping[OutputFormat, Callable[[Document, TextIO], None]] = {
    OutputFormat.TABLE: _table,
    OutputFormat.JSON: _json,
    OutputFormat.YAML: _yaml,
    OutputFormat.CSV: _csv,
    OutputFormat.MARKDOWN: _markdown,
    OutputFormat.HTML: _html,
}
