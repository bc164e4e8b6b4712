"""Check the partitions of the coordinator's log, batch by batch and record by record, and print the findings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.errors import ExitStatus
from cli.options import OutputOptions
from cli.output import emit
from cli.progress import Progress
from cli.render.document import Block, Document, Table, columns, fields, table_of
from cli.verbs.log.chunks import Chunk, RecordFilter, chunks_of_part
from cli.verbs.log.segments import SegmentData, damage_of, partition_directories, path_text
from coordinator.store.partition_files import read_leader_epochs, read_topic_id
from groups.model import Problem
from groups.times import format_moment
from wire.log.errors import DamagedLog
from wire.log.index_check import check_indexes
from wire.log.offset_columns import OFFSET_COMMIT
from wire.log.salvage import IntactRun
from wire.log.segments import base_offset_of, list_segments
from wire.messages.record_codec import RECORD_TYPES

MOST_RECORDS = 10  # maximum number of unreadable records named per partition


@dataclass(slots=True, kw_only=True)
class VerifiedPartition:
    """The contents of a partition, and its damage. Offsets and times are None if there are no records."""

    directory: str
    segments: int = 0
    batches: int = 0
    records: int = 0
    keys: Counter[int] = field(default_factory=Counter)  # Records by type, also by unknown ones
    control: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None
    problems: list[Problem] = field(default_factory=list)


def _partition(directory: Path, progress: Progress) -> VerifiedPartition:
    """Check a partition. Raises OSError: it cannot be read."""
    checked = VerifiedPartition(directory=path_text(directory))
    checked.problems += _small_files(directory)
    try:
        segments = list_segments(directory)
    except DamagedLog as error:
        checked.problems.append(damage_of(error))
        return checked
    unreadable: list[Problem] = []
    next_offset = 0
    for path in segments:
        try:
            segment = SegmentData.read(path)
        except DamagedLog as error:
            checked.problems.append(damage_of(error))
            continue
        next_offset = _segment(path, segment, next_offset, path == segments[-1], checked, unreadable)
        progress.advance(len(segment.data))
    checked.problems += unreadable[:MOST_RECORDS]
    if len(unreadable) > MOST_RECORDS:
        more = f"{len(unreadable) - MOST_RECORDS} more records cannot be read"
        checked.problems.append(Problem(subject=checked.directory, message=more))
    checked.problems += [
        Problem(subject=checked.directory, message=f"{count} records of the unknown type {number}")
        for number, count in sorted(checked.keys.items())
        if number not in RECORD_TYPES
    ]
    return checked


def _segment(
    path: Path,
    segment: SegmentData,
    next_offset: int,
    is_last: bool,
    checked: VerifiedPartition,
    unreadable: list[Problem],
) -> int:
    """Check a segment that should start at `next_offset`; returns the offset after it."""
    checked.segments += 1
    base_offset = base_offset_of(path)
    if base_offset < next_offset:
        message = f"starts at offset {base_offset}, but the previous segment ends at {next_offset - 1}"
        checked.problems.append(Problem(subject=segment.file, message=message))
    parts = list(segment.parts())
    for part in parts:
        checked.problems += _order(segment, part, base_offset, is_last)
        checked.batches += len(part.batches)
        if len(part.batches):
            next_offset = max(next_offset, int(part.batches.last_offsets[-1]) + 1)
        for piece in chunks_of_part(segment, part, RecordFilter()):
            if isinstance(piece, Chunk):
                _count(piece, checked, unreadable)
            else:
                checked.problems.append(piece)
    if len(parts) == 1 and not (parts[0].fault and not parts[0].torn):
        checked.problems += map(damage_of, check_indexes(path, base_offset, parts[0].batches))
    return max(next_offset, base_offset)


def _small_files(directory: Path) -> Iterator[Problem]:
    for read in (read_topic_id, read_leader_epochs):
        try:
            read(directory)
        except DamagedLog as error:
            yield damage_of(error)


def _order(segment: SegmentData, part: IntactRun, base_offset: int, is_last: bool) -> Iterator[Problem]:
    """Problems of a part's first offset, and of damage that is not at the end of the log."""
    if len(part.batches) and part.batches[0].base_offset < base_offset:
        first = part.batches[0]
        message = f"the offset {first.base_offset} is below the one in the file's name"
        yield Problem(subject=f"{segment.file}, byte {first.position}", message=message)
    if part.torn and not is_last and part.fault is not None:
        message = "the log continues in another segment, so an interrupted write is not the cause"
        yield Problem(subject=f"{segment.file}, byte {part.fault.position}", message=message)


