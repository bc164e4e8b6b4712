"""A command that is repeated, over the same connections, until it is stopped."""

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TextIO

from cli.errors import CommandError, UsageError
from cli.options import OutputOptions, SourceOptions
from cli.output import arranged, notice, render, write_next
from cli.render.cells import safe_text
from cli.render.csv_tables import CsvWriter
from cli.render.document import Document, Table
from cli.render.lines import Line, Piece, Role, folded
from cli.render.output_format import OutputFormat
from cli.render.redraw import Screen, can_draw, changed_document_lines, shortened
from cli.selection import ReusableSource
from cli.sources.source import Source
from groups.times import format_moment, seconds_text
from wire.client.errors import WireError

LONGEST_PAUSE_S = 30.0
"""Maximum pause between two attempts to reach an unavailable cluster, unless the interval is longer."""


def repeat_every(
    seconds: float, read_document: Callable[[Source], Document], source: SourceOptions, output: OutputOptions
) -> None:
    """Read and print repeatedly; Ctrl-C stops, and is not an error once something was shown.
    The first reading must succeed. A cluster that fails later is retried with increasing pauses."""
    if source.as_of is not None:
        raise UsageError("--watch cannot be used with --as-of: the past does not change")
    if output.output in (OutputFormat.HTML, OutputFormat.MARKDOWN):
        raise UsageError(f"--watch prints table, json, csv or yaml; {output.output.value} is one page")
    with ExitStack() as stack:
        opened = stack.enter_context(ReusableSource(source))
        printer: _ScreenOutput | _PipeOutput | None = None
        failures = 0
        try:
            while True:
                started = time.monotonic()
                try:
                    document = arranged(read_document(opened.get()), output)
                except (WireError, CommandError) as error:
                    if printer is None or not opened.may_pass(error):
                        raise
                    opened.close()
                    failures += 1
                    printer.fail(retry_text(error))
                else:
                    failures = 0
                    opened.print_notices()
                    if printer is None and output.output is OutputFormat.TABLE and can_draw(sys.stdout):
                        printer = _ScreenOutput(stack.enter_context(Screen(sys.stdout)), seconds)
                    printer = printer or _PipeOutput(output)
                    printer.show(document, time.time_ns() // 1_000_000)
                pause = pause_s(seconds, failures)
                printer.wait(max(started + pause - time.monotonic(), 0.0))
        except KeyboardInterrupt:
            if printer is None:
                raise


def pause_s(seconds: float, failures: int) -> float:
    """The pause before the next reading, after a number of failures in a row."""
    if not failures:
        return seconds
    return max(seconds, min(0.5 * 2.0 ** min(failures, 10), LONGEST_PAUSE_S))


def retry_text(error: Exception) -> str:
    """Why the cluster could not be read, and that it is retried; errors name the broker themselves."""
    return f"{str(error).rstrip('.')}; trying again"


class _ScreenOutput:
    """Shows each document in place of the previous one, with changes marked."""

    def __init__(self, screen: Screen, seconds: float) -> None:
        self._screen, self._seconds = screen, seconds
        self._shown: Document | None = None
        self._before: Document | None = None
        self._at = ""
        self._failure = ""

    def show(self, document: Document, at_ms: int) -> None:
        self._before, self._shown = self._shown, document
        self._at, self._failure = format_moment(at_ms), ""
        self._screen.draw(self._lines)

    def fail(self, why: str) -> None:
        """Show that the cluster could not be read and is retried."""
        self._failure = why
        self._screen.draw(self._lines)

    def wait(self, seconds: float) -> None:
        self._screen.wait(seconds)

    def _lines(self, width: int, height: int) -> list[Line]:
        document = self._shown
        if document is None:
            return []
        when = f"  {self._at}, every {seconds_text(self._seconds)}; Ctrl-C stops"
        head: list[Line] = [(Piece(f"kohort {document.command}", Role.HEADING), Piece(when, Role.FAINT))]
        for text in filter(None, (self._failure, *_printed(document))):
            head += folded(safe_text(text), width, Role.BAD)
        head = [*shortened(head, max(height // 2, 1)), ()]
        body = list(changed_document_lines(document, self._before, width))
        return head + shortened(body, height - len(head))


class _PipeOutput:
    """Prints documents in sequence: JSON lines, YAML documents, rows with a time, or tables preceded by a time."""

    def __init__(self, options: OutputOptions) -> None:
        self._output = options.output
        self._columns: list[str] | None = None
        self._reported: frozenset[str] = frozenset()

    def show(self, document: Document, at_ms: int) -> None:
        printed = _printed(document)
        for text in printed:
            if text not in self._reported:  # problems are printed once while they last
                notice(text)
        self._reported = frozenset(printed)
        at = format_moment(at_ms)
        write_next(lambda stream: self._write(document, at, stream))

    def fail(self, why: str) -> None:
        notice(why)

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def _write(self, document: Document, at: str, stream: TextIO) -> None:
        if self._output is OutputFormat.JSON:
            stream.write(json.dumps(_timed(document, at), ensure_ascii=False) + "\n")
        elif self._output is OutputFormat.YAML:
            from groups.yaml_files import yaml_lines

            stream.write("---\n")
            stream.writelines(yaml_lines(_timed(document, at)))
        elif self._output is OutputFormat.CSV:
            self._write_rows(document, at, stream)
        else:
            stream.write(f"{at}\n")
            render(document, self._output, stream)
            stream.write("\n")

    def _write_rows(self, document: Document, at: str, stream: TextIO) -> None:
        """Write rows; headings are repeated, after an empty line, only if the columns change."""
        writer = CsvWriter(stream)
        for table in (block for block in document.blocks if isinstance(block, Table)):
            columns = ["TIME", *(column.csv_name for column in table.columns)]
            if columns != self._columns:
                if table.header:
                    if self._columns is not None:
                        stream.write("\n")
                    writer.heading(columns)
                self._columns = columns
            writer.rows(table.rows, at)


def _printed(document: Document) -> list[str]:
    return [*document.remarks, *(f"{problem.subject}: {problem.message}" for problem in document.errors)]


def _timed(document: Document, at: str) -> dict[str, object]:
    """The document with its time, after its format and its command."""
    data = document.as_data()
    return {"kohort": data.pop("kohort"), "command": data.pop("command"), "at": at, **data}
