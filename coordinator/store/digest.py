"""The digest of a partition of `__consumer_offsets`: a shorter list of records that replays to the same state.
For each key of an offset the last value and the last tombstone are kept; all other records, whose order matters, are
kept in order. Records of a transaction take effect with its COMMIT, but at their own position in the log: of a plain
commit and a transaction's, the later one in the log wins. One effect of a lost offset remains: it created its group.
So for every group the last value of any key is kept, even if a tombstone or an ABORT came after it.
Source: CoordinatorLoaderImpl, OffsetMetadataManager.replay."""

from collections.abc import Iterable, Iterator
from enum import Enum
from operator import itemgetter
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from wire.log.batch_header import CONTROL, NO_PRODUCER_ID
from wire.log.columns import Columns
from wire.log.control_records import ControlType, MalformedControlRecord, control_type_of
from wire.log.offset_columns import LEGACY_OFFSET_COMMIT, NO_TYPE, OFFSET_COMMIT, key_types
from wire.log.varints import Ints

V = TypeVar("V")


class UnfinishedTransactions(Generic[V]):
    """The records of open transactions by producer, which has one at a time, the last value of each key. Source:
    CoordinatorLoaderImpl.processMemoryRecords."""

    def __init__(self) -> None:
        self._open: dict[int, dict[bytes, V]] = {}

    def write(self, producer_id: int, written: Iterable[tuple[bytes, V]]) -> None:
        """Add records to the producer's transaction, which is started if none is open."""
        self._open.setdefault(producer_id, {}).update(written)

    def end(self, producer_id: int) -> dict[bytes, V]:
        """End the producer's transaction, committed or aborted. Returns its records; empty if none is open."""
        return self._open.pop(producer_id, {})

    def open(self) -> Iterator[tuple[int, bytes, V]]:
        """Producer id, key and value of all records of open transactions."""
        for producer_id, written in self._open.items():
            for key, value in written.items():
                yield producer_id, key, value


Flags: TypeAlias = NDArray[np.bool_]

NOWHERE = -1  # before every position in the log

_TYPE_BYTES = 2
_PREFIXES = {number: number.to_bytes(_TYPE_BYTES) for number in (LEGACY_OFFSET_COMMIT, OFFSET_COMMIT)}


class RecordStatus(Enum):
    VALID = "plain"  # valid, including an offset of a committed transaction
    PENDING = "pending"  # an offset whose transaction is open
    LOST = "lost"  # an offset that is not valid, and the last record of its group


class RemainingRecord(NamedTuple):
    """A remaining record. `position` is its position in the log; only a pending one has a producer id."""

    position: int
    kind: RecordStatus
    key: bytes
    value: bytes | None
    producer_id: int = NO_PRODUCER_ID


_Written: TypeAlias = tuple[int, int, bytes]
"""The value of an offset: its position in the log, key type, and bytes; a tuple, as there are very many."""


