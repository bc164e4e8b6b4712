"""The records around an offset, as digests to compare with those of another cluster; aborted ones are left out.
Reading starts earlier, and earlier again if compaction left too few records, up to `_FARTHEST` offsets back."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers
from wire.client.log_searches import LogSearch, search_all
from wire.client.metadata import TopicPartition
from wire.client.steps import Deadline, Replies
from wire.errors import Failure
from wire.log.batch_header import Batch
from wire.log.log_records import LogRecord, RecordDigest, RecordWindow, digest

_FARTHEST = 65_536
_STEP = 16
_MOST_OPEN = 1_000
"""The limit of records beyond the requested ones, which are read to learn how a transaction ended."""
_MOST_BYTES = 32 * 1024 * 1024
"""The limit of keys and values in one reading; a window that would take more ends there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRequest:
    offset: int
    before: int
    after: int


def record_windows(
    client: KafkaClient, requests: Mapping[TopicPartition, WindowRequest]
) -> Answers[TopicPartition, RecordWindow]:
    """The records around an offset of each partition, as digests; offsets are at most the log's end."""

    def ask(
        leader: Connection, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> Replies[TopicPartition, RecordWindow]:
        windows = {partition: _Window(partition, requests[partition]) for partition in partitions}
        while ranges := [window.next for window in windows.values() if window.next is not None]:
            yield from search_all(ranges, leader, deadline)
            for window in windows.values():
                window.take()
        return {partition: window.outcome for partition, window in windows.items()}

    return client.ask_leaders(requests, ask)


class _Window:
    def __init__(self, partition: TopicPartition, request: WindowRequest) -> None:
        self._partition, self._request = partition, request
        self._reach = request.before
        self._start = max(request.offset - self._reach, 0)
        self._records: dict[int, RecordDigest] = {}
        self._from_start = self._to_end = False
        self._failure: Failure | None = None
        until = None if request.after else request.offset
        self.next: _WindowRange | None = _WindowRange(partition, self._start, request, until=until)

    def take(self) -> None:
        stretch, self.next = self.next, None
        if stretch is None:
            return
        if stretch.failure is not None:
            self._failure = stretch.failure
            return
        self._records = stretch.found | self._records
        if stretch.until is None:
            self._to_end = stretch.reached_end
        self._from_start = stretch.started_later or self._start == 0
        count = sum(offset < self._request.offset for offset in self._records)
        if count < self._request.before and not self._from_start and self._reach < _FARTHEST:
            until, self._reach = self._start, max(self._reach, 1) * _STEP
            self._start = max(self._request.offset - self._reach, 0)
            self.next = _WindowRange(self._partition, self._start, self._request, until=until)

    @property
    def outcome(self) -> RecordWindow | Failure:
        if self._failure is not None:
            return self._failure
        request = self._request
        records = [self._records[offset] for offset in sorted(self._records)]
        before = [record for record in records if record.offset < request.offset]
        after = [record for record in records if record.offset >= request.offset]
        kept = before[len(before) - min(request.before, len(before)) :]
        return RecordWindow(
            before=tuple(kept),
            after=tuple(after[: request.after]),
            from_start=self._from_start and len(kept) == len(before),
            # More records than requested are read if a transaction is open.
            to_end=self._to_end and len(after) <= request.after,
        )


class _WindowRange(LogSearch):
    """Reads from `start` until there are enough records from the offset on, or up to the offset `until`."""

    def __init__(
        self, partition: TopicPartition, start: int, request: WindowRequest, *, until: int | None = None
    ) -> None:
        super().__init__(partition, start)
        self.until = until
        self.found: dict[int, RecordDigest] = {}  # the records by offset
        self.reached_end = self.started_later = False
        self.failure: Failure | None = None
        self._request = request
        self._left, self._bytes, self._ended = request.after, 0, False
        self._open: dict[int, list[int]] = {}
        """Offsets of records in transactions whose end has not been read yet, by producer id."""

    @property
    def is_done(self) -> bool:
        if self.until is not None:
            return self._ended or self.position >= self.until
        return self._ended or self._left <= (-_MOST_OPEN if self._open else 0)

    @property
    def next_wanted(self) -> int:
        return self.position

    def start_at(self, begin: tuple[int, ...] | Failure) -> None:
        self.started_later = True
        super().start_at(begin)

    def handle(self, record: LogRecord, batch: Batch, /) -> None:
        if self.until is not None and record.offset >= self.until:
            self._ended = True
            return
        self.found[record.offset] = digest(record, is_append_time=batch.log_append_time)
        if batch.is_transactional:
            self._open.setdefault(batch.producer_id, []).append(record.offset)
        self._left -= record.offset >= self._request.offset
        self._bytes += len(record.key or b"") + len(record.value or b"")
        self._ended = self._ended or self._bytes > _MOST_BYTES

    def skip_markers(self, batch: Batch, records: bytes) -> None:
        from wire.log.control_records import ControlType, MalformedControlRecord, ending
        from wire.log.errors import DamagedLog

        offsets = self._open.pop(batch.producer_id, ())
        with suppress(DamagedLog, MalformedControlRecord):  # the outcome of the transaction is then unknown
            if offsets and ending(batch, records) is ControlType.ABORT:
                for offset in offsets:
                    del self.found[offset]
                    self._left += offset >= self._request.offset

    def reach_end(self) -> None:
        self._ended = self.reached_end = True

    def give_up(self, failure: Failure) -> None:
        self._ended, self.failure = True, failure
