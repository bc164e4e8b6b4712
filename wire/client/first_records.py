"""When the first record at or behind an offset was written: what lies between a consumer and its partition's end.

Theory of operation. No request tells a record's time by its offset, so records are fetched and decoded, as few as
will do. All partitions of a leader are asked for a little at first, very many in a request; those whose first batch is
longer come back empty and are asked for more, and at last alone, which gives the whole batch. Offsets of several groups
in one partition are looked up in the same bytes where they lie together.

Compaction leaves gaps, and the broker's marks at the ends of transactions are no records: the search goes on behind
them, up to the high watermark. Where the log begins later than the offset (records are deleted by age, size or hand),
its first record counts. Records of transactions count whether those were committed, aborted or are open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from wire.client.connection import Connection
from wire.client.errors import RequestTimedOut, WireError, failure_of, refused
from wire.client.offsets import EARLIEST, READ_UNCOMMITTED, TopicPartition, by_topic, list_offsets
from wire.client.steps import Deadline, Steps
from wire.errors import ErrorCode, Failure, outcome
from wire.messages.schemas.log_records import FETCH

SMALL, LARGE = 4 * 1024, 64 * 1024
"""Bytes of a partition in a request for many: a few records; four batches of a Java producer's default size."""
WHOLE_BATCH = 1
"""Of a partition that is asked for alone: any limit below a batch's length gives exactly one batch."""
_LARGER = {SMALL: LARGE, LARGE: WHOLE_BATCH}

NO_TIMESTAMP = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRecord:
    """A record: where it stands, and its time in ms since 1970 (the producer's or the broker's, as the topic says)."""

    offset: int
    timestamp_ms: int


MOST_BYTES = 4 * 1024 * 1024
"""Of one answer, but for a first batch that is longer."""


FirstRecords: TypeAlias = dict[int, FirstRecord | Failure | None]
"""By the offset that was asked for; None: there is no record from there on."""


def first_records(
    wanted: Mapping[TopicPartition, Collection[int]],
    connection: Connection,
    places: Iterable[TopicPartition],
    deadline: Deadline,
) -> Steps[dict[TopicPartition, FirstRecords | Failure]]:
    """Ask one leader for what is `wanted` in its `places`.

    What was found before time or connection ran out is told beside what was not.
    """
    searches = {place: _Search(place, wanted[place]) for place in places}
    try:
        queues = _Queues(searches.values())
        while chunk := queues.next_chunk():
            if not deadline.remaining_ms():
                raise RequestTimedOut(str(connection.address), "reading records")
            yield from _ask(connection, chunk, deadline)
            queues.put(chunk)
    except WireError as error:
        if not any(search.found for search in searches.values()):
            raise
        for search in searches.values():
            search.give_up(failure_of(error))
    return {place: search.outcome for place, search in searches.items()}


def fetch(
    connection: Connection,
    offsets: Mapping[TopicPartition, int],
    partition_max_bytes: int,
    deadline: Deadline,
) -> Steps[dict[TopicPartition, Any | Failure]]:
    """Ask one leader for what is at an offset of each partition, outside of any fetch session; it answers at once.

    What is returned of a partition has `records`, batches as they are in the log, and `high_watermark`.

    A broker gives the first partition of a request that has records one whole batch, however long; every other one no
    more than `partition_max_bytes`, and nothing where that would cut its first batch. The last batch may be cut off
    (ReplicaManager.readFromLog, KIP-74). Versions up to 12 name topics, later ones their ids. A broker that holds back
    a client for its quota leaves partitions out: they are to be asked for again.
    """
    topics = by_topic(
        offsets,
        lambda place: {
            "partition": place[1],
            "fetch_offset": offsets[place],
            "partition_max_bytes": partition_max_bytes,
        },
    )
    request = {
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": MOST_BYTES,
        "isolation_level": READ_UNCOMMITTED,
        "topics": [{"topic": each["name"], "partitions": each["partitions"]} for each in topics],
        "forgotten_topics_data": (),
    }
    (response,) = yield from connection.ask(FETCH, [request], deadline)
    if response.error_code:
        raise refused(connection.address, FETCH.name, response.error_code)
    answers = {
        (topic.topic, partition.partition_index): outcome(partition) or partition
        for topic in response.responses
        for partition in topic.partitions
    }
    if response.throttle_time_ms:
        return answers
    left_out = Failure(message=f"{connection.address} left it out of its answer")
    return {place: answers.get(place, left_out) for place in offsets}


