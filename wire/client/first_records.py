"""The first record at or after an offset that a consumer can read: its offset, and the age of what is unread. Records
of aborted transactions are skipped below the last stable offset. A search ends after `MOST_BYTES` without a record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers
from wire.client.log_searches import LogSearch, search_all
from wire.client.metadata import TopicPartition
from wire.client.offsets import READ_COMMITTED, READ_UNCOMMITTED
from wire.client.steps import Deadline, Replies
from wire.errors import Failure

if TYPE_CHECKING:
    from wire.log.batch_header import Batch

NO_TIMESTAMP = -1
MOST_BYTES = 4 * 1024 * 1024
"""The limit of markers and aborted records that are read in one partition to find a record after them."""


class FirstRecord(NamedTuple):
    """The first record from an offset on, or that there are only markers, gaps and aborted records there."""

    offset: int | None  # None: none before the end of the log (`is_unknown`: before `searched_to`)
    timestamp_ms: int | None = None  # in ms since 1970 (the producer's or the broker's); None: it has none
    aborted: int = 0  # the number of aborted records before it, from the requested offset on
    searched_to: int | None = None  # the offset at which a search without a result ended
    is_unknown: bool = False  # whether it ended at its limit, and not at the end of the log


FirstRecords: TypeAlias = dict[int, FirstRecord | Failure]  # the results by requested offset


def first_records(
    client: KafkaClient, offsets: Mapping[TopicPartition, Collection[int]]
) -> Answers[TopicPartition, FirstRecords]:
    """The first record at or after some offsets of each partition; those found in time are next to failures."""

    def ask(
        leader: Connection, partitions: Collection[TopicPartition], deadline: Deadline
    ) -> Replies[TopicPartition, FirstRecords]:
        searches = {partition: _Search(partition, offsets[partition]) for partition in partitions}
        yield from search_all(searches.values(), leader, deadline)
        return {partition: search.outcome for partition, search in searches.items()}

    return client.ask_leaders(offsets, ask)


class _Search(LogSearch):
    def __init__(self, partition: TopicPartition, offsets: Collection[int]) -> None:
        self.pending = sorted(set(offsets))
        super().__init__(partition, self.pending[0] if self.pending else 0)
        self.found: FirstRecords = {}
        self.isolation_level = READ_COMMITTED
        self._failure: Failure | None = None
        self._aborted: list[tuple[int, int]] = []
        """The last offset and the number of records of each aborted batch."""
        self._bytes = 0

    @property
    def outcome(self) -> FirstRecords | Failure:
        return self.found if self._failure is None else self._failure

    @property
    def is_done(self) -> bool:
        return not self.pending

    @property
    def next_wanted(self) -> int:
        return self.pending[0]

    def give_up(self, failure: Failure) -> None:
        """Fail; if there are no results yet, the partition fails as a whole."""
        if self.pending and not self.found:
            self._failure = failure
        self.found |= dict.fromkeys(self.pending, failure)
        self.pending = []

    def handle(self, batch: Batch, records: bytes, /) -> None:
        from wire.log.columns import times_from

        wanted = [max(offset, self.position) for offset in self.pending if offset <= batch.last_offset]
        for at, timestamp in times_from(wanted, batch, records):
            offset = self.pending.pop(0)
            timestamp_ms = None if timestamp == NO_TIMESTAMP else timestamp
            self.found[offset] = FirstRecord(at, timestamp_ms, self._aborted_from(offset))
            self._bytes = 0

    def skip_markers(self, batch: Batch) -> None:
        self._skip(batch)

    def skip_aborted(self, batch: Batch, /) -> bool:
        self._aborted.append((batch.last_offset, batch.count))
        self._skip(batch)
        return True

    def _skip(self, batch: Batch) -> None:
        self._bytes += batch.size
        if self._bytes > MOST_BYTES:
            self._finish(batch.last_offset + 1, is_unknown=True)

    def reach_end(self) -> None:
        self.position = max(self.position, self.next_wanted)
        if self.isolation_level == READ_COMMITTED and self.position < self.high_watermark:
            # The rest is of open transactions, or follows the first of them.
            self.isolation_level = READ_UNCOMMITTED
        else:
            self._finish(self.position)

    def _finish(self, searched_to: int, *, is_unknown: bool = False) -> None:
        """There is no record between any of the pending offsets and `searched_to`."""
        for offset in self.pending:
            aborted, end = self._aborted_from(offset), max(searched_to, offset)
            self.found[offset] = FirstRecord(None, None, aborted, end, is_unknown)
        self.pending = []

    def _aborted_from(self, offset: int) -> int:
        return sum(min(count, last - offset + 1) for last, count in self._aborted if last >= offset)
