"""Segments of `__consumer_offsets` as rows, decoded where Spark's workers are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import pyarrow as pa

from coordinator.storage.damage import DamagedLog
from coordinator.storage.salvage import parts_of, readable_columns
from pipeline.decode.raw import raw_records
from pipeline.decode.records import decode, quarantined_row, rows_to_arrow, topic_names
from pipeline.decode.schema import DECODED
from pipeline.sources.files import SegmentFile, list_segments
from pipeline.sources.filesystem import opened
from pipeline.sources.names import names_beside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SPLIT_BYTES = 64 << 20


def decoded(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    names: Mapping[str, str] | None = None,
    split_bytes: int = SPLIT_BYTES,
) -> DataFrame:
    """A row of `DECODED` per record in the segments at `paths`, and per thing that cannot be read.

    `names`: of topics by id, on top of what the logs tell. Files are split at batches, about every `split_bytes`.

    :raises FileNotFoundError: a path is not there
    :raises OSError: it cannot be listed
    :raises ValueError: an id in `names` is none
    """
    options = _hadoop_options(spark)
    listing = list_segments(paths, options)
    known = topic_names(names_beside(paths) | dict(names or {}))
    segments = listing.segments
    foreign = [
        quarantined_row(
            source=each.source, partition=each.partition, file=each.path, position=None, reason=each.reason
        )
        for each in listing.foreign
    ]

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                if number == len(segments):
                    yield rows_to_arrow(foreign)
                else:
                    yield from _read(segments[number], known, options)

    tasks = len(segments) + bool(foreign)
    return spark.range(0, tasks, 1, max(tasks, 1)).mapInArrow(read, DECODED)


def _read(
    segment: SegmentFile, names: Mapping[UUID, str], options: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    system, inside = opened(segment.path, options)
    with system.open_input_file(inside) as file:
        data = file.read()
    for part in parts_of(data, segment.path):
        for columns in readable_columns(part.batches):
            if isinstance(columns, DamagedLog):
                yield rows_to_arrow([_damaged(segment, columns.position, columns.reason)])
            elif len(columns):
                raw = raw_records(
                    columns, source=segment.source, partition=segment.partition, file=segment.path, base=0
                )
                yield from decode(raw, names)
        if part.fault is not None:
            yield rows_to_arrow([_damaged(segment, part.fault.position, part.fault.reason)])


def _damaged(segment: SegmentFile, position: int, reason: str) -> dict[str, object]:
    return quarantined_row(
        source=segment.source,
        partition=segment.partition,
        file=segment.path,
        position=position,
        reason=reason,
    )


def _hadoop_options(spark: SparkSession) -> dict[str, str]:
    """What is set for Hadoop's file systems in this session."""
    prefix = "spark.hadoop."
    return {
        name.removeprefix(prefix): value
        for name, value in spark.sparkContext.getConf().getAll()
        if name.startswith(prefix)
    }
