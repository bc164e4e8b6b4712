"""Checks that the index files of a segment match it. A broker trusts them unless it stopped uncleanly. Where an
entry falls depends on whether batches were appended one at a time or together, so only what it leads to is checked.
After the entries there may be zeros: space that a broker reserved. Source: OffsetIndex, TimeIndex,
TransactionIndex, DumpLogSegments."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wire.files import read_regular
from wire.log import indexes
from wire.log.batch_header import Batches
from wire.log.errors import DamagedLog
from wire.log.varints import Ints


def check_indexes(segment: Path, base_offset: int, batches: Batches) -> Iterator[DamagedLog]:
    """The first fault of each index file of a whole segment; a missing one has none. Raises OSError."""
    checks = (
        (indexes.OFFSET_INDEX, indexes.OFFSET_ENTRY, _offset_index),
        (indexes.TIME_INDEX, indexes.TIME_ENTRY, _time_index),
        (indexes.TRANSACTION_INDEX, indexes.ABORTED_ENTRY, _transaction_index),
    )
    for suffix, entry, check in checks:
        path = indexes.index_path(segment, suffix)
        try:
            data = read_regular(path)
        except FileNotFoundError:
            continue
        if len(data) % entry.itemsize:
            reason = f"{len(data)} bytes are not a whole number of entries of {entry.itemsize}"
            yield DamagedLog(path, len(data) - len(data) % entry.itemsize, reason)
            continue
        entries = _used(np.frombuffer(data, dtype=entry))
        fault = check(entries, base_offset, batches) if len(entries) else None
        if fault is not None:
            index, reason = fault
            yield DamagedLog(path, index * entry.itemsize, reason)


def _used(entries: NDArray[np.void]) -> NDArray[np.void]:
    """The entries without the zeros at the end."""
    octets = entries.view(np.uint8).reshape(-1, entries.itemsize)
    filled = np.flatnonzero(octets.any(axis=1))
    return entries[: int(filled[-1]) + 1] if len(filled) else entries[:0]


Fault = tuple[int, str] | None  # the place of the first wrong entry, and why it is wrong


def _offset_index(entries: NDArray[np.void], base_offset: int, batches: Batches) -> Fault:
    offsets: Ints = entries["offset"].astype(np.int64) + base_offset
    positions: Ints = entries["position"].astype(np.int64)
    at = np.searchsorted(batches.positions, positions)
    nearest = np.minimum(at, max(len(batches) - 1, 0))
    begins = (at < len(batches)) & (_select(batches.positions, nearest) == positions)
    bases: Ints = _select(batches.headers["base_offset"].astype(np.int64), nearest)
    last = int(batches.last_offsets[-1]) if len(batches) else base_offset - 1
    return _first(
        (~begins, lambda i: f"no batch begins at position {positions[i]}"),
        (begins & (offsets < bases), lambda i: f"offset {offsets[i]} is before the batch at {positions[i]}"),
        (offsets > last, lambda i: f"offset {offsets[i]} is after the last one, {last}"),
        (_not_above(offsets), lambda i: f"offset {offsets[i]} is not above the one before"),
        (_not_above(positions), lambda i: f"position {positions[i]} is not above the one before"),
    )


def _time_index(entries: NDArray[np.void], base_offset: int, batches: Batches) -> Fault:
    offsets: Ints = entries["offset"].astype(np.int64) + base_offset
    times: Ints = entries["timestamp"].astype(np.int64)
    at = np.searchsorted(batches.last_offsets, offsets)
    nearest = np.minimum(at, max(len(batches) - 1, 0))
    bases: Ints = _select(batches.headers["base_offset"].astype(np.int64), nearest)
    exists = (at < len(batches)) & (bases <= offsets)
    latest: Ints = _select(batches.headers["max_timestamp"].astype(np.int64), nearest)
    return _first(
        (~exists, lambda i: f"offset {offsets[i]} is in no batch"),
        (
            exists & (latest != times),
            lambda i: f"the batch with offset {offsets[i]} has the timestamp {latest[i]}, not {times[i]}",
        ),
        (_not_above(times), lambda i: f"timestamp {times[i]} is not above the one before"),
        (_not_above(offsets), lambda i: f"offset {offsets[i]} is not above the one before"),
    )


def _transaction_index(entries: NDArray[np.void], base_offset: int, batches: Batches) -> Fault:
    first: Ints = entries["first_offset"].astype(np.int64)
    last: Ints = entries["last_offset"].astype(np.int64)
    versions = entries["version"]
    end = int(batches.last_offsets[-1]) if len(batches) else base_offset - 1
    return _first(
        (
            versions != indexes.ABORTED_VERSION,
            lambda i: f"version {versions[i]}; {indexes.ABORTED_VERSION} is known",
        ),
        (first > last, lambda i: f"a transaction from offset {first[i]} to {last[i]}"),
        ((last < base_offset) | (last > end), lambda i: f"offset {last[i]} is not in the segment"),
        (_not_above(last), lambda i: f"offset {last[i]} is not above the one before"),
    )


def _select(values: Ints, places: Ints) -> Ints:
    """The values at these places; zeros where there are no values."""
    return values[places] if len(values) else np.zeros(len(places), dtype=np.int64)


def _not_above(values: Ints) -> NDArray[np.bool_]:
    return np.concatenate(([False], values[1:] <= values[:-1]))


def _first(*checks: tuple[NDArray[np.bool_], Callable[[int], str]]) -> Fault:
    """The fault of the earliest entry of all checks."""
    faults = [(int(np.argmax(wrong)), say) for wrong, say in checks if wrong.any()]
    if not faults:
        return None
    index, say = min(faults, key=lambda fault: fault[0])
    return index, say(index)
