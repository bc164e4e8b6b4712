"""The timestamp of the first record at or after an offset: the age of the oldest unread record of a consumer.

No request returns a record's timestamp by its offset, so records are read (`wire.client.log_searches`). Offsets of
several groups in one partition are looked up in the same bytes if they are close together. If the log starts after the
offset, its first record counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from wire.client.connection import Connection
from wire.client.log_searches import LogSearch, search_all
from wire.client.offsets import TopicPartition
from wire.client.steps import Deadline, Steps
from wire.errors import Failure

if TYPE_CHECKING:
    from wire.log.batch_header import Batch
    from wire.log.log_records import LogRecord

NO_TIMESTAMP = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRecord:
    """A record: its offset, and its timestamp in ms since 1970 (the producer's or the broker's)."""

    offset: int
    timestamp_ms: int


FirstRecords: TypeAlias = dict[int, FirstRecord | Failure | None]
"""The results by requested offset; None: there is no record at or after it."""


def first_records(
    wanted: Mapping[TopicPartition, Collection[int]],
    connection: Connection,
    places: Iterable[TopicPartition],
    deadline: Deadline,
) -> Steps[dict[TopicPartition, FirstRecords | Failure]]:
    """Ask one leader for the `wanted` records in its `places`.

    Records found before the deadline or the loss of the connection are returned next to the failures.
    """
    searches = {place: _Search(place, wanted[place]) for place in places}
    yield from search_all(searches.values(), connection, deadline)
    return {place: search.outcome for place, search in searches.items()}


class _Search(LogSearch):
    """Searches the first records of one partition."""

    def __init__(self, place: TopicPartition, offsets: Collection[int]) -> None:
        self.pending = sorted(set(offsets))
        super().__init__(place, self.pending[0] if self.pending else 0)
        self.found: FirstRecords = {}
        self._failure: Failure | None = None

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
        self._finish_pending(failure)

    def handle(self, record: LogRecord, _batch: Batch, /) -> None:
        while self.pending and self.pending[0] <= record.offset:
            self.found[self.pending.pop(0)] = (
                Failure(message=f"the record at offset {record.offset} has no time")
                if record.timestamp == NO_TIMESTAMP
                else FirstRecord(offset=record.offset, timestamp_ms=record.timestamp)
            )

    def reach_end(self) -> None:
        self._finish_pending(None)

    def _finish_pending(self, outcome: Failure | None) -> None:
        """Set the same outcome for all pending offsets."""
        self.found |= dict.fromkeys(self.pending, outcome)
        self.pending = []
