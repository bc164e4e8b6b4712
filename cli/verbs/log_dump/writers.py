"""The formats of `kohort log dump`, written while the log is read: memory does not grow with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TextIO

from cli.progress import Progress
from cli.render.cells import safe_text
from cli.render.csv_tables import CsvWriter
from cli.render.document import FORMAT_VERSION, Cell, Column, Table
from cli.render.table import column_lines
from cli.verbs.log_dump.chunks import ROWS, Chunk, Wanted, chunks_of
from cli.verbs.log_dump.command import DumpFormat
from cli.verbs.log_dump.lines import (
    BATCH_COLUMNS,
    RECORD_COLUMNS,
    batch_lines,
    batch_rows,
    record_lines,
    record_rows,
)
from cli.verbs.log_dump.segments import Segment, shown_path
from cli.verbs.log_dump.texts import Texts
from groups.model import Problem
from wire.log.batch_header import Batches
from wire.log.errors import DamagedLog


def dump(files: Sequence[Path], wanted: Wanted, writer: Writer, *, batches: bool) -> tuple[Problem, ...]:
    """Write the wanted records of segments, or their batches; the answer is what could not be read."""
    problems: list[Problem] = []
    texts = Texts()
    sizes = [_size(path) for path in files]
    with Progress("reading", total=sum(sizes)) as progress:
        for place, path in enumerate(files):
            before = sum(sizes[:place])
            segment = _read(path)
            if isinstance(segment, Problem):
                problems.append(segment)
                continue
            writer.file(segment.file)
            for found in _batches(segment, wanted) if batches else chunks_of(segment, wanted, texts):
                if isinstance(found, Problem):
                    problems.append(found)
                elif isinstance(found, Chunk):
                    writer.records(found)
                    progress.at(before + found.end)
                else:
                    writer.batches(found)
    writer.end(problems)
    return tuple(problems)


def _batches(segment: Segment, wanted: Wanted) -> Iterator[Batches | Problem]:
    for part in segment.parts():
        yield wanted.batches(part.batches)
        problem = segment.damage(part)
        if problem is not None:
            yield problem


def _read(path: Path) -> Segment | Problem:
    try:
        return Segment.read(path)
    except OSError as error:
        return Problem(subject=shown_path(path), message=f"cannot be read: {error.strerror or error}")
    except DamagedLog as error:
        return Problem(subject=shown_path(path), message=error.reason)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


COMMAND = "log dump"


class Writer(Protocol):
    """Takes what a log holds in its order: of one file after the other, records or batches."""

    def file(self, name: str) -> None:
        """A file begins."""

    def records(self, chunk: Chunk) -> None:
        """Some records of it."""

    def batches(self, batches: Batches) -> None:
        """Some batches of it."""

    def end(self, problems: Sequence[Problem]) -> None:
        """That is all; `problems` are what could not be read."""


class LineWriter:
    """NDJSON: a JSON object per line."""

    def __init__(self, stream: TextIO, _: str) -> None:
        self._stream = stream

    def file(self, name: str) -> None:
        """Every line names it."""

    def records(self, chunk: Chunk) -> None:
        self._lines(record_lines(chunk))

    def batches(self, batches: Batches) -> None:
        lines = batch_lines(batches)
        while some := list(islice(lines, ROWS)):
            self._lines(some)

    def _lines(self, lines: Sequence[str]) -> None:
        if lines:
            self._stream.write("\n".join(lines))
            self._stream.write("\n")

    def end(self, problems: Sequence[Problem]) -> None:
        """They are said on stderr."""


class JsonWriter(LineWriter):
    """One JSON document: docs/schemas/log-dump.json."""

    def __init__(self, stream: TextIO, what: str) -> None:
        """`what` names the list: records or batches."""
        super().__init__(stream, what)
        self._before = f'{{"kohort": {FORMAT_VERSION}, "command": "{COMMAND}", "{what}": [\n'

    def _lines(self, lines: Sequence[str]) -> None:
        if lines:
            self._stream.write(self._before)
            self._stream.write(",\n".join(lines))
            self._before = ",\n"

    def end(self, problems: Sequence[Problem]) -> None:
        self._stream.write("" if self._before == ",\n" else self._before)
        self._stream.write(f'\n], "errors": {json.dumps(_errors(problems), ensure_ascii=False)}}}\n')


class YamlWriter(LineWriter):
    """The same document as YAML."""

    def __init__(self, stream: TextIO, what: str) -> None:
        super().__init__(stream, what)
        self._what = what
        self._begun = False
        self._write({"kohort": FORMAT_VERSION, "command": COMMAND})

    def _lines(self, lines: Sequence[str]) -> None:
        if lines:
            # The name of the list stands above its first part alone.
            self._write({self._what: [json.loads(line) for line in lines]}, skipped=int(self._begun))
            self._begun = True

    def end(self, problems: Sequence[Problem]) -> None:
        empty = {} if self._begun else {self._what: list[str]()}
        self._write({**empty, "errors": _errors(problems)})

    def _write(self, tree: Mapping[str, Any], skipped: int = 0) -> None:
        from groups.yaml_files import yaml_lines

        self._stream.writelines(islice(yaml_lines(tree), skipped, None))


class TableWriter:
    """A table per file that has any rows, in parts: columns become wider where a later part needs it."""

    def __init__(self, stream: TextIO, _: str) -> None:
        self._stream = stream
        self._widths: list[int] = []
        self._heading = ""
        self._gap = ""

    def file(self, name: str) -> None:
        self._heading = safe_text(name)
        self._widths = []

    def records(self, chunk: Chunk) -> None:
        self._part(RECORD_COLUMNS, record_rows(chunk))

    def batches(self, batches: Batches) -> None:
        rows = batch_rows(batches)
        while some := list(islice(rows, ROWS)):
            self._part(BATCH_COLUMNS, some)

    def _part(self, columns: tuple[Column, ...], rows: Iterable[Sequence[Cell]]) -> None:
        table = Table(columns=columns, rows=list(rows))
        if table.rows and not self._widths:
            self._stream.write(f"{self._gap}{self._heading}\n")
            self._gap = "\n"
        if table.rows:
            self._stream.writelines(line + "\n" for line in column_lines(table, self._widths))

    def end(self, problems: Sequence[Problem]) -> None:
        """They are said on stderr."""


class FileCsvWriter:
    """One table with the files in a column of their own."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self._writer = CsvWriter(stream)
        columns = RECORD_COLUMNS if what == "records" else BATCH_COLUMNS
        self._writer.heading(["FILE", *(column.name for column in columns)])

    def file(self, name: str) -> None:
        """Every row names it."""

    def records(self, chunk: Chunk) -> None:
        self._writer.rows(record_rows(chunk), chunk.file)

    def batches(self, batches: Batches) -> None:
        self._writer.rows(batch_rows(batches), batches.file)

    def end(self, problems: Sequence[Problem]) -> None:
        """They are said on stderr."""


def _errors(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [{"subject": each.subject, "message": each.message} for each in problems]


WRITERS: Mapping[DumpFormat, type[LineWriter | TableWriter | FileCsvWriter]] = {
    DumpFormat.TABLE: TableWriter,
    DumpFormat.NDJSON: LineWriter,
    DumpFormat.JSON: JsonWriter,
    DumpFormat.YAML: YamlWriter,
    DumpFormat.CSV: FileCsvWriter,
}
