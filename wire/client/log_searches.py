"""Forward searches through the records of partitions, many partitions of a leader in parallel.

Theory of operation. As few records as possible are fetched and decoded. The first requests ask for a few bytes of very
many partitions; a partition whose first batch is longer returns nothing and is asked for more, and finally in a request
for it alone, which returns the whole batch.

Compaction leaves gaps, and transaction markers are not records: a search continues after them, up to the high
watermark. If the log starts after the position (records are deleted by age, by size, or by an operator), the search
continues at the log's start. Records of transactions count, whether committed, aborted or open, unless the search
requests the isolation level `read_committed`: then it ends at the last stable offset, and skips aborted records by the
headers of their batches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sized
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING

from wire.client.connection import Connection
from wire.client.errors import AnswerTooLong, RequestTimedOut, WireError, failure_of, refused
from wire.client.metadata import TopicPartition, topic_entries
from wire.client.offsets import EARLIEST, READ_COMMITTED, READ_UNCOMMITTED, list_offsets
from wire.client.steps import Deadline, Replies, Steps
from wire.errors import ErrorCode, Failure, outcome
from wire.messages.schemas.log_records import FETCH

if TYPE_CHECKING:
    from wire.log.batch_header import Batch
    from wire.messages.schemas.log_records import FetchResponseResponsePartition

SMALL, LARGE = 4 * 1024, 64 * 1024
"""The limit of a partition in a request for many: a few records; four batches of a Java producer's default size."""
WHOLE_BATCH = 1
"""The limit of a partition in a request for it alone: any limit below a batch's length returns exactly one batch."""
_LARGER = {SMALL: LARGE, LARGE: WHOLE_BATCH}

NO_EPOCH = -1
MOST_BYTES = 4 * 1024 * 1024  # the limit of one response, except for a longer first batch


class LogSearch(ABC):
    found: Sized

    def __init__(self, partition: TopicPartition, position: int) -> None:
        self.partition = partition
        self.position = position  # the offset from which the search must read on
        self.limit = SMALL
        self.isolation_level = READ_UNCOMMITTED
        self.high_watermark = 0
        """The end of the log according to the last answer; with `read_committed`, a search ends before it."""

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """Whether the search needs no more records."""

    @property
    @abstractmethod
    def next_wanted(self) -> int:
        """The least offset of a record that the search needs."""

    @abstractmethod
    def handle(self, batch: Batch, records: bytes, /) -> None:
        """Handle a batch's records at or after the position: deleted ones may be before it. Raises DamagedLog."""

    def skip_markers(self, batch: Batch) -> None:  # noqa: B027  (a search may ignore them)
        """Handle a control batch."""

    def skip_aborted(self, batch: Batch, /) -> bool:  # noqa: ARG002  (only with `read_committed`)
        """Handle a batch of an aborted transaction; whether its records are skipped."""
        return True

    def take_beginning(self, batch: Batch, records: bytes, /) -> bool:  # noqa: ARG002  (a search may fail instead)
        """Handle a batch that expands too far, by its first bytes; whether the search continues after it."""
        return False

    @abstractmethod
    def reach_end(self) -> None:
        """Handle the end of the log."""

    @abstractmethod
    def give_up(self, failure: Failure) -> None:
        """Fail; there are no more results."""

    def start_at(self, begin: tuple[int, ...] | Failure) -> None:
        """Handle a log that does not contain the position."""
        if isinstance(begin, Failure):
            self.give_up(begin)
        elif begin[0] <= self.position:
            self.give_up(Failure(message=f"the log ends before offset {self.position}"))
        else:
            self.position = begin[0]

    def take(self, records: bytes, high_watermark: int, aborted: Iterable[tuple[int, int]] = ()) -> None:
        """Handle the batches from the position on, up to the high watermark; with `read_committed` that is the last
        stable offset, and `aborted` are the aborted transactions in these batches, by producer id and first offset."""
        from wire.log.batch_scan import scan
        from wire.log.compression import ExpandsTooFar
        from wire.log.errors import DamagedLog

        before, seen = self.position, scan(records, "{}-{}".format(*self.partition))
        is_aborted = _aborted_batches(aborted, records)
        for batch in seen.batches:
            skips = is_aborted(batch)
            if batch.is_control:
                self.skip_markers(batch)
            elif skips:
                skips = self.skip_aborted(batch)
            if self.is_done:
                return
            if not batch.is_control and not skips and batch.last_offset >= self.next_wanted:
                try:
                    self.handle(batch, records)
                except DamagedLog as error:
                    expands = isinstance(error.__context__, ExpandsTooFar)
                    if not (expands and self.take_beginning(batch, records)):
                        self.give_up(Failure(message=f"its records cannot be read: {error}"))
                if self.is_done:
                    return
            self.position = max(self.position, batch.next_offset)
        if self.is_done:
            return
        if seen.fault is not None and not seen.fault.unfinished:
            self.give_up(Failure(message=f"its records cannot be read: {seen.fault.reason}"))
        elif max(self.position, self.next_wanted) >= high_watermark:
            self.reach_end()
        elif self.position > before:
            # The search passed a gap or markers, which are short, or is far from the next wanted offset.
            self.position, self.limit = max(self.position, self.next_wanted), LARGE
        elif not len(seen.batches) and self.limit != WHOLE_BATCH:
            self.limit = _LARGER[self.limit]
        else:
            self.give_up(Failure(message=f"its leader returns no record at offset {self.position}"))


