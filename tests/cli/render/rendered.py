"""What a renderer writes."""

from __future__ import annotations

import io

from cli.output import render
from cli.render.document import Block, Document
from cli.render.output_format import OutputFormat
from groups.model import Problem


def rendered(document: Document, output: OutputFormat = OutputFormat.TABLE) -> str:
    """A document in one format."""
    stream = io.StringIO()
    render(document, output, stream)
    return stream.getvalue()


def rendered_blocks(output: OutputFormat, *blocks: Block, errors: tuple[Problem, ...] = ()) -> str:
    """The same of a document that has nothing else."""
    return rendered(Document(command="x", data={}, blocks=blocks, errors=errors), output)
