"""The tool's output: messages, its usage, and tables of left-justified columns. Control
characters are escaped: any client may have chosen a name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from importlib.resources import files
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from cli.dropin.wording import wording
from cli.progress import discard
from cli.render.cells import MISSING, safe_text
from wire.errors import Failure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

T = TypeVar("T")

MAY_BE_DONE = "The change may have been made: --describe shows whether it was."
NARROWEST = 15
"""The width of a column if all its names are short."""


class _RawOutput(RawIOBase):
    """A file to which writing never fails, as with Java's PrintStream: after an error, output is kept instead."""

    def __init__(self, file: int) -> None:
        self._file = file
        self.error: OSError | None = None
        self.lost: bytearray | None = None  # The output that could not be written, if it is needed

    def fileno(self) -> int:
        return self._file

    def isatty(self) -> bool:
        return os.isatty(self._file)

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        octets = bytes(data)
        if self.error is None:
            try:
                return os.write(self._file, octets)
            except OSError as error:
                self.error = error
        if self.lost is not None:
            self.lost += octets
        return len(octets)


class Output(TextIOWrapper):
    """Standard output. What a change printed is not lost: if it cannot be written, it goes to standard error."""

    def __init__(self, file: int, encoding: str) -> None:
        self._raw = _RawOutput(file)
        # Java, too, replaces characters that the terminal's encoding lacks.
        super().__init__(
            BufferedWriter(self._raw), encoding, errors="replace", line_buffering=self._raw.isatty()
        )

    def keep(self) -> None:
        """The output is needed."""
        self._raw.lost = bytearray()

    def finish(self) -> OSError | None:
        """Write what is left; the error of writing, if there was one."""
        self.flush()
        if self._raw.lost and sys.stderr is not None:
            print_remark(self._raw.lost.decode(self.encoding, "replace").removesuffix("\n"))
        return self._raw.error


def print_error(message: str) -> None:
    """Print an error to standard output, like the tool."""
    print(f"\nError: {safe_lines(message)}")


def print_remark(message: str) -> None:
    """Print a message to standard error."""
    if sys.stderr is None:  # print would use stdout
        return
    try:
        print(safe_lines(message), file=sys.stderr)
    except OSError:
        discard(sys.stderr)


def print_warning(message: str) -> None:
    """Print a warning of the tool's own log, in the format of config/tools-log4j2.yaml of a Kafka distribution."""
    from datetime import datetime

    now = datetime.now()
    time = f"{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03}"
    print_remark(f"[{time}] WARN {message} ({wording().logger})")


def remark_unknown(failures: Iterable[Failure | None]) -> None:
    """Print a remark if a change was sent and not answered; the tool prints none."""
    if any(failure and failure.code is None and not failure.is_unsent for failure in failures):
        print_remark(MAY_BE_DONE)


def safe_lines(message: str) -> str:
    """A message without control characters but the ends of its lines."""
    return "\n".join(map(safe_text, message.split("\n")))


def purpose_and_usage(file: str) -> tuple[str, str]:
    """What a tool prints for `--help`: a sentence or more, empty where `wording` has it, and the text that it also
    prints below an error; both without a line end."""
    text = files("cli.dropin").joinpath(file).read_text(encoding="utf-8").removesuffix("\n")
    purpose, _, usage = f"\n{text}".partition("\nOption ")
    return purpose.removeprefix("\n"), f"Option {usage}"


def usage(file: str | None = None) -> str:
    """The text that the tool prints below an error, without a line end."""
    return purpose_and_usage(file or wording().usage)[1]


def width_of(values: Iterable[str], narrowest: int = NARROWEST) -> int:
    """The width of a column: of its longest value, in UTF-16 units as Java counts, and at least `narrowest`."""
    return max([narrowest, *(java_length(safe_text(value)) for value in values)])


def java_length(text: str) -> int:
    """The length of a string in Java."""
    return len(text) + sum(character > "\uffff" for character in text)


class ToolColumn(NamedTuple, Generic[T]):
    """A column of a table: its heading, and the value of each row, of which None is shown as `-`. Values are padded to
    the `width`, by default that of the longest one, at least `narrowest`; 0 for a last column without padding."""

    heading: str
    value: Callable[[T], object]
    width: int | None = None
    narrowest: int = NARROWEST


def table(rows: Iterable[T], *columns: ToolColumn[T] | Literal[False]) -> str:
    """A table without a line end; the first line has the headings. Columns that are False are left out."""
    shown = [column for column in columns if column]
    lines = [[safe_text(or_missing(column.value(item))) for column in shown] for item in rows]
    widths = [
        max([column.narrowest, *(java_length(cells[number]) for cells in lines)])
        if column.width is None
        else column.width
        for number, column in enumerate(shown)
    ]
    return "\n".join(
        " ".join(text + " " * (width - java_length(text)) for text, width in zip(cells, widths, strict=True))
        for cells in ([column.heading for column in shown], *lines)
    )


def or_missing(value: object | None) -> str:
    return MISSING if value is None else str(value)