def _aborted_batches(aborted: Iterable[tuple[int, int]], records: bytes) -> Callable[[Batch], bool]:
    """Whether a batch is of an aborted transaction, asked about every batch in order, up to its ABORT marker."""
    from wire.log.control_records import ControlType, MalformedControlRecord, ending
    from wire.log.errors import DamagedLog

    due = sorted(aborted, key=itemgetter(1), reverse=True)
    open_producers: set[int] = set()

    def judge(batch: Batch) -> bool:
        while due and due[-1][1] <= batch.last_offset:
            open_producers.add(due.pop()[0])
        if batch.producer_id not in open_producers or not batch.is_transactional:
            return False
        if batch.is_control:
            with suppress(DamagedLog, MalformedControlRecord):  # then the transaction counts as open
                if ending(batch, records) is ControlType.ABORT:
                    open_producers.discard(batch.producer_id)
        return True

    return judge


def search_all(searches: Collection[LogSearch], connection: Connection, deadline: Deadline) -> Steps[None]:
    """Ask one leader until every search is done, or gives up at the deadline. Raises WireError: no result. Raises
    AnswerTooLong: it contains one batch."""
    try:
        queues = _Queues(searches)
        while chunk := queues.next_chunk():
            if not deadline.remaining_ms():
                raise RequestTimedOut(connection.address, "reading records")
            yield from _ask(connection, chunk, deadline)
            queues.put(chunk)
    except WireError as error:
        if isinstance(error, AnswerTooLong) or not any(search.found for search in searches):
            raise
        for search in searches:
            if not search.is_done:
                search.give_up(failure_of(error))


def fetch(
    connection: Connection,
    offsets: Mapping[TopicPartition, int],
    partition_max_bytes: int,
    deadline: Deadline,
    isolation_level: int = READ_UNCOMMITTED,
    max_wait_ms: int = 0,
    epochs: Mapping[TopicPartition, int] | None = None,
) -> Replies[TopicPartition, FetchResponseResponsePartition]:
    """Fetch the bytes at one offset of each partition from one leader, without a fetch session. One whole batch of the
    first partition that has records is returned; of others at most `partition_max_bytes` (KIP-74), or nothing. Without
    any, the broker waits for `max_wait_ms`. `epochs`: of the leaders that wrote the records before the offsets; if its
    log has others there, a broker since Kafka 2.7 returns where it diverges instead of records (KIP-595)."""

    def entry(key: TopicPartition) -> dict[str, object]:
        return {
            "partition": key[1],
            "fetch_offset": offsets[key],
            "last_fetched_epoch": (epochs or {}).get(key, NO_EPOCH),
            "partition_max_bytes": partition_max_bytes,
        }

    request = {
        "max_wait_ms": max_wait_ms,
        "min_bytes": int(max_wait_ms > 0),
        "max_bytes": MOST_BYTES,
        "isolation_level": isolation_level,
        "topics": topic_entries(offsets, "topic", entry),
        "forgotten_topics_data": (),
    }
    (response,) = yield from connection.ask(FETCH, [request], deadline)
    if response.error_code:
        raise refused(connection.address, FETCH.name, response.error_code)
    answers: dict[TopicPartition, FetchResponseResponsePartition | Failure] = {
        (topic.topic, partition.partition_index): outcome(partition) or partition
        for topic in response.responses
        for partition in topic.partitions
    }
    if response.throttle_time_ms:
        return answers
    left_out = Failure(message=f"{connection.address} has no answer for it")
    return {partition: answers.get(partition, left_out) for partition in offsets}


class _Queues:
    def __init__(self, searches: Iterable[LogSearch]) -> None:
        self._queues: dict[tuple[int, int], deque[LogSearch]] = {
            (limit, level): deque()
            for limit in (SMALL, LARGE, WHOLE_BATCH)
            for level in (READ_COMMITTED, READ_UNCOMMITTED)
        }
        self.put(searches)

    def put(self, searches: Iterable[LogSearch]) -> None:
        for search in searches:
            if not search.is_done:
                self._queues[search.limit, search.isolation_level].append(search)

    def next_chunk(self) -> list[LogSearch]:
        """The searches of the next request, all with the same limit and level; empty when all are done."""
        for (limit, _), queue in self._queues.items():
            if queue:
                most = 1 if limit == WHOLE_BATCH else MOST_BYTES // limit
                return [queue.popleft() for _ in range(min(most, len(queue)))]
        return []


def _ask(connection: Connection, searches: list[LogSearch], deadline: Deadline) -> Steps[None]:
    offsets = {search.partition: search.position for search in searches}
    level = searches[0].isolation_level
    answers = yield from fetch(connection, offsets, searches[0].limit, deadline, level)
    later: list[LogSearch] = []
    for search in searches:
        answer = answers.get(search.partition)
        if not isinstance(answer, Failure):
            if answer is not None:
                is_committed = level == READ_COMMITTED and answer.last_stable_offset >= 0
                aborted = (answer.aborted_transactions or ()) if is_committed else ()
                search.high_watermark = answer.high_watermark
                search.take(
                    answer.records or b"",
                    answer.last_stable_offset if is_committed else answer.high_watermark,
                    [(transaction.producer_id, transaction.first_offset) for transaction in aborted],
                )
        elif answer.code == ErrorCode.OFFSET_OUT_OF_RANGE:
            later.append(search)
        else:
            search.give_up(answer)
    if not later:
        return
    begins = yield from list_offsets([EARLIEST], connection, [search.partition for search in later], deadline)
    left_out = Failure(message=f"{connection.address} has no answer for it")
    for search in later:
        search.start_at(begins.get(search.partition, left_out))
