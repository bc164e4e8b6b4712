"""Logs decoded without Spark, for what works on Arrow's batches alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from pipeline.decode.raw import raw_records
from pipeline.decode.records import decode
from wire.log.batches import columns_of
from wire.log.segments import list_segments, read_segment


def decoded_batches(directory: Path) -> Iterator[pa.RecordBatch]:
    """Batches of `DECODED` of a partition's directory, whose name ends with the partition."""
    partition = int(directory.name.rpartition("-")[2])
    for path in list_segments(directory):
        for columns in columns_of(read_segment(path).batches):
            if len(columns):
                for raw in raw_records(
                    columns, source=directory.name, partition=partition, file=str(path), base=0
                ):
                    yield from decode(raw, {})
