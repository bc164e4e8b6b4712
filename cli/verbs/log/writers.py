"""The formats of `kohort log dump`, written while the log is read: memory use does not depend on its size."""

import base64
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import typer

from cli.errors import ExitStatus, UsageError
from cli.output import notice, write_next
from cli.progress import Progress
from cli.render.cells import Cell, safe_text
from cli.render.csv_tables import CsvWriter
from cli.render.document import FORMAT_VERSION, Column, Table, columns, fields
from cli.render.output_format import DumpFormat
from cli.render.table import column_lines
from cli.verbs.log.chunks import ROWS, Chunk, ReadRecord, RecordFilter, chunks_of, parse_wanted
from cli.verbs.log.segments import SegmentData, path_text, segment_files
from cli.verbs.log.texts import NULL, json_text, per_run
from groups.model import Problem
from groups.times import format_moment
from wire.log.batch_header import MAGIC, Batch, Batches
from wire.log.errors import DamagedLog
from wire.log.offset_columns import OFFSET_COMMIT
from wire.messages.record_codec import RECORD_TYPES

TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")
PRODUCER = ("producer_id", "producer_epoch", "transactional", "timestamp_type")


def record_lines(chunk: Chunk) -> list[str]:
    """A JSON object per record (docs/schemas/log-dump.json), without a JSON library: a log has millions."""
    lines = np.full(len(chunk), "", dtype=object)
    lines[chunk.commits.places] = _commit_lines(chunk)
    for index, read in chunk.others.items():
        lines[index] = _line(chunk, index, read)
    shown: list[str] = lines.tolist()
    return shown


def _commit_lines(chunk: Chunk) -> list[str]:
    commits, at, records = chunk.commits, chunk.commits.places, chunk.records
    batch_of, timestamps = records.batch_of[at], records.timestamps[at]
    key_sizes, value_sizes = chunk.key_sizes[at], chunk.value_sizes[at]
    file = json_text(chunk.file)
    fronts = per_run(lambda index: _front(file, records.batches[int(batch_of[index])]), batch_of)
    middles = per_run(
        lambda index: (
            f',"timestamp":{timestamps[index]},"key_size":{key_sizes[index]},'
            f'"value_size":{value_sizes[index]},"sequence":'
        ),
        timestamps, key_sizes, value_sizes,
    )  # fmt: skip
    key = ',"header_keys":[],"control":null,"key":'
    return [
        f'{front}"offset":{offset}{middle}{sequence}{key}{key_begin}{partition}}}}},"payload":'
        f'{payload_begin}{committed}{payload_end},"error":null,"raw":null}}'
        for front, offset, middle, sequence, key_begin, partition, payload_begin, committed, payload_end in zip(
            fronts,
            records.offsets[at].tolist(),
            middles,
            _or_null(chunk.sequences[at].tolist()),
            commits.key_begins,
            commits.partitions,
            commits.payload_begins,
            commits.offsets,
            commits.payload_ends,
            strict=True,
        )
    ]


def _or_null(numbers: list[int]) -> Sequence[int | str]:
    """The numbers, with null for -1."""
    if min(numbers, default=0) >= 0:
        return numbers
    return [NULL if number < 0 else number for number in numbers]


def _front(file: str, batch: Batch) -> str:
    """The part of a batch's record lines before the offset. `file` is its name as JSON."""
    return f'{{"file":{file},"base_offset":{batch.base_offset},{_producer_text(*_producer(batch).values())},'


@lru_cache(maxsize=1024)
def _producer_text(*values: object) -> str:
    return json_text(dict(zip(PRODUCER, values, strict=True)))[1:-1]


def _producer(batch: Batch) -> dict[str, object]:
    numbers = (_number(batch.producer_id), _number(batch.producer_epoch))
    values = (*numbers, batch.is_transactional, TIMESTAMP_TYPES[batch.log_append_time])
    return dict(zip(PRODUCER, values, strict=True))


def _line(chunk: Chunk, index: int, read: ReadRecord) -> str:
    batch = chunk.records.batches[int(chunk.records.batch_of[index])]
    front = {
        "offset": int(chunk.records.offsets[index]),
        "timestamp": int(chunk.records.timestamps[index]),
        "key_size": _number(int(chunk.key_sizes[index])),
        "value_size": _number(int(chunk.value_sizes[index])),
        "sequence": _number(int(chunk.sequences[index])),
        "header_keys": read.header_keys,
        "control": read.marker and read.marker._asdict(),
    }
    back = {
        "error": read.error,
        "raw": read.raw and {"key": _base64(read.raw[0]), "payload": _base64(read.raw[1])},
    }
    begin = _front(json_text(chunk.file), batch)
    texts = f'"key":{read.key.text},"payload":{read.payload}'
    return f"{begin}{json_text(front)[1:-1]},{texts},{json_text(back)[1:]}"


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _number(value: int) -> int | None:
    """The number; None for Kafka's -1."""
    return None if value == -1 else value