def _count(chunk: Chunk, checked: VerifiedPartition, unreadable: list[Problem]) -> None:
    if not len(chunk):
        return
    checked.records += len(chunk)
    checked.control += sum(read.marker is not None for read in chunk.others.values())
    checked.keys[OFFSET_COMMIT] += len(chunk.commits)
    checked.keys.update(read.key.type for read in chunk.others.values() if read.key.type is not None)
    if checked.first_offset is None:
        checked.first_offset = int(chunk.records.offsets[0])
    checked.last_offset = int(chunk.records.offsets[-1])
    first, last = int(chunk.records.timestamps.min()), int(chunk.records.timestamps.max())
    checked.first_ms = first if checked.first_ms is None else min(first, checked.first_ms)
    checked.last_ms = last if checked.last_ms is None else max(last, checked.last_ms)
    unreadable += [
        Problem(subject=f"{chunk.file}, offset {chunk.records.offsets[index]}", message=read.error)
        for index, read in chunk.others.items()
        if read.error is not None and (read.key.type in RECORD_TYPES or read.key.type is None)
    ]


def verify_logs(paths: Sequence[Path], output: OutputOptions) -> None:
    """Print what is damaged; exits with FALSE if anything is. Raises CommandError."""
    directories = [directory for path in paths for directory in partition_directories(path)]
    partitions: list[VerifiedPartition] = []
    errors: list[Problem] = []
    with Progress("checking", total=sum(map(_size, directories)), before_data=True) as progress:
        for directory in directories:
            try:
                partitions.append(_partition(directory, progress))
            except OSError as error:
                subject, why = path_text(Path(error.filename or directory)), error.strerror or error
                errors.append(Problem(subject=subject, message=f"cannot be read: {why}"))
    data = {"partitions": [_data(checked) for checked in partitions]}
    blocks = list(_blocks(partitions))
    document = Document(command="log verify", data=data, blocks=blocks, errors=tuple(errors))
    is_damaged = any(checked.problems for checked in partitions)
    emit(document, output, ExitStatus.FALSE if is_damaged else ExitStatus.DONE)


def _size(directory: Path) -> int:
    try:
        return sum(path.stat().st_size for path in directory.glob("*.log"))
    except OSError:
        return 0


def _data(checked: VerifiedPartition) -> dict[str, object]:
    return {
        **fields(checked, "directory", "segments", "batches", "records"),
        "control_records": checked.control,
        "keys": [
            {"type": number, "name": _name(number), "records": count}
            for number, count in sorted(checked.keys.items())
        ],
        **fields(checked, "first_offset", "last_offset"),
        "first_timestamp": checked.first_ms,
        "last_timestamp": checked.last_ms,
        "problems": [fields(problem, "subject", "message") for problem in checked.problems],
    }


def _name(number: int) -> str | None:
    return RECORD_TYPES[number].name if number in RECORD_TYPES else None


def _blocks(partitions: Sequence[VerifiedPartition]) -> Iterator[Block]:
    yield table_of(
        partitions,
        "DIRECTORY",
        ("##PROBLEMS", lambda checked: len(checked.problems)),
        *("#SEGMENTS", "#BATCHES", "#RECORDS", "#CONTROL", "#FIRST-OFFSET", "#LAST-OFFSET"),
        ("FIRST-TIME", lambda one: None if one.first_ms is None else format_moment(one.first_ms)),
        ("LAST-TIME", lambda one: None if one.last_ms is None else format_moment(one.last_ms)),
    )
    total = sum((checked.keys for checked in partitions), start=Counter[int]())
    if total:
        rows = [(number, _name(number) or "unknown", count) for number, count in sorted(total.items())]
        yield Table(columns=columns("#TYPE", "NAME", "#RECORDS"), rows=rows)
    problems = [problem for checked in partitions for problem in checked.problems]
    if problems:
        yield table_of(problems, ("WHERE", "subject"), ("PROBLEM", "message"))
