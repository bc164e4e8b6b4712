"""Records before decoding: keys and values as Arrow arrays, with the fields of their batches. Also converts Kafka's
timestamps, ms in 64 bits, to the tables' timestamps in µs, which have a smaller range, and cuts slices of Arrow's
binary arrays, without copying each of them in Python."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wire.log.batch_header import CONTROL, NO_PRODUCER_ID
from wire.log.columns import Columns
from wire.log.timestamps import US_PER_MS, is_in_range
from wire.log.varints import Ints, Octets

MOST_RECORDS = 1 << 16  # the number of records decoded at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawRecords:
    """Some records of one partition, in the order of the log: element i of each array is of record i. `timestamps`
    are ms since 1970; `positions` are of the records' batches in the file, None without a file; a producer id is -1
    if there is none. `keys` and `values` are binary arrays or null."""

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


def raw_records(columns: Columns, base: int, source: str, partition: int, file: str) -> Iterator[RawRecords]:
    """A segment's records, some ten thousand at a time. `base`: the position in the file of `columns.batches`."""
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


MS_PER_DAY = 86_400_000


def day_of(time_ms: int) -> int:
    """The UTC date, in days since 1970."""
    return time_ms // MS_PER_DAY


def timestamps(times_ms: Ints, *, unset: int | None = None) -> pa.Array:
    """Times as an Arrow array of UTC timestamps; null if `timestamp_us` returns None."""
    out_of_range = ~is_in_range(times_ms)
    if unset is not None:
        out_of_range |= times_ms == unset
    if out_of_range.any():
        times_ms = np.where(out_of_range, 0, times_ms)
    return pa.array(times_ms * US_PER_MS, mask=out_of_range).cast(pa.timestamp("us", tz="UTC"))


def days(times_ms: Ints) -> pa.Array:
    """The UTC dates of timestamps in range."""
    return pa.array((times_ms // MS_PER_DAY).astype(np.int32)).cast(pa.date32())


def bounds_of(array: pa.Array) -> tuple[Octets, Ints, Ints]:
    """The bytes of a binary array, and the start and end of each element in them; null is empty."""
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    octets = np.frombuffer(data if data is not None else b"", dtype=np.uint8)
    return octets, bounds[:-1], bounds[1:]


def slices(data: pa.Buffer, *bounds: tuple[Ints, Ints]) -> list[pa.Array]:
    """Slices of some bytes as binary arrays, one for each pair of starts and ends, copied once; an end of -1 is
    null. They must follow each other in a lane, and those of the lane before, without overlaps."""
    count, parts = len(bounds[0][0]), 2 * len(bounds)
    if not count:
        return [pa.array([], pa.binary()) for _ in bounds]
    # The slices and the bytes between them are elements of one array over the same bytes.
    all_bounds = np.empty((count, parts), dtype=np.int32)
    for number, (starts, ends) in enumerate(bounds):
        all_bounds[:, 2 * number], all_bounds[:, 2 * number + 1] = starts, np.maximum(ends, starts)
    pieces = pa.Array.from_buffers(pa.binary(), parts * count - 1, [None, pa.py_buffer(all_bounds), data])
    lanes = np.arange(count, dtype=np.int64) * parts
    ends_of = enumerate(ends for _, ends in bounds)
    return [pieces.take(pa.array(lanes + 2 * number, mask=ends < 0)) for number, ends in ends_of]
