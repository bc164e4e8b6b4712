"""Fetch sessions (KIP-227): requests and answers contain all partitions once, then only the changed ones. A request
of epoch -1 has no session, and closes the session whose id it contains; 0 opens one; the session's next epoch
continues it. If all slots are in use, a new session evicts the least recently used one, if that was unused for more
than two minutes; otherwise the client gets no session and sends all partitions again. Source: FetchManager,
FetchContext, FetchSessionCache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias
from uuid import UUID

from wire.errors import ErrorCode
from wire.messages.schemas import log_records as schemas

NO_SESSION = 0
WITHOUT, FIRST = -1, 0  # epochs of a request
MAX_EPOCH = 2**31 - 1
SLOTS = 1_000  # `max.incremental.fetch.session.cache.slots`
EVICTABLE_AFTER_MS = 120_000  # `min.incremental.fetch.session.eviction.ms`
UNKNOWN_OFFSET = -1


class PartitionKey(NamedTuple):
    """A partition as a request identifies it: by topic name before version 13, then by topic id."""

    topic: str
    topic_id: UUID | None
    partition: int


Requested: TypeAlias = "schemas.FetchRequestTopicPartition"
Result: TypeAlias = "schemas.FetchResponseResponsePartitionFields"
Results: TypeAlias = "dict[PartitionKey, Result]"


@dataclass(slots=True)
class _Cached:
    """A partition of a session: the client's request for it, and the offsets that the client has received."""

    asked: Requested
    high_watermark: int = UNKNOWN_OFFSET
    log_start_offset: int = UNKNOWN_OFFSET

    def has_news(self, result: Result) -> bool:
        """Whether the result must be sent to the client; it is recorded as sent."""
        refused = bool(result["error_code"]) or "diverging_epoch" in result
        seen = self.high_watermark, self.log_start_offset
        self.log_start_offset = result["log_start_offset"]
        # After an error the next result is always sent.
        self.high_watermark = UNKNOWN_OFFSET if refused else result["high_watermark"]
        return refused or bool(result["records"]) or seen != (result["high_watermark"], self.log_start_offset)


@dataclass(slots=True, kw_only=True)
class _Session:
    id: int
    by_id: bool  # whether requests identify topics by id
    used_ms: int
    partitions: dict[PartitionKey, _Cached] = field(default_factory=dict)
    epoch: int = FIRST + 1  # the epoch of the next request

    def keep(self, results: Results) -> Results:
        """The results to send. Partitions with records move to the end, so that all get their turn."""
        # Another request of the session may have changed its partitions meanwhile.
        known = {key: result for key, result in results.items() if key in self.partitions}
        news = {key: result for key, result in known.items() if self.partitions[key].has_news(result)}
        for key, result in news.items():
            if result["records"]:
                self.partitions[key] = self.partitions.pop(key)
        return news


@dataclass(slots=True, kw_only=True)
class SessionFetch:
    """The partitions of a request. `finish` returns the id of its session and the results to send."""

    partitions: Sequence[tuple[PartitionKey, Requested]] = ()
    error: ErrorCode = ErrorCode.NONE
    finish: Callable[[Results], tuple[int, Results]] = lambda results: (NO_SESSION, results)


class FetchSessions:
    """The sessions of one broker. `new_id` returns random numbers from 1 to 2^31 - 1."""

    def __init__(self, new_id: Callable[[], int], slots: int = SLOTS) -> None:
        self._new_id = new_id
        self._slots = slots
        self._sessions: dict[int, _Session] = {}  # by session id, the least recently used session first

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, request: schemas.FetchRequest, now_ms: int, *, by_id: bool) -> SessionFetch:
        """Start a request, whose topics are identified by id or by name."""
        asked = {
            PartitionKey(topic.topic, topic.topic_id, one.partition): one
            for topic in request.topics
            for one in topic.partitions
        }
        if request.session_epoch in (WITHOUT, FIRST):
            self._sessions.pop(request.session_id, None)
            fetch = SessionFetch(partitions=tuple(asked.items()))
            if request.session_epoch == FIRST:
                fetch.finish = lambda results: self._open(asked, results, now_ms, by_id=by_id)
            return fetch
        session = self._sessions.get(request.session_id)
        if session is None:
            return SessionFetch(error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if request.session_epoch != session.epoch:
            return SessionFetch(error=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != by_id:
            return SessionFetch(error=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        return self._continued(session, asked, request, now_ms)

    def _continued(
        self,
        session: _Session,
        asked: Mapping[PartitionKey, Requested],
        request: schemas.FetchRequest,
        now_ms: int,
    ) -> SessionFetch:
        for key, one in asked.items():
            session.partitions.setdefault(key, _Cached(one)).asked = one
        for topic in request.forgotten_topics_data:
            for partition in topic.partitions:
                session.partitions.pop(PartitionKey(topic.topic, topic.topic_id, partition), None)
        if not session.partitions:
            del self._sessions[session.id]
            return SessionFetch()
        session.epoch = 1 if session.epoch == MAX_EPOCH else session.epoch + 1
        session.used_ms = now_ms
        self._sessions[session.id] = self._sessions.pop(session.id)
        return SessionFetch(
            partitions=tuple((key, cached.asked) for key, cached in session.partitions.items()),
            finish=lambda results: (session.id, session.keep(results)),
        )

    def _open(
        self, asked: Mapping[PartitionKey, Requested], results: Results, now_ms: int, *, by_id: bool
    ) -> tuple[int, Results]:
        """Store the answered partitions in a new session, if there is room."""
        if not asked or not self._make_room(now_ms):
            return NO_SESSION, results
        while (number := self._new_id()) in self._sessions:
            pass
        session = _Session(id=number, by_id=by_id, used_ms=now_ms)
        session.partitions = {key: _Cached(one) for key, one in asked.items()}
        self._sessions[session.id] = session
        session.keep(results)
        return session.id, results

    def _make_room(self, now_ms: int) -> bool:
        if len(self._sessions) < self._slots:
            return True
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now_ms - oldest.used_ms <= EVICTABLE_AFTER_MS:
            return False
        del self._sessions[oldest.id]
        return True
