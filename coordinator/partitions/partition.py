"""One partition of a topic: writing and reading its records, for the broker that leads it. There is one replica, so
the high watermark is the log end. `watchers` are called when there may be more to read, or when the partition is
deleted. A batch with a producer id is checked before it gets an offset, and recorded when it is in the log
(`producers`). Source: Partition, UnifiedLog."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from coordinator.errors import RequestRefused
from coordinator.partitions.directory import StoredCheckpoints
from coordinator.partitions.settings import RecordSettings
from coordinator.partitions.validation import accept, stamp
from coordinator.store.log import Log, ReadBatches
from coordinator.store.log_compaction import CompactionRun, LogCompaction
from coordinator.store.partition_files import UNDEFINED, LeaderEpochs
from coordinator.store.producers import EndTransactionMarker, Producers
from wire.errors import ErrorCode
from wire.log.batch_header import NO_PRODUCER_ID, NO_TIMESTAMP, Batch, batch_at
from wire.log.batch_writer import encode_batch
from wire.log.compression import MOST_BYTES
from wire.log.control_records import ControlType, end_of_transaction
from wire.log.indexes import AbortedTransaction
from wire.log.log_records import each_record

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = range(-1, -7, -1)
"""The special timestamps of ListOffsets. There is no tiered storage: all records are local (KIP-405, KIP-1005)."""
NOTHING = ReadBatches(b"", 0)
HIGH_WATERMARK = -1  # the offset of DeleteRecords that means the high watermark


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendPosition:
    """The position of a batch in the log. `append_time_ms` is -1 if the records have their producer's time."""

    base_offset: int
    append_time_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRead:
    """Whole batches, and the offsets at that moment. `aborted` None: uncommitted records were requested, too."""

    records: bytes
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: Sequence[AbortedTransaction] | None
    diverging: tuple[int, int] | None = None
    """Epoch and end offset up to which the reader's log is the same, if it diverges (KIP-595)."""


@dataclass(frozen=True, slots=True)
class FoundOffset:
    """An offset, with the time and leader epoch of its record if known; -1 means none."""

    offset: int = -1
    timestamp: int = NO_TIMESTAMP
    leader_epoch: int = UNDEFINED


