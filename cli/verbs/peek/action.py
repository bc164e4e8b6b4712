"""Show the records around a group's committed offset, or write one of them to files."""

from pathlib import Path

from cli.errors import CommandError, UsageError
from cli.options import OutputOptions, SourceOptions
from cli.output import STDOUT, emit, notice, write_out
from cli.selection import opened
from cli.sources.permissions import ending
from cli.verbs.peek.options import PeekOptions
from cli.verbs.peek.reading import PeekedRecords, read_records
from cli.verbs.peek.view import peek_document
from groups.counts import counted
from groups.model import TopicPartition, partition_name
from groups.offsets.model import split_scopes


def show_records(
    group: str, place: str, options: PeekOptions, source: SourceOptions, output: OutputOptions
) -> None:
    """Show what `PeekOptions` select. UsageError for a place that is no partition, and for several raw records."""
    if options.files and options.records + options.back > 1:
        raise UsageError("--raw and --raw-key write one record: leave out --records and --back")
    partition = _partition(place)
    with opened(source) as cluster:
        peeked = read_records(cluster, group, partition, options)
    if options.files:
        _write(peeked, options.files)
    else:
        emit(peek_document(peeked), output)


def _partition(text: str) -> TopicPartition:
    try:
        scopes = split_scopes(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if len(scopes) != 1 or len(scopes[0].partitions or ()) != 1:
        raise UsageError(f"{text!r} is not one partition, such as orders:0")
    (number,) = scopes[0].partitions or ()
    return scopes[0].topic, number


def _write(peeked: PeekedRecords, files: dict[str, Path]) -> None:
    """Write the key or the value of the only record. Raises CommandError: there is none, or a file is not written."""
    if peeked.problems:
        raise ending(peeked.problems[0])
    if not peeked.records:
        raise CommandError(next(peeked.remarks()))
    stored = peeked.records[0]
    record = stored.record
    where = f"{partition_name(peeked.partition)} at {record.offset}"
    for part, file in files.items():
        data: bytes | None = getattr(record, part)
        if data is None:
            raise CommandError(f"{where}: the record has no {part}, so {file} was not written")
        if part == "value" and len(data) < stored.value_size:
            size = counted(stored.value_size, "byte")
            topic, number = peeked.partition
            raise CommandError(
                f"{where}: the value has {size}, more than are read at once, so {file} was not written; "
                f"`kafka-console-consumer.sh` with `--topic {topic} --partition {number} --offset {record.offset} "
                "--max-messages 1` and KAFKA_HEAP_OPTS=-Xmx4g prints it"
            )
        _write_bytes(file, data)
        notice(f"{where}: {part} written to {file}, {counted(len(data), 'byte')}")


def _write_bytes(file: Path, data: bytes) -> None:
    if file == STDOUT:
        write_out(lambda stream: stream.buffer.write(data))
        return
    try:
        file.write_bytes(data)
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None