class Digest:
    """See the module. Chunks must be added in the order of the log. Records, and ends of transactions, after
    `as_of_ms` are skipped."""

    def __init__(self, as_of_ms: int | None = None) -> None:
        self.records = 0  # the number of records up to that time
        self.malformed: list[tuple[int, str]] = []  # positions of malformed records, and the reasons
        self._as_of_ms = as_of_ms
        self._others: list[RemainingRecord] = []
        # By key without its type: 0 and 1 mean the same.
        self._values: dict[bytes, _Written] = {}
        self._tombstones: dict[bytes, int] = {}
        self._rolled_back: dict[bytes, _Written] = {}
        self._transactions: UnfinishedTransactions[_Written] = UnfinishedTransactions()

    def add(self, columns: Columns) -> None:
        headers = columns.batches.headers
        chosen = np.ones(len(columns), dtype=np.bool_)
        if self._as_of_ms is not None:
            chosen = columns.timestamps <= self._as_of_ms
        self.records += int(chosen.sum())
        types = key_types(np.frombuffer(columns.data, np.uint8), columns.key_start, columns.key_end)
        control = chosen & (headers["attributes"] & CONTROL != 0)[columns.batch_of]
        offsets = chosen & ~control & ((types == LEGACY_OFFSET_COMMIT) | (types == OFFSET_COMMIT))
        self._add_others(columns, types, chosen & ~control & ~offsets)
        tombstones = offsets & (columns.value_end < 0)
        pending = offsets & ~tombstones & (headers["producer_id"] != NO_PRODUCER_ID)[columns.batch_of]
        lanes = np.flatnonzero(tombstones)
        self._tombstones.update(zip(_keys(columns, lanes), columns.offsets[lanes].tolist(), strict=True))
        self._values.update(_written(columns, types, np.flatnonzero(offsets & ~tombstones & ~pending)))
        self._add_transactions(columns, types, control, np.flatnonzero(pending | control))

    def _add_others(self, columns: Columns, types: Ints, others: Flags) -> None:
        for lane in np.flatnonzero(others).tolist():
            position, key = int(columns.offsets[lane]), columns.key(lane)
            if key is None or types[lane] == NO_TYPE:
                self.malformed.append((position, "the record has no key with a type"))
            else:
                self._others.append(RemainingRecord(position, RecordStatus.VALID, key, columns.value(lane)))

    def _add_transactions(self, columns: Columns, types: Ints, control: Flags, lanes: Ints) -> None:
        """Process transactional batches, and the markers that end them."""
        batch_of = columns.batch_of[lanes]
        for of_batch in np.split(lanes, np.flatnonzero(np.diff(batch_of)) + 1):
            if not len(of_batch):
                continue
            producer_id = int(columns.batches.headers["producer_id"][columns.batch_of[of_batch[0]]])
            if not control[of_batch[0]]:
                self._transactions.write(producer_id, _written(columns, types, of_batch))
                continue
            for lane in of_batch.tolist():
                self._mark(producer_id, int(columns.offsets[lane]), columns.key(lane) or b"")

    def _mark(self, producer_id: int, position: int, key: bytes) -> None:
        try:
            kind = control_type_of(key)
        except MalformedControlRecord as error:
            self.malformed.append((position, str(error)))
            return
        if kind is ControlType.COMMIT:
            for written_key, written in self._transactions.end(producer_id).items():
                if _place(self._values.get(written_key)) < written[0]:
                    self._values[written_key] = written
        elif kind is ControlType.ABORT:
            self._rolled_back.update(self._transactions.end(producer_id))

    def events(self) -> list[RemainingRecord]:
        """The remaining records, in the order of the log."""
        events = [*self._others, *self._pending()]
        lost = list(self._rolled_back.items())
        for key, written in self._values.items():
            if written[0] > self._tombstones.get(key, NOWHERE):
                events.append(_event(key, written, RecordStatus.VALID))
            else:
                lost.append((key, written))
        for key, position in self._tombstones.items():
            if _place(self._values.get(key)) < position:
                full_key = _PREFIXES[OFFSET_COMMIT] + key
                events.append(RemainingRecord(position, RecordStatus.VALID, full_key, None))
        # The group is the first field of a key without its type; for a malformed key it does not matter.
        in_order = sorted(lost, key=lambda entry: entry[1][0])
        last = {key[2 : 2 + int.from_bytes(key[:2])]: (key, written) for key, written in in_order}
        events += (_event(key, written, RecordStatus.LOST) for key, written in last.values())
        return sorted(events, key=itemgetter(0))

    def _pending(self) -> Iterator[RemainingRecord]:
        for producer_id, key, written in self._transactions.open():
            if written[0] > self._tombstones.get(key, NOWHERE):
                yield _event(key, written, RecordStatus.PENDING, producer_id)
            else:
                yield _event(key, written, RecordStatus.LOST)


def _event(
    key: bytes, written: _Written, kind: RecordStatus, producer_id: int = NO_PRODUCER_ID
) -> RemainingRecord:
    position, key_type, value = written
    return RemainingRecord(position, kind, _PREFIXES[key_type] + key, value, producer_id)


def _place(written: _Written | None) -> int:
    return NOWHERE if written is None else written[0]


def _keys(columns: Columns, lanes: Ints) -> list[bytes]:
    data = columns.data
    starts, ends = (columns.key_start[lanes] + _TYPE_BYTES).tolist(), columns.key_end[lanes].tolist()
    return [data[start:end] for start, end in zip(starts, ends, strict=True)]


def _written(columns: Columns, types: Ints, lanes: Ints) -> Iterable[tuple[bytes, _Written]]:
    """The last value of each key, among records with a value."""
    data = columns.data
    last = dict(zip(_keys(columns, lanes), lanes.tolist(), strict=True))
    chosen = np.fromiter(last.values(), dtype=np.int64, count=len(last))
    starts, ends = columns.value_start[chosen].tolist(), columns.value_end[chosen].tolist()
    values = [data[start:end] for start, end in zip(starts, ends, strict=True)]
    positions, key_types = columns.offsets[chosen].tolist(), types[chosen].tolist()
    return zip(last, zip(positions, key_types, values, strict=True), strict=True)
