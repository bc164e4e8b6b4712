"""The index files of a segment, as a broker that appended it batch by batch would write them.

    .index       relative offset i32 · position i32
                 the last offset and the position of the first batch after every 4096 bytes
    .timeindex   timestamp i64 · relative offset i32
                 at each entry of .index and at the end: the largest timestamp so far, and the first batch with it
    .txnindex    version i16 · producer id i64 · first offset i64 · last offset i64 · last stable offset i64
                 each transaction that a marker in this segment aborts

Relative offsets count from the segment's base offset. A segment that aborts no transaction has no `.txnindex`.
Source: LogSegment.recover, OffsetIndex, TimeIndex, AbortedTxn, ProducerStateManager.
"""

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

INTERVAL_BYTES = 4096
"""`index.interval.bytes`."""

OFFSET_ENTRY = np.dtype([("offset", ">i4"), ("position", ">i4")])
TIME_ENTRY = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])
ABORTED_ENTRY = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),
        ("last_offset", ">i8"),
        ("last_stable_offset", ">i8"),
    ]
)
ABORTED_VERSION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedTransaction:
    """An aborted transaction: from its first record to its marker.

    No transaction with records before `last_stable_offset` was open once the marker was written.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def write_indexes(segment: Segment, aborted: Iterable[AbortedTransaction] = ()) -> None:
    """Write the index files of a segment, replacing existing ones.

    `aborted` are the transactions whose markers are in it (`aborted_transactions`). :raises OSError:
    """
    entries = index_entries(segment.batches)
    index_path(segment.path, OFFSET_INDEX).write_bytes(_offset_index(segment, entries))
    index_path(segment.path, TIME_INDEX).write_bytes(_time_index(segment, entries))
    transactions = np.array(
        [(ABORTED_VERSION, *astuple(transaction)) for transaction in aborted], dtype=ABORTED_ENTRY
    ).tobytes()
    if transactions:
        index_path(segment.path, TRANSACTION_INDEX).write_bytes(transactions)
    else:
        index_path(segment.path, TRANSACTION_INDEX).unlink(missing_ok=True)


def aborted_transactions(log: Iterable[Batches]) -> Iterator[list[AbortedTransaction]]:
    """The transactions aborted by a marker in each segment of a log, in order and from its start.

    :raises DamagedLog: a control batch cannot be read
    """
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


def _offset_index(segment: Segment, entries: Ints) -> bytes:
    index = np.empty(len(entries), dtype=OFFSET_ENTRY)
    index["offset"] = segment.batches.last_offsets[entries] - segment.base_offset
    index["position"] = segment.batches.positions[entries]
    return index.tobytes()


def _time_index(segment: Segment, entries: Ints) -> bytes:
    timestamps, first = time_entries(segment.batches, entries)
    index = np.empty(len(timestamps), dtype=TIME_ENTRY)
    index["timestamp"] = timestamps
    index["offset"] = segment.batches.last_offsets[first] - segment.base_offset
    return index.tobytes()
