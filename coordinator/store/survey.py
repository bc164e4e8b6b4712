"""What compaction must know of a whole log before it judges the first record: which records of it count.

The last record of each key counts, of a transaction's those of one that was committed, each at its own place in the
log. Transactions that were rolled back are remembered by their offsets, and from the first one on that has not ended
nothing may be compacted: nobody knows yet what counts. Source: LogCleaner (Cleaner.buildOffsetMap).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from coordinator.store.transactions import Transactions
from wire.log.batch_header import CONTROL, TRANSACTIONAL, Batch, Batches
from wire.log.batches import Columns, ControlType, columns_of, control_type, records_of
from wire.log.control_records import MalformedControlRecord
from wire.log.damage import DamagedLog
from wire.log.segments import Segment

_ENDS = (ControlType.COMMIT, ControlType.ABORT)


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
        kind = ending(batch, data)
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


def ending(batch: Batch, data: bytes) -> ControlType | None:
    """How a control batch ends a transaction, if it does; an empty one (its mark is gone) does not.

    :raises DamagedLog:
    """
    records = records_of(batch, data)
    try:
        kind = control_type(records[0]) if records else None
    except MalformedControlRecord as error:
        raise DamagedLog(batch.file, batch.position, str(error)) from None
    return kind if kind in _ENDS else None


def _keys(columns: Columns) -> Iterator[tuple[bytes, int]]:
    """Keys and offsets, in order; records without a key are passed by."""
    data = columns.data
    spans = zip(columns.key_start.tolist(), columns.key_end.tolist(), columns.offsets.tolist(), strict=True)
    return ((data[start:end], offset) for start, end, offset in spans if end >= 0)


def _batch_keys(batch: Batch, data: bytes) -> dict[bytes, int]:
    return {each.key: each.offset for each in records_of(batch, data) if each.key is not None}
