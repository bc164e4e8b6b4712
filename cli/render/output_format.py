"""The names of the output formats; the options need no more of the renderers than this."""

from enum import Enum


class OutputFormat(Enum):
    """`--output`."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


FOR_PROGRAMS = frozenset({OutputFormat.JSON, OutputFormat.YAML})
"""The formats that print the document's data, errors among them; the others print its blocks."""