class _Queues:
    """Searches that go on, by their limits."""

    def __init__(self, searches: Iterable[_Search]) -> None:
        self._queues: dict[int, deque[_Search]] = {limit: deque() for limit in (SMALL, LARGE, WHOLE_BATCH)}
        self.put(searches)

    def put(self, searches: Iterable[_Search]) -> None:
        """Those of them that have not ended."""
        for search in searches:
            if search.pending:
                self._queues[search.limit].append(search)

    def next_chunk(self) -> list[_Search]:
        """As many searches as one request takes, all of the same limit; none when all have ended."""
        for limit, queue in self._queues.items():
            if queue:
                most = 1 if limit == WHOLE_BATCH else MOST_BYTES // limit
                return [queue.popleft() for _ in range(min(most, len(queue)))]
        return []


def _ask(connection: Connection, searches: list[_Search], deadline: Deadline) -> Steps[None]:
    offsets = {search.place: search.position for search in searches}
    answers = yield from fetch(connection, offsets, searches[0].limit, deadline)
    begun_later: list[_Search] = []
    for search in searches:
        answer = answers.get(search.place)
        if not isinstance(answer, Failure):
            if answer is not None:
                search.take(answer.records or b"", answer.high_watermark)
        elif answer.code == ErrorCode.OFFSET_OUT_OF_RANGE:
            begun_later.append(search)
        else:
            search.give_up(answer)
    if not begun_later:
        return
    begins = yield from list_offsets([EARLIEST], connection, [each.place for each in begun_later], deadline)
    left_out = Failure(message=f"{connection.address} left it out of its answer")
    for search in begun_later:
        search.begin_at(begins.get(search.place, left_out))


class _Search:
    """Goes through one partition, upwards."""

    def __init__(self, place: TopicPartition, offsets: Collection[int]) -> None:
        self.place = place
        self.pending = sorted(set(offsets))
        self.position = self.pending[0] if self.pending else 0
        """Everything from here to the first pending offset is yet to be looked at."""
        self.limit = SMALL
        self.found: FirstRecords = {}
        self._failure: Failure | None = None

    @property
    def outcome(self) -> FirstRecords | Failure:
        return self.found if self._failure is None else self._failure

    def give_up(self, failure: Failure) -> None:
        """Nothing more can be learnt; a partition of which nothing was learnt fails as a whole."""
        if self.pending and not self.found:
            self._failure = failure
        self._settle(failure)

    def begin_at(self, begin: tuple[int, ...] | Failure) -> None:
        """The log does not hold the position."""
        if isinstance(begin, Failure):
            self.give_up(begin)
        elif begin[0] <= self.position:
            self.give_up(Failure(message=f"the log ends before offset {self.position}"))
        else:
            self.position = begin[0]

    def take(self, records: bytes, high_watermark: int) -> None:
        """Look through the batches that came from the position on; no record is at or after the high watermark."""
        from wire.log.batch_scan import scan
        from wire.log.errors import DamagedLog
        from wire.log.log_records import each_record

        before, seen = self.position, scan(records, "{}-{}".format(*self.place))
        for batch in seen.batches:
            self.position = max(self.position, batch.next_offset)
            if batch.is_control or batch.last_offset < self.pending[0]:
                continue
            try:
                for record in each_record(batch, records):
                    # The first batch may begin earlier, with records that are deleted.
                    if record.offset >= before:
                        self._meet(record.offset, record.timestamp)
                    if not self.pending:
                        return
            except DamagedLog as error:
                self.give_up(Failure(message=f"its records cannot be read: {error}"))
                return
        if seen.fault is not None and not seen.fault.unfinished:
            self.give_up(Failure(message=f"its records cannot be read: {seen.fault.reason}"))
        elif max(self.position, self.pending[0]) >= high_watermark:
            self._settle(None)
        elif self.position > before:
            # Behind a gap or marks, which are short, or far from the next offset.
            self.position, self.limit = max(self.position, self.pending[0]), LARGE
        elif not len(seen.batches) and self.limit != WHOLE_BATCH:
            self.limit = _LARGER[self.limit]
        else:
            self.give_up(Failure(message=f"its leader gives no record at offset {self.position}"))

    def _meet(self, offset: int, timestamp_ms: int) -> None:
        while self.pending and self.pending[0] <= offset:
            self.found[self.pending.pop(0)] = (
                Failure(message=f"the record at offset {offset} has no time")
                if timestamp_ms == NO_TIMESTAMP
                else FirstRecord(offset=offset, timestamp_ms=timestamp_ms)
            )

    def _settle(self, outcome: Failure | None) -> None:
        """All that is pending has the same outcome."""
        self.found |= dict.fromkeys(self.pending, outcome)
        self.pending = []
