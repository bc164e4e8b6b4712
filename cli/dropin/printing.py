"""The tool's output: messages, its usage, and left-justified columns, the last one without padding.

Control characters are escaped: any client may have chosen a name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.resources import files

from cli.render.cells import MISSING, safe_text

NARROWEST = 15
"""The width of a column if all its names are short."""


def print_error(message: str) -> None:
    """Print an error to standard output, like the tool."""
    print(f"\nError: {_safe(message)}")


def print_remark(message: str) -> None:
    """Print a message to standard error."""
    if sys.stderr is not None:  # else print would use stdout
        print(_safe(message), file=sys.stderr)


def print_warning(message: str) -> None:
    """Print a warning of the tool's own log, in the format of config/tools-log4j2.yaml of a Kafka distribution."""
    from datetime import datetime

    now = datetime.now()
    time = f"{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03}"
    print_remark(f"[{time}] WARN {message} (org.apache.kafka.tools.OffsetsUtils)")


def _safe(message: str) -> str:
    return "\n".join(map(safe_text, message.split("\n")))


def usage() -> str:
    """The text that the tool prints below an error, without a line end."""
    return files("cli.dropin").joinpath("usage.txt").read_text(encoding="utf-8").removesuffix("\n")


def width_of(values: Iterable[str], narrowest: int = NARROWEST) -> int:
    """The width of a column: of its longest value, in UTF-16 units as Java counts, and at least `narrowest`."""
    return max([narrowest, *(java_length(safe_text(value)) for value in values)])


def java_length(text: str) -> int:
    """The length of a string in Java."""
    return len(text) + sum(character > "\uffff" for character in text)


def row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A row as a line without a line end; cells beyond the widths are not padded."""
    texts = [safe_text(cell) for cell in cells]
    padded = [text + " " * (width - java_length(text)) for text, width in zip(texts, widths, strict=False)]
    return " ".join([*padded, *texts[len(widths) :]])


def or_missing(value: object | None) -> str:
    """A value as text; `-` if it is None or empty."""
    return MISSING if value is None or value == "" else str(value)