class Partition:
    """See the module. `settings` returns the topic's settings at the time of the call."""

    def __init__(
        self,
        topic: str,
        topic_id: UUID,
        number: int,
        log: Log,
        settings: Callable[[], RecordSettings],
        epochs: LeaderEpochs | None = None,
        producers: Producers | None = None,
        checkpoints: StoredCheckpoints | None = None,
        compaction: LogCompaction | None = None,
    ) -> None:
        self.topic, self.topic_id, self.number = topic, topic_id, number
        self.watchers: set[Callable[[], None]] = set()
        self.is_closed = False
        self.producers = producers or Producers()
        self._checkpoints = checkpoints
        self.compaction = compaction  # the compaction of its files, if they are on a disk
        self._log = log
        self._settings = settings
        self._epochs = epochs or LeaderEpochs()
        if self._epochs.latest == UNDEFINED:
            self._epochs.begin(0, log.start_offset)

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"

    @property
    def leader_epoch(self) -> int:
        return self._epochs.latest

    @property
    def log_start_offset(self) -> int:
        return self._log.start_offset

    @property
    def high_watermark(self) -> int:
        return self._log.end_offset

    @property
    def last_stable_offset(self) -> int:
        """No record before it belongs to an open transaction."""
        return self.producers.last_stable_offset(self._log.end_offset)

    @property
    def size(self) -> int:
        return self._log.size

    def begin_epoch(self, epoch: int) -> None:
        """Start the epoch of a new leader; smaller epochs are ignored. Raises OSError."""
        self._epochs.begin(epoch, self._log.end_offset)
        if self._checkpoints is not None:
            self._checkpoints.keep_epochs(self._epochs.epochs)

    def check_epoch(self, epoch: int) -> None:
        """Check the leader epoch that a client knows; -1 for none. Raises RequestRefused."""
        if epoch == UNDEFINED or epoch == self.leader_epoch:
            return
        is_old = epoch < self.leader_epoch
        raise RequestRefused(ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH)

    def accept(self, records: bytes, now_ms: int, most: int = MOST_BYTES) -> bytearray:
        """Validate a client's batch (`validation.single_batch`) in any thread, and return it as it can be appended.
        Raises RecordsRefused. Raises ExpandsTooFar: it is more work than for `most` bytes."""
        return accept(records, str(self), self._settings(), now_ms, most)

    def append(self, batch: bytearray, now_ms: int) -> AppendPosition:
        """Append an accepted batch, unless its producer has sent it before. Raises RequestRefused. Raises OSError."""
        settings = self._settings()
        header = batch_at(batch)
        is_numbered = header.producer_id != NO_PRODUCER_ID
        known = self.producers.check(header) if is_numbered else None
        if known is not None:
            return AppendPosition(base_offset=known.first_offset, append_time_ms=known.timestamp)
        appended = self._append(batch, settings)
        if is_numbered:
            self.producers.append(appended)
        self.notify()
        append_time_ms = now_ms if settings.log_append_time else -1
        return AppendPosition(base_offset=appended.base_offset, append_time_ms=append_time_ms)

    def end_transaction(self, end: EndTransactionMarker, now_ms: int) -> None:
        """Append the marker that ends a producer's transaction, even if it has written nothing here. Raises
        RequestRefused: a newer producer has written here. Raises OSError."""
        self.producers.check_end(end)
        kind = ControlType.COMMIT if end.committed else ControlType.ABORT
        marker = encode_batch(
            [end_of_transaction(kind, end.coordinator_epoch)],
            base_offset=0,
            timestamp=now_ms,
            producer_id=end.producer_id,
            producer_epoch=end.producer_epoch,
            transactional=True,
            control=True,
        )
        appended = self._append(bytearray(marker), self._settings())
        self.producers.end(end, appended.base_offset, now_ms)
        self.notify()

    def _append(self, batch: bytearray, settings: RecordSettings) -> Batch:
        stamp(batch, self._log.end_offset, self.leader_epoch)
        return self._log.append(batch, settings)

    def read(
        self,
        offset: int,
        max_bytes: int,
        *,
        committed: bool,
        at_least_one: bool,
        last_fetched_epoch: int = UNDEFINED,
    ) -> PartitionRead:
        """Batches from the batch that contains `offset`, at most `max_bytes`; `at_least_one`: the first in any case.
        Raises RequestRefused: `offset` is not in the log. Raises OSError."""
        batches, diverging = NOTHING, None
        if last_fetched_epoch != UNDEFINED:
            epoch, end = self._epochs.end_of(last_fetched_epoch, self._log.end_offset)
            if epoch == UNDEFINED:
                raise RequestRefused(ErrorCode.OFFSET_OUT_OF_RANGE)
            if epoch < last_fetched_epoch or end < offset:
                diverging = epoch, end
        if diverging is None and not self._log.start_offset <= offset <= self._log.end_offset:
            raise RequestRefused(ErrorCode.OFFSET_OUT_OF_RANGE)
        end = self.last_stable_offset if committed else self.high_watermark
        if diverging is None and offset < end:
            batches = self._log.read(offset, max_bytes, end, at_least_one=at_least_one)
        return PartitionRead(
            records=batches.data,
            high_watermark=self.high_watermark,
            last_stable_offset=self.last_stable_offset,
            log_start_offset=self.log_start_offset,
            aborted=self.producers.aborted(offset, batches.end) if committed else None,
            diverging=diverging,
        )

    def find_offset(self, timestamp: int, most: int = MOST_BYTES, *, committed: bool) -> FoundOffset:
        """The first record of `timestamp` or later; a special timestamp requests another offset. Raises OSError. Raises
        ExpandsTooFar: a batch decompresses to more than `most` bytes."""
        end = self.last_stable_offset if committed else self.high_watermark
        if timestamp == LATEST:
            return FoundOffset(offset=end, leader_epoch=self.leader_epoch)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            start = self.log_start_offset
            return FoundOffset(offset=start, leader_epoch=self._epochs.of(start))
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return FoundOffset()
        if timestamp != MAX_TIMESTAMP:
            return self._first_since(timestamp, self.log_start_offset, end, most)
        latest = self._log.max_timestamp
        # Like a broker: the latest may be a deleted record whose segment still exists.
        return FoundOffset() if latest == NO_TIMESTAMP else self._first_since(latest, 0, end, most)

    def _first_since(self, timestamp: int, start: int, end: int, most: int) -> FoundOffset:
        for data in self._log.batches_since(timestamp):
            batch = batch_at(data)
            for record in each_record(batch, data, most):
                if record.timestamp >= timestamp and record.offset >= start:
                    if record.offset >= end:
                        return FoundOffset()
                    return FoundOffset(record.offset, record.timestamp, batch.leader_epoch)
        return FoundOffset()

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """As `LeaderEpochs.end_of`."""
        return self._epochs.end_of(epoch, self._log.end_offset)

    def delete_records(self, offset: int) -> int:
        """Move the log start offset to at least `offset`, and return it. Raises RequestRefused. Raises OSError."""
        if not self._settings().cleanup_deletes:
            raise RequestRefused(ErrorCode.POLICY_VIOLATION)
        start = self.high_watermark if offset == HIGH_WATERMARK else offset
        if not 0 <= start <= self.high_watermark:
            raise RequestRefused(ErrorCode.OFFSET_OUT_OF_RANGE)
        if start > self._log.start_offset and self._checkpoints is not None:
            self._checkpoints.keep_start(start)
        self._log.start_at(start)
        self._forget_before_start()
        return self.log_start_offset

    def expire(self, now_ms: int) -> None:
        """Delete records according to the topic's retention. Raises OSError."""
        settings = self._settings()
        if settings.cleanup_deletes:
            self._log.expire(settings, now_ms)
            self._forget_before_start()

    def begin_compaction(self, now_ms: int, producer_expiration_ms: int) -> CompactionRun | None:
        """The compaction work that is due, None if there is none; `compaction.end` must follow."""
        settings = self._settings()
        if self.compaction is None or not settings.cleanup_compacts:
            return None
        return self.compaction.begin(settings.compaction(producer_expiration_ms), now_ms)

    def _forget_before_start(self) -> None:
        self._epochs.forget_before(self.log_start_offset)
        self.producers.forget_below(self.log_start_offset)

    def close(self) -> None:
        self.is_closed = True
        self.notify()

    def notify(self) -> None:
        for watcher in tuple(self.watchers):
            watcher()
