"""The records around an offset of partitions, with their batches and what became of their transactions. At most
`MOST_BYTES` of keys and values are kept of a partition, or one larger record; reading before the offset starts up to
`_FARTHEST` offsets earlier if compaction left few records there."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers, AnswerTooLong, failure_of
from wire.client.log_searches import LogSearch, search_all
from wire.client.metadata import TopicPartition
from wire.client.offsets import READ_COMMITTED, READ_UNCOMMITTED
from wire.client.steps import Deadline, Replies, Steps
from wire.errors import Failure
from wire.messages.framing import LENGTH_BYTES, MAX_FRAME_BYTES, BadFrame

if TYPE_CHECKING:
    from wire.log.batch_header import Batch
    from wire.log.cut_batches import CutBatch
    from wire.log.log_records import LogRecord

MOST_BYTES = 32 * 1024 * 1024
"""The limit of keys, values and headers of a partition; a result that would take more ends there."""
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
    """Up to `before` records before the offset, which is at most the log's end, and `after` (1 or more) from it on."""

    offset: int
    before: int
    after: int
    skips_aborted: bool = True
    skips_undecided: bool = False
    as_digests: bool = False  # whether keys and values are replaced by their SHA-256, which takes less memory


@dataclass(frozen=True, slots=True)
class BatchedRecord:
    """A record as its log contains it; `transaction` is None outside of transactions. `value_size` is more than the
    bytes of its value if these were cut off; then its headers are not known."""

    record: LogRecord
    batch: Batch
    transaction: TransactionEnd | None
    value_size: int


@dataclass(slots=True, kw_only=True)
class RecordsAround:
    """`before` and `after` the offset, ascending; `from_start`, `to_end`: whether the log has no others. `aborted`: how
    many aborted records from the offset on were skipped. `waits_at`: where consumers of committed records wait.
    `limit_at`: the offset at which reading ended because of a limit. `failure`: why there are not more."""

    before: deque[BatchedRecord] = field(default_factory=deque)
    after: list[BatchedRecord] = field(default_factory=list)
    from_start: bool = False
    to_end: bool = False
    aborted: int = 0
    waits_at: int | None = None
    limit_at: int | None = None
    failure: Failure | None = None


