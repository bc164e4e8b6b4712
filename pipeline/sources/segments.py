"""Segments of `__consumer_offsets` as rows, decoded by Spark's workers. The bytes that each task reads are computed
before the first record is read. A task processes its parts some megabytes at a time (`wire.log.blocks`), and each of
these some ten thousand records at a time (`pipeline.decode`), so its memory does not depend on its input. All tasks
have about the same size, whether a log is one huge file or a thousand small ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from uuid import UUID

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from pipeline.decode.raw import RawRecords, raw_records
from pipeline.decode.records import LogReader, decode, quarantined_row, rows_to_arrow, topic_names
from pipeline.sources.files import ListedSegment, Listing, list_segments, read_index
from pipeline.sources.filesystem import absolute, hadoop_options, opened
from pipeline.sources.names import NAMES_BY_ID, collect_names, directory_names, is_whole
from pipeline.sources.splits import Split, cuts, packed
from pipeline.tables.schemas import LONG, table
from pipeline.tasks import collected, cores, numbers
from wire.log.blocks import Damage, blocks_of, columns_of_block
from wire.log.columns import Columns

SPLIT_BYTES = 64 << 20
_LEAST_SPLIT_BYTES = 8 << 20
_TASKS_PER_CORE = 3
_CUT = table(("segment", LONG, False), ("position", LONG, False))


def reading(
    spark: SparkSession | None,
    paths: Sequence[str],
    *,
    names: Mapping[str, str] | None = None,
    split_bytes: int = SPLIT_BYTES,
    after: Mapping[int, int] | None = None,
) -> LogReader:
    """Read the segments at `paths`: log directories, directories of partitions, files; in this process if there is no
    session. `names` of topics by id add to the logs'. Files are split at batches, at most about `split_bytes` apart.
    `after`: the first offset to read, by partition. Raises FileNotFoundError: a path does not exist. Raises OSError.
    Raises ValueError: an id is invalid."""
    options = hadoop_options(spark)
    listing = list_segments(paths, options)
    segments = wanted(listing, after or {})
    task_bytes = -(-sum(segment.size for segment in segments) // (_TASKS_PER_CORE * cores(spark)))
    split_bytes = min(max(task_bytes, _LEAST_SPLIT_BYTES), split_bytes)
    tasks = packed(_splits(spark, segments, split_bytes, options), split_bytes)
    named_topics = topic_names(names or {})
    from_directories = directory_names([absolute(path) for path in paths], options)
    known = {**from_directories.names, **named_topics}
    if not is_whole(from_directories):
        known = _collected_names(spark, segments, tasks, options) | known
    not_segments = [
        quarantined_row(source=one.source, partition=one.partition, file=one.path, reason=one.reason)
        for one in listing.not_segments
    ]

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _numbers(batches):
            if number == len(tasks):
                yield rows_to_arrow(not_segments)
                continue
            for split in tasks[number]:
                yield from _read(segments[split.segment], split, known, options)

    return LogReader(tasks=numbers(spark, len(tasks) + bool(not_segments)), read=read)


def _numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column("id").to_pylist()


def wanted(listing: Listing, after: Mapping[int, int]) -> list[ListedSegment]:
    """Segments with records after the existing offsets: a segment ends where the next one starts."""
    segments = []
    following: dict[str, int] = {}
    for segment in reversed(listing.segments):
        there = after.get(segment.partition)
        end = following.get(segment.source)
        if segment.size and (there is None or end is None or end > there):
            segments.append(segment)
        following[segment.source] = segment.base_offset
    return segments[::-1]


def _splits(
    spark: SparkSession | None,
    segments: Sequence[ListedSegment],
    split_bytes: int,
    options: Mapping[str, str],
) -> list[Split]:
    """All bytes of the segments, in order; large segments are split."""
    large = [number for number, segment in enumerate(segments) if segment.size > split_bytes * 3 // 2]

    def find(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _numbers(batches):
            segment = segments[large[number]]
            system, inside = opened(segment.path, options)
            with system.open_input_file(inside) as file:
                index = read_index(segment, options)
                positions = cuts(file, segment.size, index, segment.base_offset, split_bytes)
            found = {"segment": [large[number]] * len(positions), "position": positions}
            yield pa.RecordBatch.from_pydict(found, schema=to_arrow_schema(_CUT))

    places: dict[int, list[int]] = {}
    if large:
        for number, position in collected(numbers(spark, len(large)), find, _CUT):
            places.setdefault(number, []).append(position)
    splits = []
    for number, segment in enumerate(segments):
        bounds = [0, *sorted(places.get(number, ())), segment.size]
        splits += [Split(segment=number, start=start, end=end) for start, end in pairwise(bounds)]
    return splits


def _collected_names(
    spark: SparkSession | None,
    segments: Sequence[ListedSegment],
    tasks: Sequence[Sequence[Split]],
    options: Mapping[str, str],
) -> dict[UUID, str]:
    def listen(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in _numbers(batches):
            for split in tasks[number]:
                chunks = _found(segments[split.segment], split, options)
                yield from collect_names(chunk for chunk in chunks if isinstance(chunk, RawRecords))

    return topic_names(
        {name[0]: name[1] for name in collected(numbers(spark, len(tasks)), listen, NAMES_BY_ID)}
    )


def _read(
    segment: ListedSegment, split: Split, names: Mapping[UUID, str], options: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    where = {"source": segment.source, "partition": segment.partition, "file": segment.path}
    for chunk in _found(segment, split, options):
        if isinstance(chunk, Damage):
            yield rows_to_arrow([quarantined_row(**where, position=chunk.position, reason=chunk.reason)])
        else:
            yield from decode(chunk, names)


def _found(segment: ListedSegment, split: Split, options: Mapping[str, str]) -> Iterator[RawRecords | Damage]:
    """The records of a split, some ten thousand at a time, and the damage in it."""
    for chunk in _columns_of_split(segment, split, options):
        if isinstance(chunk, Damage):
            yield chunk
        else:
            yield from raw_records(*chunk, segment.source, segment.partition, segment.path)


def _columns_of_split(
    segment: ListedSegment, split: Split, options: Mapping[str, str]
) -> Iterator[tuple[Columns, int] | Damage]:
    """The records of a split, with the byte of the file from which the positions of their batches count."""
    try:
        system, inside = opened(segment.path, options)
        bounds = {"start": split.start, "end": split.end, "size": segment.size}
        with system.open_input_file(inside) as file:
            for chunk in blocks_of(file, segment.path, **bounds, base_offset=segment.base_offset):
                if isinstance(chunk, Damage):
                    yield chunk
                else:
                    for columns in columns_of_block(chunk):
                        yield columns if isinstance(columns, Damage) else (columns, chunk.base)
    except OSError as error:
        if error.errno is None:
            raise  # the file is not the cause: the store may answer when the task is retried
        yield Damage(position=split.start, reason=f"cannot be read: {error}")
