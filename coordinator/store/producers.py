"""The producers of one partition: idempotence, open transactions, and the limit of read_committed reads.

    duplicate = producers.check(batch)      before a batch is appended; RequestRefused: it cannot be appended
    producers.append(batch)                 after it has got its offsets
    producers.end(...)                      for the marker that ends a transaction
    producers.load(batches)                 instead, for the batches of a log that is opened

Theory of operation. A producer numbers its records per partition; its last five batches are remembered, so that a
repeated batch is answered with its offset and not appended again. A transactional batch opens a transaction, unless
one is open; a control batch ends it. The last stable offset is the first offset of the oldest open transaction. All
this is derived from the log: a broker's `.snapshot` file is not written, as the headers of a log are read anyway when
it is opened.

Source: ProducerStateManager, ProducerAppendInfo, ProducerStateEntry; KIP-98, KIP-360, KIP-890.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from coordinator.errors import RequestRefused
from wire.errors import ErrorCode
from wire.log import batch_header as header
from wire.log.columns import columns_of
from wire.log.control_records import ControlType, MalformedControlRecord, control_type_of, coordinator_epoch
from wire.log.indexes import AbortedTransaction
from wire.log.varints import Ints

REMEMBERED_BATCHES = 5  # the maximum that a client has in flight (`max.in.flight.requests.per.connection`)
NO_COORDINATOR_EPOCH = -1


class ProducerBatch(NamedTuple):
    """A producer's batch in the log. `timestamp` is its largest, ms since 1970."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


class EndTransactionMarker(NamedTuple):
    """A transaction marker. `coordinator_epoch` is the transaction coordinator's."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int = 0


@dataclass(slots=True, kw_only=True)
class Producer:
    """The state of one producer. `transaction_from` is the first offset of its open transaction."""

    epoch: int = header.NO_PRODUCER_EPOCH
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    last_timestamp: int = header.NO_TIMESTAMP
    transaction_from: int | None = None
    batches: deque[ProducerBatch] = field(default_factory=lambda: deque(maxlen=REMEMBERED_BATCHES))

    @property
    def last_sequence(self) -> int:
        """The number of its last record at this epoch; -1 if there is none."""
        return self.batches[-1].last_sequence if self.batches else header.NO_SEQUENCE

    def enter(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.batches.clear()
            self.epoch = epoch


class Producers:
    def __init__(self) -> None:
        self._by_id: dict[int, Producer] = {}
        self._open: dict[int, int] = {}  # first offsets of open transactions by producer id, in order
        self._aborted: list[AbortedTransaction] = []  # in the order of their markers

    def check(self, batch: header.Batch) -> ProducerBatch | None:
        """Check a client's batch. Returns the appended batch if it was already appended, otherwise None. Raises
        RequestRefused: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE."""
        producer = self._by_id.get(batch.producer_id)
        if producer is None:
            return None  # a producer whose records were deleted may continue with any number
        if batch.producer_epoch == producer.epoch:
            for one in producer.batches:
                if (one.first_sequence, one.last_sequence) == (batch.base_sequence, batch.last_sequence):
                    return one
        _check_epoch(producer, batch.producer_epoch)
        continues = batch.producer_epoch == producer.epoch
        if batch.base_sequence != ((producer.last_sequence + 1) & 0x7FFFFFFF if continues else 0):
            raise RequestRefused(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
        if producer.transaction_from is not None and not batch.is_transactional:
            raise RequestRefused(ErrorCode.INVALID_TXN_STATE)
        return None

    def append(self, batch: header.Batch) -> None:
        """Record an appended data batch of a producer, with its offsets."""
        producer = self._by_id.setdefault(batch.producer_id, Producer())
        producer.enter(batch.producer_epoch)
        sequences, offsets = (
            (batch.base_sequence, batch.last_sequence),
            (batch.base_offset, batch.last_offset),
        )
        producer.batches.append(ProducerBatch(*sequences, *offsets, batch.max_timestamp))
        producer.last_timestamp = batch.max_timestamp
        if batch.is_transactional and producer.transaction_from is None:
            producer.transaction_from = self._open[batch.producer_id] = batch.base_offset

    def check_end(self, end: EndTransactionMarker) -> None:
        """Check a marker. Raises RequestRefused: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED."""
        producer = self._by_id.get(end.producer_id)
        if producer is not None:
            _check_epoch(producer, end.producer_epoch)
            if end.coordinator_epoch < producer.coordinator_epoch:
                raise RequestRefused(ErrorCode.TRANSACTION_COORDINATOR_FENCED)

    def end(self, end: EndTransactionMarker, offset: int, timestamp: int) -> None:
        """Record a marker that was appended at `offset`."""
        producer = self._by_id.setdefault(end.producer_id, Producer())
        producer.enter(end.producer_epoch)
        producer.coordinator_epoch = end.coordinator_epoch
        producer.last_timestamp = timestamp
        producer.transaction_from = None
        first_offset = self._open.pop(end.producer_id, None)
        if first_offset is not None and not end.committed:
            self._aborted.append(
                AbortedTransaction(
                    producer_id=end.producer_id,
                    first_offset=first_offset,
                    last_offset=offset,
                    last_stable_offset=self.last_stable_offset(offset + 1),
                )
            )

    def load(self, batches: header.Batches) -> None:
        """Load the next segment of a log that is opened. Raises DamagedLog: a control batch cannot be read."""
        ends = dict(_ends(batches))
        for index in _relevant_batches(batches):
            batch = batches[index]
            if not batch.is_control:
                self.append(batch)
            elif index in ends:
                committed, epoch = ends[index]
                end = EndTransactionMarker(batch.producer_id, batch.producer_epoch, committed, epoch)
                self.end(end, batch.base_offset, batch.max_timestamp)

    def is_open(self, producer: header.ProducerIdentity) -> bool:
        known = self._by_id.get(producer.id)
        return known is not None and known.epoch == producer.epoch and known.transaction_from is not None

    def last_stable_offset(self, end: int) -> int:
        """The offset before which every transaction has ended; `end` is the log end."""
        return next(iter(self._open.values()), end)

    def aborted(self, start: int, end: int) -> list[AbortedTransaction]:
        """The aborted transactions with records from `start` to before `end`, as in a Fetch response."""
        transactions = []
        for index in range(bisect_left(self._aborted, start, key=_last_offset), len(self._aborted)):
            one = self._aborted[index]
            if one.first_offset < end:
                transactions.append(one)
            if one.last_stable_offset >= end:
                break  # later ones started at `end` or after it
        return transactions

    def forget_below(self, log_start: int) -> None:
        """The log start offset is now `log_start`: forget the aborted transactions before it."""
        del self._aborted[: bisect_left(self._aborted, log_start, key=_last_offset)]

    def compacted(self, end: int, aborted: Sequence[AbortedTransaction]) -> None:
        """The log was compacted up to the offset `end`; `aborted`: the aborted transactions that ended before
        it."""
        self._aborted[: bisect_left(self._aborted, end, key=_last_offset)] = aborted

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers that were idle for `producer.id.expiration.ms` and have no open transaction."""
        for producer_id, producer in list(self._by_id.items()):
            if producer.transaction_from is None and now_ms - producer.last_timestamp >= expiration_ms:
                del self._by_id[producer_id]

    def known(self) -> Iterator[tuple[int, Producer]]:
        """Every producer by its id, as DescribeProducers lists them."""
        return iter(self._by_id.items())