def batch_lines(batches: Batches) -> Iterator[str]:
    """A JSON object per batch: docs/schemas/log-dump.json, `batch`."""
    for batch, checksum in zip(batches, batches.headers["crc"].tolist(), strict=True):
        yield json_text({
            **fields(batch, "file", "base_offset", "last_offset", "count"),
            "base_sequence": _number(batch.base_sequence), "last_sequence": _number(batch.last_sequence),
            **_producer(batch), "leader_epoch": _number(batch.leader_epoch), "control": batch.is_control,
            **fields(batch, "delete_horizon_ms", "position", "max_timestamp", "size"), "magic": MAGIC,
            "codec": batch.codec.name.lower(), "crc": checksum,
        })  # fmt: skip


RECORD_COLUMNS = columns(
    "#OFFSET", "TIMESTAMP", "#KEY-SIZE", "#VALUE-SIZE", "PRODUCER", "#SEQUENCE", "TYPE", "KEY", "PAYLOAD"
)
BATCH_COLUMNS = columns(
    *("#BASE-OFFSET", "#LAST-OFFSET", "#COUNT", "#POSITION", "#SIZE", "TIMESTAMP-TYPE", "MAX-TIMESTAMP"),
    *("#LEADER-EPOCH", "PRODUCER", "#SEQUENCE", "KIND", "CODEC", "CRC"),
)


def record_rows(chunk: Chunk) -> Iterator[Sequence[Cell]]:
    records = chunk.records
    producers = {
        index: producer(records.batches[index]) for index in dict.fromkeys(records.batch_of.tolist())
    }
    contents = _contents(chunk)
    sizes = (chunk.key_sizes, chunk.value_sizes)
    numbers = (records.offsets, records.timestamps, *sizes, records.batch_of, chunk.sequences)
    rows = zip(*(column.tolist() for column in numbers), strict=True)
    for index, (offset, timestamp, key_size, value_size, batch, sequence) in enumerate(rows):
        sizes_shown = (_number(key_size), _number(value_size))
        shown = (offset, format_moment(timestamp), *sizes_shown, producers[batch], _number(sequence))
        yield (*shown, *contents[index])


def _contents(chunk: Chunk) -> dict[int, tuple[str | None, str | None, str | None]]:
    tombstones = chunk.value_sizes < 0
    contents = {index: _content(read, bool(tombstones[index])) for index, read in chunk.others.items()}
    name = RECORD_TYPES[OFFSET_COMMIT].name
    contents.update((index, (name, key, payload)) for index, key, payload in chunk.commits.texts())
    return contents


def _content(read: ReadRecord, tombstone: bool) -> tuple[str | None, str | None, str | None]:
    value: str | None = "<DELETE>" if tombstone else read.payload  # as kafka-dump-log prints it
    key = None if read.key.type is None else read.key.text
    marker = read.marker
    if marker is not None:
        value = None if marker.coordinator_epoch is None else f"coordinator epoch {marker.coordinator_epoch}"
    if read.error is not None:
        value = f"cannot be read: {read.error}"
    number = read.key.type
    known = RECORD_TYPES.get(-1 if number is None else number)
    kind = known.name if known else None if number is None else f"unknown ({number})"
    return marker.type if marker else kind, key, value


def batch_rows(batches: Batches) -> Iterator[Sequence[Cell]]:
    for batch, checksum in zip(batches, batches.headers["crc"].tolist(), strict=True):
        yield (
            batch.base_offset, batch.last_offset, batch.count, batch.position, batch.size,
            TIMESTAMP_TYPES[batch.log_append_time], format_moment(batch.max_timestamp), batch.leader_epoch,
            producer(batch), _number(batch.base_sequence), "control" if batch.is_control else "data",
            batch.codec.name.lower(), f"{checksum:08x}",
        )  # fmt: skip


def producer(batch: Batch) -> str | None:
    if batch.producer_id < 0 and not batch.is_transactional:
        return None
    transactional = " transactional" if batch.is_transactional else ""
    return f"{batch.producer_id}:{batch.producer_epoch}{transactional}"


