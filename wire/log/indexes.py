"""The index files of a segment, as of a broker that appended it batch by batch. `.index`: the last offset and the
position of the first batch after every 4096 bytes; `.timeindex`: at each of them and at the end the largest
timestamp so far, and the first batch with it; `.txnindex`: each transaction that a marker in this segment aborts.
Offsets in the first two count from the base offset. Source: LogSegment.recover, OffsetIndex, TimeIndex,
AbortedTxn."""

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from wire.log.batch_header import CONTROL, NO_TIMESTAMP, TRANSACTIONAL, Batch, Batches
from wire.log.control_records import ControlType, MalformedControlRecord, ending
from wire.log.segments import Segment
from wire.log.varints import Ints

OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
INDEX_SUFFIXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

INTERVAL_BYTES = 4096  # `index.interval.bytes`

OFFSET_ENTRY = np.dtype([("offset", ">i4"), ("position", ">i4")])
TIME_ENTRY = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])
_OF_ABORTED = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
ABORTED_ENTRY = np.dtype([("version", ">i2"), *((name, ">i8") for name in _OF_ABORTED)])
ABORTED_VERSION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedTransaction:
    """From the first record to the marker; none with records before `last_stable_offset` was open then."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def write_indexes(segment: Segment, aborted: Iterable[AbortedTransaction] = ()) -> None:
    """Write the index files of a segment; `aborted`: the transactions with markers in it. Raises OSError."""
    batches = segment.batches
    entries = index_entries(batches)
    index = np.empty(len(entries), dtype=OFFSET_ENTRY)
    index["offset"] = batches.last_offsets[entries] - segment.base_offset
    index["position"] = batches.positions[entries]
    index_path(segment.path, OFFSET_INDEX).write_bytes(index.tobytes())
    timestamps, first = time_entries(batches, entries)
    index = np.empty(len(timestamps), dtype=TIME_ENTRY)
    index["timestamp"] = timestamps
    index["offset"] = batches.last_offsets[first] - segment.base_offset
    index_path(segment.path, TIME_INDEX).write_bytes(index.tobytes())
    rows = [(ABORTED_VERSION, *astuple(transaction)) for transaction in aborted]
    transactions = np.array(rows, dtype=ABORTED_ENTRY).tobytes()
    if transactions:
        index_path(segment.path, TRANSACTION_INDEX).write_bytes(transactions)
    else:
        index_path(segment.path, TRANSACTION_INDEX).unlink(missing_ok=True)


def aborted_transactions(log: Iterable[Batches]) -> Iterator[list[AbortedTransaction]]:
    """The transactions aborted by a marker in each segment of a whole log, in order. Raises DamagedLog."""
    started: dict[int, int] = {}
    for batches in log:
        marked = np.flatnonzero(batches.headers["attributes"] & (TRANSACTIONAL | CONTROL))
        ended = (_follow(batches[index], batches.data, started) for index in marked.tolist())
        yield [transaction for transaction in ended if transaction is not None]


def _follow(batch: Batch, data: bytes, started: dict[int, int]) -> AbortedTransaction | None:
    """Update `started`, the first offset of each open transaction by producer id, with `batch`."""
    if not batch.is_control:
        started.setdefault(batch.producer_id, batch.base_offset)
        return None
    try:
        kind = ending(batch, data)
    except MalformedControlRecord:
        return None
    if kind is None:
        return None
    first_offset = started.pop(batch.producer_id, None)
    if first_offset is None or kind is not ControlType.ABORT:
        return None
    return AbortedTransaction(
        producer_id=batch.producer_id,
        first_offset=first_offset,
        last_offset=batch.base_offset,
        last_stable_offset=min(started.values(), default=batch.base_offset + 1),
    )


def index_path(log: Path, suffix: str) -> Path:
    """The path of an index next to the segment, with the same ending after `.log` (`.cleaned`, `.swap`)."""
    stem, _, rest = log.name.partition(".log")
    return log.with_name(f"{stem}{suffix}{rest}")


def index_entries(batches: Batches) -> Ints:
    """The batches that the offset index of a segment points to."""
    positions = batches.positions
    entries: list[int] = []
    last = 0
    while (index := int(np.searchsorted(positions, last + INTERVAL_BYTES, side="right"))) < len(positions):
        entries.append(index)
        last = int(positions[index])
    return np.array(entries, dtype=np.int64)


def time_entries(batches: Batches, entries: Ints) -> tuple[Ints, Ints]:
    """The largest timestamps up to these batches and up to the last one, ascending; and the first batch with each."""
    if not len(batches):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    largest = np.maximum.accumulate(batches.headers["max_timestamp"].astype(np.int64))
    # The batch in which the largest timestamp so far occurs first.
    first = np.searchsorted(largest, largest, side="left")
    points = np.append(entries, len(batches) - 1)
    timestamps = largest[points]
    rising = timestamps > np.concatenate(([NO_TIMESTAMP], np.maximum(timestamps[:-1], NO_TIMESTAMP)))
    return timestamps[rising], first[points][rising]