_last_offset = attrgetter("last_offset")


def _check_epoch(producer: Producer, epoch: int) -> None:
    if epoch < producer.epoch:
        raise RequestRefused(ErrorCode.INVALID_PRODUCER_EPOCH)


def _relevant_batches(batches: header.Batches) -> list[int]:
    """The batches that matter to producers: all of transactions, and the last of each idempotent producer."""
    headers = batches.headers
    marked = headers["attributes"] & (header.TRANSACTIONAL | header.CONTROL) != 0
    plain: Ints = np.flatnonzero(~marked & (headers["producer_id"] != header.NO_PRODUCER_ID))
    by_producer = plain[np.argsort(headers["producer_id"][plain], kind="stable")]
    ids = headers["producer_id"][by_producer]
    # A batch is one of the last if the batch this many places later is another producer's, or does not exist.
    last = np.ones(len(ids), dtype=bool)
    last[:-REMEMBERED_BATCHES] = ids[:-REMEMBERED_BATCHES] != ids[REMEMBERED_BATCHES:]
    relevant: list[int] = np.sort(np.concatenate((np.flatnonzero(marked), by_producer[last]))).tolist()
    return relevant


def _ends(batches: header.Batches) -> Iterator[tuple[int, tuple[bool, int]]]:
    """Batches that end a transaction, whether they commit, and the coordinator's epoch. Raises DamagedLog."""
    places = np.flatnonzero(batches.headers["attributes"] & header.CONTROL)
    marked = header.Batches(batches.data, batches.file, batches.positions[places], batches.headers[places])
    for columns in columns_of(marked):
        for index, of in enumerate(columns.batch_of.tolist()):
            with suppress(MalformedControlRecord):
                kind = control_type_of(columns.key(index) or b"")
                if kind in (ControlType.ABORT, ControlType.COMMIT):
                    epoch = coordinator_epoch(columns.value(index))
                    yield int(places[of]), (kind is ControlType.COMMIT, epoch)
