"""Compaction: which records of a log survive, for every key the last one that counts. `cleaner` writes them.

Theory of operation. A `Survey` has gone through the log and knows which records count. `Retention` goes through it
again, in the same order, and gives back what is to be in the log afterwards:

- A record whose key has a later one goes, and so does one of a rolled back transaction, and one without a key.
- A tombstone stays for `delete_retention_ms` after the first compaction that met it: that one writes the moment into
  the batch (its delete horizon, KIP-534), a later one drops it.
- The mark that ends a transaction stays as long as a batch of it is in the log, then as long as a tombstone.
- The last batch of a producer that was heard of lately stays, without records if need be: it holds the sequence
  number and epoch by which a broker knows the producer. So does the last batch of what is written into one file: it
  holds the last offset.

Batches keep their offsets; one of which everything stays is copied byte for byte. Keys are bytes: what a record
means, and whether this program knows it, makes no difference.

Source: LogCleaner (Cleaner.cleanInto, CleanedTransactionMetadata), MemoryRecords.filterTo.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coordinator.store.transactions import Transactions
from wire.log.batch_header import CONTROL, DELETE_HORIZON, TRANSACTIONAL, Batch, Batches
from wire.log.batches import Columns, ControlType, columns_of, records_of, rewrite_batch
from wire.log.control_records import MalformedControlRecord, ending
from wire.log.errors import DamagedLog
from wire.log.segments import Segment
from wire.log.varints import Ints


class Survey:
    """See the module. Memory: one entry per key, producer and rolled back transaction."""

    def __init__(self) -> None:
        self.last: dict[bytes, int] = {}
        """By key, the offset of the last record that counts."""
        self.last_batches: dict[int, int] = {}
        """By producer id, the base offset of its last batch of data or, where it has none, of its last mark."""
        self._has_data: set[int] = set()
        self._rolled_back: dict[int, tuple[list[int], list[int]]] = {}
        self._began: dict[int, int] = {}
        self._transactions: Transactions[int] = Transactions()

    @property
    def open_from(self) -> int | None:
        """The first offset of the first transaction that has not ended."""
        return min(self._began.values(), default=None)

    def add(self, segment: Segment, *, keys: bool = True) -> None:
        """Look at the next segment; without `keys` only at its producers. :raises DamagedLog:"""
        batches = segment.batches
        self._add_producers(batches)
        marked = np.flatnonzero(batches.headers["attributes"] & (TRANSACTIONAL | CONTROL))
        if keys and not len(marked):
            for columns in columns_of(batches):
                self.last.update(_keys(columns))
        elif len(marked):
            self._add_transactions(batches, keys=keys)

    def is_rolled_back(self, producer_id: int, offset: int) -> bool:
        """Whether the batch of a transaction that begins at `offset` was taken back."""
        firsts, lasts = self._rolled_back.get(producer_id, ((), ()))
        index = bisect_right(firsts, offset) - 1
        return index >= 0 and offset <= lasts[index]

    def _add_producers(self, batches: Batches) -> None:
        headers = batches.headers
        for index in np.flatnonzero(headers["producer_id"] >= 0).tolist():
            header = headers[index]
            producer_id = int(header["producer_id"])
            if not header["attributes"] & CONTROL:
                self._has_data.add(producer_id)
            elif producer_id in self._has_data:
                continue
            self.last_batches[producer_id] = int(header["base_offset"])

    def _add_transactions(self, batches: Batches, *, keys: bool) -> None:
        for batch in batches:
            written = _batch_keys(batch, batches.data) if keys and not batch.is_control else {}
            if batch.is_control:
                self._end(batch, batches.data)
            elif not batch.is_transactional:
                self.last.update(written)
            elif batch.count:
                self._began.setdefault(batch.producer_id, batch.base_offset)
                self._transactions.write(batch.producer_id, written.items())

    def _end(self, batch: Batch, data: bytes) -> None:
        kind = _ending(batch, data)
        began = self._began.pop(batch.producer_id, None) if kind is not None else None
        if began is None:
            return
        written = self._transactions.end(batch.producer_id)
        if kind is ControlType.ABORT:
            firsts, lasts = self._rolled_back.setdefault(batch.producer_id, ([], []))
            firsts.append(began)
            lasts.append(batch.base_offset)
            return
        for key, offset in written.items():
            if self.last.get(key, -1) < offset:
                self.last[key] = offset


def _ending(batch: Batch, data: bytes) -> ControlType | None:
    try:
        return ending(batch, data)
    except MalformedControlRecord as error:
        raise DamagedLog(batch.file, batch.position, str(error)) from None


def _keys(columns: Columns) -> Iterator[tuple[bytes, int]]:
    """Keys and offsets, in order; records without a key are passed by."""
    data = columns.data
    spans = zip(columns.key_start.tolist(), columns.key_end.tolist(), columns.offsets.tolist(), strict=True)
    return ((data[start:end], offset) for start, end, offset in spans if end >= 0)


def _batch_keys(batch: Batch, data: bytes) -> dict[bytes, int]:
    return {each.key: each.offset for each in records_of(batch, data) if each.key is not None}


Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """The bytes that stay of a segment, in pieces; `is_same`: they are those that were there."""

    pieces: Iterator[bytes]
    is_same: bool


class Retention:
    """See the module. Segments are to be given in their order."""

    def __init__(
        self, survey: Survey, *, now_ms: int, delete_retention_ms: int, producer_expiration_ms: int
    ) -> None:
        self._survey = survey
        self._now_ms = now_ms
        self._horizon_ms = now_ms + delete_retention_ms
        self._forgotten_ms = now_ms - producer_expiration_ms
        self._with_batches: set[int] = set()
        """Producers of whose running transaction a batch was seen."""

    def retained(self, segment: Segment, *, keep_end: bool) -> Retained:
        """What stays of a segment; with `keep_end` its last batch is part of it. :raises DamagedLog:"""
        batches = segment.batches
        fate = self._judge(batches)
        if keep_end and len(batches):
            fate.must_stay[-1] = True
        counts: Ints = batches.headers["count"].astype(np.int64)
        gone = (fate.kept == 0) & ~fate.must_stay
        same = ~gone & (fate.kept == counts) & ~fate.needs_horizon
        return Retained(pieces=self._pieces(batches, fate, gone, same), is_same=bool(same.all()))

    def _pieces(self, batches: Batches, fate: _Fate, gone: Flags, same: Flags) -> Iterator[bytes]:
        """Runs of batches that stay as they are in one piece each, every other one rewritten."""
        index = 0
        kinds = np.where(gone, 0, np.where(same, 1, 2))
        borders = np.flatnonzero(np.diff(kinds)) + 1
        for end in [*borders.tolist(), len(kinds)]:
            if index < end and kinds[index] == 1:
                yield batches.data[int(batches.positions[index]) : int(batches.ends[end - 1])]
            elif index < end and kinds[index] == 2:
                for each in range(index, end):
                    yield self._rewritten(batches, fate, each)
            index = end

    def _rewritten(self, batches: Batches, fate: _Fate, index: int) -> bytes:
        batch = batches[index]
        low, high = np.searchsorted(fate.kept_offsets, (batch.base_offset, batch.next_offset))
        kept = set(fate.kept_offsets[low:high].tolist())
        records = [each for each in records_of(batch, batches.data) if each.offset in kept] if kept else []
        if records and not batch.log_append_time:
            batch = replace(batch, max_timestamp=max(each.timestamp for each in records))
        if fate.needs_horizon[index]:
            batch = replace(
                batch, base_timestamp=self._horizon_ms, attributes=batch.attributes | DELETE_HORIZON
            )
        return rewrite_batch(batch, records)

    def _judge(self, batches: Batches) -> _Fate:
        fate = self._judge_batches(batches)
        kept_offsets = []
        for columns in columns_of(batches):
            keep = self._keeps(columns, fate)
            fate.kept += np.bincount(columns.batch_of[keep], minlength=len(batches))
            with_tombstones = np.unique(columns.batch_of[keep & (columns.value_end < 0)])
            fate.needs_horizon[with_tombstones] |= fate.without_horizon[with_tombstones]
            kept_offsets.append(columns.offsets[keep])
        if kept_offsets:
            fate.kept_offsets = np.concatenate(kept_offsets)
        return fate

    def _keeps(self, columns: Columns, fate: _Fate) -> Flags:
        last = self._survey.last
        data = columns.data
        spans = zip(
            columns.key_start.tolist(), columns.key_end.tolist(), columns.offsets.tolist(), strict=True
        )
        keep = np.fromiter(
            (end >= 0 and last.get(data[start:end], -1) <= offset for start, end, offset in spans),
            dtype=np.bool_,
            count=len(columns),
        )
        keep &= (columns.value_end >= 0) | ~fate.horizon_passed[columns.batch_of]
        keep &= ~fate.discarded[columns.batch_of]
        keep |= fate.marks[columns.batch_of]
        return keep

    def _judge_batches(self, batches: Batches) -> _Fate:
        """What follows from the headers, and from the marks of transactions."""
        headers = batches.headers
        attributes = headers["attributes"]
        without_horizon = attributes & DELETE_HORIZON == 0
        fate = _Fate(
            count=len(batches),
            without_horizon=without_horizon,
            horizon_passed=~without_horizon & (headers["base_timestamp"] <= self._now_ms),
        )
        for index in np.flatnonzero(headers["producer_id"] >= 0).tolist():
            self._judge_producer(batches[index], index, fate)
        for index in np.flatnonzero(attributes & CONTROL | attributes & TRANSACTIONAL).tolist():
            self._judge_transaction(batches[index], batches.data, index, fate)
        return fate

    def _judge_producer(self, batch: Batch, index: int, fate: _Fate) -> None:
        is_last = self._survey.last_batches.get(batch.producer_id) == batch.base_offset
        fate.must_stay[index] = is_last and batch.max_timestamp >= self._forgotten_ms

    def _judge_transaction(self, batch: Batch, data: bytes, index: int, fate: _Fate) -> None:
        if not batch.is_control:
            self._with_batches.add(batch.producer_id)
            fate.discarded[index] = self._survey.is_rolled_back(batch.producer_id, batch.base_offset)
            return
        is_needed = batch.producer_id in self._with_batches or _ending(batch, data) is None
        self._with_batches.discard(batch.producer_id)
        fate.discarded[index] = not is_needed and bool(fate.horizon_passed[index])
        fate.marks[index] = not fate.discarded[index]
        fate.needs_horizon[index] = not is_needed and bool(fate.without_horizon[index])


class _Fate:
    """What becomes of each batch of a segment, and the offsets of the records that stay."""

    def __init__(self, *, count: int, without_horizon: Flags, horizon_passed: Flags) -> None:
        self.without_horizon = without_horizon
        self.horizon_passed = horizon_passed
        self.must_stay: Flags = np.zeros(count, dtype=np.bool_)
        self.discarded: Flags = np.zeros(count, dtype=np.bool_)
        """None of the records counts."""
        self.marks: Flags = np.zeros(count, dtype=np.bool_)
        """A control batch that stays."""
        self.needs_horizon: Flags = np.zeros(count, dtype=np.bool_)
        self.kept: Ints = np.zeros(count, dtype=np.int64)
        self.kept_offsets: Ints = np.zeros(0, dtype=np.int64)
