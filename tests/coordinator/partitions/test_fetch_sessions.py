"""The number of fetch sessions, and the order of partitions. tests/conformance compares answers with a broker's."""

from itertools import count
from types import SimpleNamespace
from typing import Any

from coordinator.partitions.fetch_sessions import (
    EVICTABLE_AFTER_MS,
    MAX_EPOCH,
    NO_SESSION,
    FetchSessions,
    Result,
    Results,
)
from wire.errors import ErrorCode

RESULT: Result = {
    "partition_index": 0, "error_code": 0, "high_watermark": 0, "log_start_offset": 0, "records": b"",
    "aborted_transactions": None,
}  # fmt: skip


def request(session_id: int = 0, epoch: int = 0, *partitions: int) -> Any:
    topic = SimpleNamespace(
        topic="t",
        topic_id=None,
        partitions=[SimpleNamespace(partition=partition) for partition in partitions],
    )
    return SimpleNamespace(
        session_id=session_id, session_epoch=epoch, topics=[topic], forgotten_topics_data=()
    )


def begun(sessions: FetchSessions, now_ms: int) -> int:
    fetch = sessions.begin(request(0, 0, 1), now_ms, by_id=False)
    return fetch.finish({key: RESULT for key, _ in fetch.partitions})[0]


def test_a_full_cache_gives_up_only_what_was_unused_for_long() -> None:
    ids = count(1)
    sessions = FetchSessions(lambda: next(ids), slots=2)
    first, second = begun(sessions, 0), begun(sessions, 1_000)
    assert begun(sessions, EVICTABLE_AFTER_MS) == NO_SESSION
    assert sessions.begin(request(first, 1), EVICTABLE_AFTER_MS, by_id=False).error == ErrorCode.NONE
    third = begun(sessions, 1_001 + EVICTABLE_AFTER_MS)
    assert third != NO_SESSION
    assert len(sessions) == 2
    answer = sessions.begin(request(second, 1), 1_001 + EVICTABLE_AFTER_MS, by_id=False)
    assert answer.error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_epochs_begin_again_at_one() -> None:
    sessions = FetchSessions(lambda: 7)
    number = begun(sessions, 0)
    sessions._sessions[number].epoch = MAX_EPOCH
    assert sessions.begin(request(number, MAX_EPOCH), 0, by_id=False).error == ErrorCode.NONE
    assert sessions.begin(request(number, 1), 0, by_id=False).error == ErrorCode.NONE


def test_a_partition_that_was_read_takes_its_turn_again_after_the_others() -> None:
    sessions = FetchSessions(lambda: 7)
    fetch = sessions.begin(request(0, 0, 1, 2, 3), 0, by_id=False)
    fetch.finish({key: RESULT for key, _ in fetch.partitions})
    fetch = sessions.begin(request(7, 1), 0, by_id=False)
    full: Results = {
        key: {**RESULT, "records": b"x" if key.partition == 1 else b""} for key, _ in fetch.partitions
    }
    _, kept = fetch.finish(full)
    assert [key.partition for key in kept] == [1]
    fetch = sessions.begin(request(7, 2), 0, by_id=False)
    assert [key.partition for key, _ in fetch.partitions] == [2, 3, 1]