def print_records(
    paths: Sequence[Path],
    groups: Sequence[str] | None,
    key_types: Sequence[str] | None,
    start: str | None,
    end: str | None,
    output: DumpFormat,
    *,
    batches: bool,
) -> None:
    """Print the selected records of logs, or their batches; exits with UNREADABLE if data could not be read."""
    if batches and (groups or key_types):
        raise UsageError(
            "--group and --key-type choose records, and a batch may contain several kinds: leave --batches out"
        )
    selected = parse_wanted(groups, key_types, start, end, time.time_ns() // 1_000_000)
    files = segment_files(paths)
    problems: list[Problem] = []
    write = WRITERS[output]
    kind = BATCHES if batches else RECORDS
    write_next(lambda out: problems.extend(dump(files, selected, write(out, kind), batches=batches)))
    for problem in problems:
        notice(f"{problem.subject}: {problem.message}")
    if problems:
        raise typer.Exit(int(ExitStatus.UNREADABLE))


def dump(
    files: Sequence[Path], record_filter: RecordFilter, writer: "LineWriter", *, batches: bool
) -> tuple[Problem, ...]:
    """Write the selected records of segments, or their batches; returns the problems of unreadable data."""
    problems: list[Problem] = []
    sizes = [path.stat().st_size if path.exists() else 0 for path in files]
    with Progress("reading", total=sum(sizes)) as progress:
        for number, path in enumerate(files):
            before = sum(sizes[:number])
            segment = _read(path)
            if isinstance(segment, Problem):
                problems.append(segment)
                continue
            writer.file(segment.file)
            for piece in _batches(segment, record_filter) if batches else chunks_of(segment, record_filter):
                if isinstance(piece, Problem):
                    problems.append(piece)
                    continue
                writer.part(piece)
                if isinstance(piece, Chunk):
                    progress.at(before + piece.end)
    writer.end(problems)
    return tuple(problems)


def _batches(segment: SegmentData, record_filter: RecordFilter) -> Iterator[Batches | Problem]:
    for part in segment.parts():
        yield record_filter.batches(part.batches)
        problem = segment.damage(part)
        if problem is not None:
            yield problem


def _read(path: Path) -> SegmentData | Problem:
    try:
        return SegmentData.read(path)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
    except DamagedLog as error:
        message = error.reason
    return Problem(subject=path_text(path), message=message)


COMMAND = "log dump"


class DumpKind(NamedTuple):
    """The contents of a dump: `lines` and `rows` convert a chunk or batches to JSON, and to rows of the `columns`."""

    name: str
    columns: tuple[Column, ...]
    lines: Callable[[Any], Iterable[str]]
    rows: Callable[[Any], Iterable[Sequence[Cell]]]


RECORDS = DumpKind("records", RECORD_COLUMNS, record_lines, record_rows)
BATCHES = DumpKind("batches", BATCH_COLUMNS, batch_lines, batch_rows)


class LineWriter:
    """Writes NDJSON: a JSON object per line. Receives a log in its order, one file after another."""

    def __init__(self, stream: TextIO, kind: DumpKind) -> None:
        self._stream, self._kind = stream, kind

    def file(self, name: str) -> None:
        """Start a file; every line names it."""

    def part(self, piece: Chunk | Batches) -> None:
        lines = iter(self._kind.lines(piece))
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

    def part(self, piece: Chunk | Batches) -> None:
        rows = iter(self._kind.rows(piece))
        while some := list(islice(rows, ROWS)):
            if not self._widths:
                self._stream.write(f"{self._gap}{self._heading}\n")
                self._gap = "\n"
            table = Table(columns=self._kind.columns, rows=some)
            self._stream.writelines(line + "\n" for line in column_lines(table, self._widths))


class FileCsvWriter(LineWriter):
    def __init__(self, stream: TextIO, kind: DumpKind) -> None:
        super().__init__(stream, kind)
        self._writer = CsvWriter(stream)
        self._writer.heading(["FILE", *(column.name for column in kind.columns)])

    def part(self, piece: Chunk | Batches) -> None:
        self._writer.rows(self._kind.rows(piece), piece.file)


def _errors(problems: Sequence[Problem]) -> list[dict[str, object]]:
    return [fields(problem, "subject", "message") for problem in problems]


WRITERS: Mapping[DumpFormat, type[LineWriter]] = {
    DumpFormat.TABLE: TableWriter, DumpFormat.NDJSON: LineWriter, DumpFormat.JSON: JsonWriter,
    DumpFormat.YAML: YamlWriter, DumpFormat.CSV: FileCsvWriter,
}  # fmt: skip
