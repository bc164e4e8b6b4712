"""Compaction: the choice of the records that survive, the last valid one of every key. `cleaner` writes them.
A `Survey` finds the last valid record of each key; `RecordRetention` reads the log again and returns what remains:
- A record is removed if its key has a later one, if its transaction was aborted, or if it has no key.
- A tombstone stays for `delete_retention_ms` after the first compaction that finds it (KIP-534: delete horizon).
- The marker that ends a transaction stays as long as a batch of it is in the log, then as long as a tombstone.
- The last batch of an active producer, and of each output file, stays, if necessary without records.
Batches keep their offsets; a batch whose records all stay is copied byte for byte.
Source: LogCleaner (Cleaner.cleanInto, CleanedTransactionMetadata), MemoryRecords.filterTo."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coordinator.store.digest import UnfinishedTransactions
from wire.log.batch_header import CONTROL, DELETE_HORIZON, TRANSACTIONAL, Batch, Batches
from wire.log.batch_writer import rewrite_batch
from wire.log.columns import Columns, columns_of
from wire.log.control_records import ControlType, MalformedControlRecord, ending
from wire.log.errors import DamagedLog
from wire.log.log_records import records_of
from wire.log.segments import Segment
from wire.log.varints import Ints


class Survey:
    """See the module. Memory: one entry per key, producer and aborted transaction."""

    def __init__(self) -> None:
        self.last: dict[bytes, int] = {}  # the offset of the last valid record, by key
        self.last_batches: dict[int, int] = {}
        """By producer id, the base offset of its last data batch or, if it has none, of its last marker."""
        self._has_data: set[int] = set()
        self._rolled_back: dict[int, tuple[list[int], list[int]]] = {}
        self._began: dict[int, int] = {}
        self._transactions: UnfinishedTransactions[int] = UnfinishedTransactions()

    @property
    def open_from(self) -> int | None:
        """The first offset of the first open transaction."""
        return min(self._began.values(), default=None)

    def add(self, segment: Segment, *, keys: bool = True) -> None:
        """Read the next segment; without `keys` only its producers. Raises DamagedLog."""
        batches = segment.batches
        self._add_producers(batches)
        marked = np.flatnonzero(batches.headers["attributes"] & (TRANSACTIONAL | CONTROL))
        if keys and not len(marked):
            for columns in columns_of(batches):
                data, bounds = columns.data, (columns.key_start, columns.key_end, columns.offsets)
                spans = zip(*(numbers.tolist() for numbers in bounds), strict=True)
                self.last.update((data[start:end], offset) for start, end, offset in spans if end >= 0)
        elif len(marked):
            self._add_transactions(batches, keys=keys)

    def is_rolled_back(self, producer_id: int, offset: int) -> bool:
        """Whether the batch of a transaction that starts at `offset` was aborted."""
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
            records = records_of(batch, batches.data) if keys and not batch.is_control else ()
            written = {record.key: record.offset for record in records if record.key is not None}
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


Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """The remaining bytes of a segment, in pieces; `is_same`: they are unchanged."""

    pieces: Iterator[bytes]
    is_same: bool


class RecordRetention:
    """See the module. Segments must be passed in their order."""

    def __init__(
        self, survey: Survey, *, now_ms: int, delete_retention_ms: int, producer_expiration_ms: int
    ) -> None:
        self._survey = survey
        self._now_ms = now_ms
        self._horizon_ms = now_ms + delete_retention_ms
        self._forgotten_ms = now_ms - producer_expiration_ms
        self._with_batches: set[int] = set()  # producers that have a batch of their current transaction

    def retained(self, segment: Segment, *, keep_end: bool) -> Retained:
        """The remaining bytes of a segment; with `keep_end` including its last batch. Raises DamagedLog."""
        batches = segment.batches
        decisions = self._judge(batches)
        if keep_end and len(batches):
            decisions.must_stay[-1] = True
        counts: Ints = batches.headers["count"].astype(np.int64)
        gone = (decisions.kept == 0) & ~decisions.must_stay
        same = ~gone & (decisions.kept == counts) & ~decisions.needs_horizon
        return Retained(pieces=self._pieces(batches, decisions, gone, same), is_same=bool(same.all()))

    def _pieces(self, batches: Batches, decisions: _Decisions, gone: Flags, same: Flags) -> Iterator[bytes]:
        """Unchanged batches in one piece per run, every other one rewritten."""
        index = 0
        kinds = np.where(gone, 0, np.where(same, 1, 2))
        borders = np.flatnonzero(np.diff(kinds)) + 1
        for end in [*borders.tolist(), len(kinds)]:
            if index < end and kinds[index] == 1:
                yield batches.data[int(batches.positions[index]) : int(batches.ends[end - 1])]
            elif index < end and kinds[index] == 2:
                for number in range(index, end):
                    yield self._rewritten(batches, decisions, number)
            index = end

    def _rewritten(self, batches: Batches, decisions: _Decisions, index: int) -> bytes:
        batch = batches[index]
        low, high = np.searchsorted(decisions.kept_offsets, (batch.base_offset, batch.next_offset))
        kept = set(decisions.kept_offsets[low:high].tolist())
        records = [one for one in records_of(batch, batches.data) if one.offset in kept] if kept else []
        if records and not batch.log_append_time:
            batch = replace(batch, max_timestamp=max(record.timestamp for record in records))
        if decisions.needs_horizon[index]:
            batch = replace(
                batch, base_timestamp=self._horizon_ms, attributes=batch.attributes | DELETE_HORIZON
            )
        return rewrite_batch(batch, records)

    def _judge(self, batches: Batches) -> _Decisions:
        decisions = self._judge_batches(batches)
        kept_offsets = []
        for columns in columns_of(batches):
            keep = self._keeps(columns, decisions)
            decisions.kept += np.bincount(columns.batch_of[keep], minlength=len(batches))
            with_tombstones = np.unique(columns.batch_of[keep & (columns.value_end < 0)])
            decisions.needs_horizon[with_tombstones] |= decisions.without_horizon[with_tombstones]
            kept_offsets.append(columns.offsets[keep])
        if kept_offsets:
            decisions.kept_offsets = np.concatenate(kept_offsets)
        return decisions

    def _keeps(self, columns: Columns, decisions: _Decisions) -> Flags:
        last = self._survey.last
        data = columns.data
        spans = zip(
            columns.key_start.tolist(), columns.key_end.tolist(), columns.offsets.tolist(), strict=True
        )
        kept = (end >= 0 and last.get(data[start:end], -1) <= offset for start, end, offset in spans)
        keep = np.fromiter(kept, dtype=np.bool_, count=len(columns))
        keep &= (columns.value_end >= 0) | ~decisions.horizon_passed[columns.batch_of]
        keep &= ~decisions.discarded[columns.batch_of]
        keep |= decisions.marks[columns.batch_of]
        return keep

    def _judge_batches(self, batches: Batches) -> _Decisions:
        """The decisions that depend only on the headers and the transaction markers."""
        headers = batches.headers
        attributes = headers["attributes"]
        without_horizon = attributes & DELETE_HORIZON == 0
        decisions = _Decisions(
            count=len(batches),
            without_horizon=without_horizon,
            horizon_passed=~without_horizon & (headers["base_timestamp"] <= self._now_ms),
        )
        for index in np.flatnonzero(headers["producer_id"] >= 0).tolist():
            batch = batches[index]
            is_last = self._survey.last_batches.get(batch.producer_id) == batch.base_offset
            decisions.must_stay[index] = is_last and batch.max_timestamp >= self._forgotten_ms
        for index in np.flatnonzero(attributes & CONTROL | attributes & TRANSACTIONAL).tolist():
            self._judge_transaction(batches[index], batches.data, index, decisions)
        return decisions

    def _judge_transaction(self, batch: Batch, data: bytes, index: int, decisions: _Decisions) -> None:
        if not batch.is_control:
            self._with_batches.add(batch.producer_id)
            decisions.discarded[index] = self._survey.is_rolled_back(batch.producer_id, batch.base_offset)
            return
        is_needed = batch.producer_id in self._with_batches or _ending(batch, data) is None
        self._with_batches.discard(batch.producer_id)
        decisions.discarded[index] = not is_needed and bool(decisions.horizon_passed[index])
        decisions.marks[index] = not decisions.discarded[index]
        decisions.needs_horizon[index] = not is_needed and bool(decisions.without_horizon[index])


class _Decisions:
    """The decision on each batch of a segment, and the offsets of the records that stay."""

    def __init__(self, *, count: int, without_horizon: Flags, horizon_passed: Flags) -> None:
        self.without_horizon = without_horizon
        self.horizon_passed = horizon_passed
        self.must_stay: Flags = np.zeros(count, dtype=np.bool_)
        self.discarded: Flags = np.zeros(count, dtype=np.bool_)  # none of the batch's records is valid
        self.marks: Flags = np.zeros(count, dtype=np.bool_)  # whether it is a control batch that stays
        self.needs_horizon: Flags = np.zeros(count, dtype=np.bool_)
        self.kept: Ints = np.zeros(count, dtype=np.int64)
        self.kept_offsets: Ints = np.zeros(0, dtype=np.int64)