def records_around(
    client: KafkaClient, requests: Mapping[TopicPartition, RecordsRequest]
) -> Answers[TopicPartition, RecordsAround]:
    """The records around an offset of each partition; some records next to a failure. Raises WireError."""

    def ask(
        leader: Connection, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> Replies[TopicPartition, RecordsAround]:
        searches = {partition: _Search(partition, requests[partition]) for partition in partitions}
        pending = dict(searches)
        while pending:
            yield from _read(pending.values(), leader, deadline)
            pending = {
                one: later for one, search in pending.items() if (later := search.earlier()) is not None
            }
            searches |= pending
        return {partition: search.outcome for partition, search in searches.items()}

    return client.ask_leaders(requests, ask)


def _read(searches: Collection[_Search], leader: Connection, deadline: Deadline) -> Steps[None]:
    while pending := [search for search in searches if not search.is_done]:
        try:
            yield from search_all(pending, leader, deadline)
        except AnswerTooLong as error:
            for search in pending:
                if len(pending) == 1:
                    search.take_cut(error.frame)
                else:
                    search.give_up(failure_of(error))


class _Search(LogSearch):
    def __init__(self, partition: TopicPartition, request: RecordsRequest, reach: int | None = None) -> None:
        self._reach = request.before if reach is None else reach
        super().__init__(partition, max(request.offset - self._reach, 0))
        self.isolation_level = READ_COMMITTED
        self.result = RecordsAround(before=deque(maxlen=request.before), from_start=self.position == 0)
        self.found = self.result.after
        self._request = request
        self._only_before = self._ended = False
        self._bytes = self._skipped = 0
        self._aborted: Batch | None = None

    def earlier(self) -> _Search | None:
        """A search for the records before the offset that begins earlier; None if there are enough, or no more."""
        result, request = self.result, self._request
        is_enough = len(result.before) == request.before or result.from_start or self._reach >= _FARTHEST
        if is_enough or result.limit_at is not None or result.failure is not None:
            return None
        search = _Search(self.partition, request, min(self._reach * _STEP, _FARTHEST))
        search._only_before = True
        search.result = replace(result, before=search.result.before, from_start=search.result.from_start)
        return search

    @property
    def outcome(self) -> RecordsAround | Failure:
        result = self.result
        return result if result.before or result.after or result.failure is None else result.failure

    @property
    def is_done(self) -> bool:
        is_filled = len(self.result.after) >= self._request.after and not self._only_before
        return self._ended or is_filled

    @property
    def next_wanted(self) -> int:
        return self.position

    def start_at(self, begin: tuple[int, ...] | Failure) -> None:
        self.result.from_start = True
        super().start_at(begin)

    def take_cut(self, frame: BadFrame) -> None:
        """Handle an answer that is too long: it contains one batch."""
        from wire.log.cut_batches import cut_batch

        cut = cut_batch(frame.head[LENGTH_BYTES:], frame.length, self.position)
        self._take_first(cut, f"has {frame.length / 2**20:,.0f} MiB, more")

    def take_beginning(self, batch: Batch, records: bytes, /) -> bool:
        from wire.log.batch_header import HEADER_BYTES
        from wire.log.cut_batches import with_first

        payload = records[batch.position + HEADER_BYTES : batch.position + batch.size]
        self._take_first(with_first(batch, payload), "expands to more")
        return True

    def _take_first(self, cut: CutBatch | None, size: str) -> None:
        if cut is not None and cut.first is not None and self.position <= cut.first.offset:
            self._add(cut.first, cut.batch, cut.value_size)
            self.position = cut.first.offset + 1
        if not self.is_done and (cut is None or cut.batch.next_offset > self.position):
            most = f"than the {MAX_FRAME_BYTES >> 20} MiB that are read at once"
            self.give_up(Failure(message=f"the batch with offset {self.position} {size} {most}"))
            if cut is not None:
                self._end_at(cut.batch.next_offset)

    def handle(self, batch: Batch, records: bytes, /) -> None:
        from wire.log.log_records import each_record

        for record in each_record(batch, records):
            if record.offset >= self.position:
                self._add(record, batch)
            if self.is_done:
                return

    def _add(self, record: LogRecord, batch: Batch, value_size: int | None = None) -> None:
        """`value_size`: that of the whole value, if it is cut off."""
        from wire.log.log_records import hashed

        is_before, result = record.offset < self._request.offset, self.result
        if self._only_before and not is_before:
            self._ended = True
            return
        end = None
        if batch.is_transactional:
            is_decided = self.isolation_level == READ_COMMITTED
            end = TransactionEnd.COMMITTED if is_decided else TransactionEnd.UNDECIDED
            end = TransactionEnd.ABORTED if batch is self._aborted else end
        self._skipped = 0
        size = len(record.value or b"") if value_size is None else value_size
        stored = BatchedRecord(hashed(record) if self._request.as_digests else record, batch, end, size)
        if is_before:
            self._put_before(stored)
            return
        self._bytes += _size(record)
        if result.after and self._bytes > MOST_BYTES:
            self._end_at(record.offset)
        else:
            result.after.append(stored)

    def _put_before(self, stored: BatchedRecord) -> None:
        before = self.result.before
        self._bytes += _size(stored.record)
        while before and (len(before) == before.maxlen or self._bytes > MOST_BYTES):
            if len(before) < self._request.before:
                self._reach = _FARTHEST  # there is no room for more
            self._bytes -= _size(before.popleft().record)
            self.result.from_start = False
        before.append(stored)

    def skip_markers(self, batch: Batch) -> None:
        self._skip(batch)

    def skip_aborted(self, batch: Batch, /) -> bool:
        if not self._request.skips_aborted:
            self._aborted = batch
            return False
        if batch.last_offset >= self._request.offset and not self._only_before:
            self.result.aborted += min(batch.count, batch.next_offset - self._request.offset)
        self._skip(batch)
        return True

    def _skip(self, batch: Batch) -> None:
        self._skipped += batch.size
        if self._skipped > MOST_SKIPPED:
            self._end_at(batch.next_offset)

    def _end_at(self, offset: int) -> None:
        self._ended = True
        if not self._only_before:
            self.result.limit_at = offset

    def reach_end(self) -> None:
        if self.isolation_level == READ_COMMITTED and self.position < self.high_watermark:
            # The rest is of open transactions, or follows the first of them.
            self.result.waits_at = self.position
            if not self._request.skips_undecided:
                self.isolation_level = READ_UNCOMMITTED
                return
        self._ended = self.result.to_end = True

    def give_up(self, failure: Failure) -> None:
        self._ended, self.result.failure = True, failure


def _size(record: LogRecord) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
