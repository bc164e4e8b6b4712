"""What a renderer writes."""

import io

from cli.output import render
from cli.render.document import Block, Document
from cli.render.output_format import OutputFormat
from groups.model import Problem


def rendered(document: Document, output: OutputFormat = OutputFormat.TABLE) -> str:
    stream = io.StringIO()
    render(document, output, stream)
    return stream.getvalue()


def rendered_blocks(output: OutputFormat, *blocks: Block, errors: tuple[Problem, ...] = ()) -> str:
    return rendered(Document(command="x", data={}, blocks=blocks, errors=errors), output)
