"""The values of `--output`, `--columns`, `--sort` and `--no-header`, all that options need of the renderers."""

from dataclasses import dataclass
from enum import Enum

from cli.errors import UsageError


class OutputFormat(Enum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


class StreamOutput(Enum):
    """`--output` of a command that prints events as they occur."""

    TABLE = "table"
    JSON = "json"


class DumpFormat(Enum):
    """`--output` of a command that prints records while it reads them."""

    TABLE = "table"
    NDJSON = "ndjson"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"


FOR_PROGRAMS = frozenset({OutputFormat.JSON, OutputFormat.YAML})
"""The formats that print the document's data, including errors; the others print its blocks."""
PAGES = frozenset({OutputFormat.MARKDOWN, OutputFormat.HTML})
"""The formats of whole pages, which are kept and read later."""


ASCENDING, DESCENDING = "asc", "desc"


@dataclass(frozen=True, slots=True, kw_only=True)
class SortKey:
    """A column to sort by, as it was typed."""

    column: str
    is_descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How tables are arranged. Empty `columns` means all columns."""

    columns: tuple[str, ...] = ()
    sort: tuple[SortKey, ...] = ()
    header: bool = True


def parse_sort(text: str) -> tuple[SortKey, ...]:
    """`LAG:desc,TOPIC`, the first column first. UsageError for an unknown direction."""
    keys = []
    for part in parse_columns(text):
        column, colon, direction = part.partition(":")
        direction = direction.strip().lower()
        if colon and direction not in (ASCENDING, DESCENDING):
            raise UsageError(f"--sort {part}: a column is sorted {ASCENDING} or {DESCENDING}")
        keys.append(SortKey(column=column.strip(), is_descending=direction == DESCENDING))
    return tuple(keys)


def parse_columns(text: str) -> tuple[str, ...]:
    """`GROUP,LAG`."""
    return tuple(part.strip() for part in text.split(","))
