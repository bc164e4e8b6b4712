"""The formats of `kohort log dump`, written while the log is read: memory use does not depend on its size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from cli.progress import Progress
from cli.render.cells import Cell, safe_text
from cli.render.csv_tables import CsvWriter
from cli.render.document import FORMAT_VERSION, Column, Table, fields
from cli.render.output_format import DumpFormat
from cli.render.table import column_lines
from cli.verbs.log_dump.chunks import ROWS, Chunk, RecordFilter, chunks_of
from cli.verbs.log_dump.lines import (
    BATCH_COLUMNS,
    RECORD_COLUMNS,
    batch_lines,
    batch_rows,
    record_lines,
    record_rows,
)
from cli.verbs.log_dump.segments import SegmentFile, path_text
from groups.model import Problem
from wire.log.batch_header import Batches
from wire.log.errors import DamagedLog


def dump(
    files: Sequence[Path], wanted: RecordFilter, writer: LineWriter, *, batches: bool
) -> tuple[Problem, ...]:
    """Write the selected records of segments, or their batches; returns the problems of unreadable data."""
    problems: list[Problem] = []
    sizes = [_size(path) for path in files]
    with Progress("reading", total=sum(sizes)) as progress:
        for place, path in enumerate(files):
            before = sum(sizes[:place])
            segment = _read(path)
            if isinstance(segment, Problem):
                problems.append(segment)
                continue
            writer.file(segment.file)
            for found in _batches(segment, wanted) if batches else chunks_of(segment, wanted):
                if isinstance(found, Problem):
                    problems.append(found)
                    continue
                writer.part(found)
                if isinstance(found, Chunk):
                    progress.at(before + found.end)
    writer.end(problems)
    return tuple(problems)


def _batches(segment: SegmentFile, wanted: RecordFilter) -> Iterator[Batches | Problem]:
    for part in segment.parts():
        yield wanted.batches(part.batches)
        problem = segment.damage(part)
        if problem is not None:
            yield problem


def _read(path: Path) -> SegmentFile | Problem:
    try:
        return SegmentFile.read(path)
    except OSError as error:
        return Problem(subject=path_text(path), message=f"cannot be read: {error.strerror or error}")
    except DamagedLog as error:
        return Problem(subject=path_text(path), message=error.reason)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


COMMAND = "log dump"


class DumpKind:
    """The contents of a dump: the records of a log, or its batches."""

    def __init__(
        self,
        name: str,
        columns: tuple[Column, ...],
        lines: Callable[[Any], Iterable[str]],
        rows: Callable[[Any], Iterable[Sequence[Cell]]],
    ) -> None:
        """`lines` and `rows` convert a chunk or batches to JSON objects, and to rows under the `columns`."""
        self.name, self.columns, self.lines, self.rows = name, columns, lines, rows


RECORDS = DumpKind("records", RECORD_COLUMNS, record_lines, record_rows)
BATCHES = DumpKind("batches", BATCH_COLUMNS, batch_lines, batch_rows)


class LineWriter:
    """Writes NDJSON: a JSON object per line. Receives a log in its order, one file after another."""

    def __init__(self, stream: TextIO, kind: DumpKind) -> None:
        self._stream, self._kind = stream, kind

    def file(self, name: str) -> None:
        """Start a file; every line names it."""

    def part(self, found: Chunk | Batches) -> None:
        """Write some of its records or batches."""
        lines = iter(self._kind.lines(found))
        while some := list(islice(lines, ROWS)):
            self._lines(some)

    def _lines(self, lines: Sequence[str]) -> None:
        self._stream.write("\n".join(lines))
        self._stream.write("\n")

    def end(self, problems: Sequence[Problem]) -> None:
        """Finish; `problems` are those of unreadable data, which are also printed to stderr."""


class JsonWriter(LineWriter):
    """Writes one JSON document: docs/schemas/log-dump.json."""

    def __init__(self, stream: TextIO, kind: DumpKind) -> None:
        super().__init__(stream, kind)
        self._before = f'{{"kohort": {FORMAT_VERSION}, "command": "{COMMAND}", "{kind.name}": [\n'

    def _lines(self, lines: Sequence[str]) -> None:
        self._stream.write(self._before)
        self._stream.write(",\n".join(lines))
        self._before = ",\n"

    def end(self, problems: Sequence[Problem]) -> None:
        self._stream.write("" if self._before == ",\n" else self._before)
        self._stream.write(f'\n], "errors": {json.dumps(_errors(problems), ensure_ascii=False)}}}\n')


class YamlWriter(LineWriter):
    """Writes the same document as YAML."""

    def __init__(self, stream: TextIO, kind: DumpKind) -> None:
        super().__init__(stream, kind)
        self._started = False
        self._write({"kohort": FORMAT_VERSION, "command": COMMAND})

    def _lines(self, lines: Sequence[str]) -> None:
        # The name of the list is written only before its first part.
        self._write({self._kind.name: [json.loads(line) for line in lines]}, skipped=int(self._started))
        self._started = True

    def end(self, problems: Sequence[Problem]) -> None:
        empty = {} if self._started else {self._kind.name: list[str]()}
        self._write({**empty, "errors": _errors(problems)})

    def _write(self, tree: Mapping[str, Any], skipped: int = 0) -> None:
        from groups.yaml_files import yaml_lines

        self._stream.writelines(islice(yaml_lines(tree), skipped, None))


class TableWriter(LineWriter):
    """Writes a table for each file with rows, in parts: columns become wider if a later part needs it."""

    def __init__(self, stream: TextIO, kind: DumpKind) -> None:
        super().__init__(stream, kind)
        self._widths: list[int] = []
        self._heading = ""
        self._gap = ""

    def file(self, name: str) -> None:
        self._heading = safe_text(name)
        self._widths = []

    def part(self, found: Chunk | Batches) -> None:
        rows = iter(self._kind.rows(found))
        while some := list(islice(rows, ROWS)):
            if not self._widths:
                self._stream.write(f"{self._gap}{self._heading}\n")
                self._gap = "\n"
            table = Table(columns=self._kind.columns, rows=some)
            self._stream.writelines(line + "\n" for line in column_lines(table, self._widths))


class FileCsvWriter(LineWriter):
    """Writes one table with a column for the file."""

    def __init__(self, stream: TextIO, kind: DumpKind) -> None:
        super().__init__(stream, kind)
        self._writer = CsvWriter(stream)
        self._writer.heading(["FILE", *(column.name for column in kind.columns)])

    def part(self, found: Chunk | Batches) -> None:
        self._writer.rows(self._kind.rows(found), found.file)


def _errors(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    return [fields(each, "subject", "message") for each in problems]


WRITERS: Mapping[DumpFormat, type[LineWriter]] = {
    DumpFormat.TABLE: TableWriter,
    DumpFormat.NDJSON: LineWriter,
    DumpFormat.JSON: JsonWriter,
    DumpFormat.YAML: YamlWriter,
    DumpFormat.CSV: FileCsvWriter,
}
