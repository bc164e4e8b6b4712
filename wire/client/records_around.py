"""The records around an offset, whole, with their batches and what became of their transactions. At most `MOST_BYTES`
of keys and values are kept, or one larger record; reading before the offset starts up to `_FARTHEST` offsets earlier if
compaction left few records there."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import AnswerTooLong
from wire.client.log_searches import LogSearch, search_all
from wire.client.metadata import TopicPartition
from wire.client.offsets import READ_COMMITTED, READ_UNCOMMITTED
from wire.client.steps import Deadline, Replies
from wire.errors import Failure
from wire.messages.framing import LENGTH_BYTES, MAX_FRAME_BYTES, BadFrame

if TYPE_CHECKING:
    from wire.log.batch_header import Batch
    from wire.log.log_records import LogRecord

MOST_BYTES = 32 * 1024 * 1024
"""The limit of keys, values and headers in one result; a result that would take more ends there."""
MOST_SKIPPED = 64 * 1024 * 1024
"""The limit of markers and aborted records that are read without a record to keep."""
_FARTHEST = 65_536
_STEP = 16


class TransactionEnd(Enum):
    """What became of a record's transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNDECIDED = "undecided"  # it is open, or has ended since an older one that is still open began


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsRequest:
    """Up to `before` records before the offset, and `after` from it on. `start`: the start of the log."""

    offset: int
    before: int
    after: int
    start: int
    only_committed: bool


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as its log contains it; `transaction` is None outside of transactions. `value_size` is more than the
    bytes of its value if these were cut off; then its headers are not known."""

    record: LogRecord
    batch: Batch
    transaction: TransactionEnd | None
    value_size: int


@dataclass(slots=True, kw_only=True)
class RecordsAround:
    """`before` and `after` the offset, ascending. `aborted`: how many aborted records from the offset on were skipped.
    `waits_at`: the last stable offset, if consumers of committed records wait there. `limit_at`: the offset at which
    reading ended because of a limit. `failure`: why there are not more."""

    before: deque[StoredRecord] = field(default_factory=deque)
    after: list[StoredRecord] = field(default_factory=list)
    aborted: int = 0
    waits_at: int | None = None
    limit_at: int | None = None
    failure: Failure | None = None


def records_around(
    client: KafkaClient, partition: TopicPartition, request: RecordsRequest
) -> RecordsAround | Failure:
    """The records around an offset of a partition. Raises WireError."""

    def ask(
        leader: Connection, _: Collection[TopicPartition], deadline: Deadline
    ) -> Replies[TopicPartition, RecordsAround]:
        reach = request.before
        while True:
            search = _Search(partition, max(request.offset - reach, request.start), request)
            while not search.is_done:
                try:
                    yield from search_all([search], leader, deadline)
                except AnswerTooLong as error:
                    search.take_cut(error.frame)
            from_start = request.offset - reach <= request.start
            if search.has_enough_before or from_start or reach >= _FARTHEST or search.result.failure:
                return {partition: search.outcome}
            reach = min(reach * _STEP, _FARTHEST)

    answers = client.ask_leaders([partition], ask)
    return answers.failed.get(partition) or answers.found[partition]


class _Search(LogSearch):
    found = ()  # so that `search_all` raises every error

    def __init__(self, partition: TopicPartition, start: int, request: RecordsRequest) -> None:
        super().__init__(partition, start)
        self.isolation_level = READ_COMMITTED
        self.result = RecordsAround(before=deque(maxlen=request.before))
        self._request = request
        self._bytes = self._skipped = 0
        self._aborted: Batch | None = None
        self._ended = self._is_cut = False

    @property
    def outcome(self) -> RecordsAround | Failure:
        result = self.result
        return result if result.before or result.after or result.failure is None else result.failure

    @property
    def has_enough_before(self) -> bool:
        return self._is_cut or len(self.result.before) == self._request.before

    @property
    def is_done(self) -> bool:
        return self._ended or len(self.result.after) >= self._request.after

    @property
    def next_wanted(self) -> int:
        return self.position

    def handle(self, record: LogRecord, batch: Batch, /) -> None:
        self._handle(record, batch, len(record.value or b""))

    def take_cut(self, frame: BadFrame) -> None:
        """Handle an answer that is too long: it contains one batch."""
        from wire.log.cut_batches import cut_batch

        cut = cut_batch(frame.head[LENGTH_BYTES:], frame.length, self.position)
        if cut is not None and cut.first is not None and self.position <= cut.first.offset:
            self._handle(cut.first, cut.batch, cut.value_size)
            self.position = cut.first.offset + 1
        if cut is None or (cut.batch.next_offset > self.position and not self.is_done):
            mib = f"{frame.length / 2**20:,.0f} MiB, more than the {MAX_FRAME_BYTES >> 20} MiB that are read at once"
            self.give_up(Failure(message=f"the batch with offset {self.position} has {mib}"))

    def _handle(self, record: LogRecord, batch: Batch, value_size: int) -> None:
        end = None
        if batch.is_transactional:
            is_decided = self.isolation_level == READ_COMMITTED
            end = TransactionEnd.COMMITTED if is_decided else TransactionEnd.UNDECIDED
            end = TransactionEnd.ABORTED if batch is self._aborted else end
        stored, self._skipped = StoredRecord(record, batch, end, value_size), 0
        self._bytes += _size(record)
        if record.offset < self._request.offset:
            self._put_before(stored)
        elif self.result.after and self._bytes > MOST_BYTES:
            self._end_at(record.offset)
        else:
            self.result.after.append(stored)

    def _put_before(self, stored: StoredRecord) -> None:
        before = self.result.before
        if len(before) == before.maxlen:
            self._bytes -= _size(before[0].record)
        before.append(stored)
        while self._bytes > MOST_BYTES and len(before) > 1:
            self._bytes -= _size(before.popleft().record)
            self._is_cut = True

    def skip_markers(self, batch: Batch, _records: bytes) -> None:
        self._skip(batch)

    def skip_aborted(self, batch: Batch, /) -> bool:
        if not self._request.only_committed:
            self._aborted = batch
            return False
        if batch.last_offset >= self._request.offset:
            self.result.aborted += min(batch.count, batch.next_offset - self._request.offset)
        self._skip(batch)
        return True

    def _skip(self, batch: Batch) -> None:
        self._skipped += batch.size
        if self._skipped > MOST_SKIPPED:
            self._end_at(batch.next_offset)

    def _end_at(self, offset: int) -> None:
        self._ended, self.result.limit_at = True, offset

    def reach_end(self) -> None:
        if self.isolation_level == READ_COMMITTED and self.position < self.high_watermark:
            # The rest is of open transactions, or follows the first of them.
            self.result.waits_at = self.position
            if not self._request.only_committed:
                self.isolation_level = READ_UNCOMMITTED
                return
        self._ended = True

    def give_up(self, failure: Failure) -> None:
        self._ended, self.result.failure = True, failure


def _size(record: LogRecord) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
