"""Records before decoding: keys and values as Arrow arrays, with the fields of their batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.decode.arrow import slices
from wire.log.batch_header import CONTROL, NO_PRODUCER_ID
from wire.log.columns import Columns
from wire.log.varints import Ints

MOST_RECORDS = 1 << 16
"""The number of records decoded at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawRecords:
    """Some records of one partition, in the order of the log: element i of each array is of record i.

    `timestamps` are ms since 1970; `positions` are the first bytes of the records' batches in the file, None without
    a file; a producer id is -1 if there is none. `keys` and `values` are binary arrays or null.
    """

    source: str
    partition: int
    file: str | None
    offsets: Ints
    timestamps: Ints
    positions: Ints | None
    producer_ids: Ints
    control: NDArray[np.bool_]
    keys: pa.Array
    values: pa.Array

    def __len__(self) -> int:
        return len(self.offsets)


def raw_records(
    columns: Columns, *, source: str, partition: int, file: str, base: int
) -> Iterator[RawRecords]:
    """A segment's records, some ten thousand at a time.

    `base` is the position in the file of the bytes of `columns.batches`.
    """
    headers = columns.batches.headers
    places = columns.batches.positions + base
    control = headers["attributes"] & CONTROL != 0
    producer_ids = headers["producer_id"].astype(np.int64)
    for start in range(0, len(columns), MOST_RECORDS):
        part = slice(start, start + MOST_RECORDS)
        batch_of = columns.batch_of[part]
        keys, values = slices(
            pa.py_buffer(columns.data),
            (columns.key_start[part], columns.key_end[part]),
            (columns.value_start[part], columns.value_end[part]),
        )
        yield RawRecords(
            source=source,
            partition=partition,
            file=file,
            offsets=columns.offsets[part],
            timestamps=columns.timestamps[part],
            positions=places[batch_of],
            producer_ids=producer_ids[batch_of],
            control=control[batch_of],
            keys=keys,
            values=values,
        )


def plain_records(batch: pa.RecordBatch, *, source: str, partition: int) -> RawRecords:
    """Records of one partition without batches: `offset`, `timestamp` in ms, `key`, `value`."""
    count = batch.num_rows
    return RawRecords(
        source=source,
        partition=partition,
        file=None,
        offsets=batch.column("offset").to_numpy(zero_copy_only=False).astype(np.int64),
        timestamps=batch.column("timestamp").to_numpy(zero_copy_only=False).astype(np.int64),
        positions=None,
        producer_ids=np.full(count, NO_PRODUCER_ID, dtype=np.int64),
        control=np.zeros(count, dtype=bool),
        keys=batch.column("key").cast(pa.binary()),
        values=batch.column("value").cast(pa.binary()),
    )
