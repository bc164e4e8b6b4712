"""Transactional commits in a log: a digest returns valid, pending and lost records."""

import pytest

from coordinator.store.digest import Digest, RecordStatus, RemainingRecord
from tests.coordinator.store.logs import Written
from tests.coordinator.store.offset_logs import committed
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.columns import columns_of
from wire.log.control_records import ControlType

P, Q, PLAIN = 7, 8, -1
COMMIT, ABORT = ControlType.COMMIT, ControlType.ABORT
VALID, PENDING, LOST = RecordStatus.VALID, RecordStatus.PENDING, RecordStatus.LOST
Step = tuple[int, dict[str, int | None] | ControlType]
"""A producer, and the offsets that it commits by group, or how its transaction ends."""
CASES: dict[str, tuple[list[Step], list[tuple[int, RecordStatus]]]] = {
    "committed: at its own place": (
        [(P, {"a": 1}), (PLAIN, {"b": 2}), (P, COMMIT)],
        [(0, VALID), (1, VALID)],
    ),
    "a later plain commit wins": ([(P, {"a": 1}), (PLAIN, {"a": 2}), (P, COMMIT)], [(1, VALID)]),
    "open": ([(PLAIN, {"a": 1}), (P, {"a": 2, "b": 3})], [(0, VALID), (1, PENDING), (2, PENDING)]),
    "aborted: its group stays": ([(P, {"a": 1}), (P, {"a": 2}), (P, ABORT)], [(1, LOST)]),
    "each ends for itself": (
        [(P, {"a": 1}), (Q, {"b": 2}), (Q, ABORT), (P, COMMIT), (Q, {"b": 3}), (Q, COMMIT)],
        [(0, VALID), (1, LOST), (4, VALID)],
    ),
    "a tombstone in it counts at once": (
        [(PLAIN, {"a": 1}), (P, {"a": None}), (P, ABORT)],
        [(0, LOST), (1, VALID)],
    ),
    "a tombstone ends what is pending": ([(P, {"a": 1}), (PLAIN, {"a": None})], [(0, LOST), (1, VALID)]),
    "a marker of another kind": ([(P, {"a": 1}), (P, ControlType.LEADER_CHANGE)], [(0, PENDING)]),
}


def digested(batches: list[bytes]) -> Digest:
    digest = Digest()
    for data in batches:
        for columns in columns_of(scan(data, "log").batches):
            digest.add(columns)
    return digest


@pytest.mark.parametrize(("steps", "expected"), CASES.values(), ids=CASES)
def test_what_is_left_of_a_transaction(steps: list[Step], expected: list[tuple[int, RecordStatus]]) -> None:
    log = Written()
    for producer, done in steps:
        if isinstance(done, ControlType):
            log.end(producer, done)
        else:
            log.batch([committed(group, offset) for group, offset in done.items()], transaction_of=producer)
    ((_, batches),) = log.segments
    events = digested([b"".join(batches)]).events()
    assert [(event.position, event.kind) for event in events] == expected
    assert digested(batches).events() == events  # however the log is cut


def test_a_pending_record_has_its_producer() -> None:
    log = Written()
    log.batch([committed("a", 4)], transaction_of=P)
    assert digested(log.segments[0][1]).events() == [RemainingRecord(0, PENDING, *committed("a", 4), P)]


@pytest.mark.parametrize("key", [b"", b"\0\0\0", b"\xff\xff\0\1"])
def test_a_malformed_marker_is_reported_and_ends_nothing(key: bytes) -> None:
    log = Written()
    log.batch([committed("a", 1)], transaction_of=P)
    pair = [(key, b"\0\0\0\0\0\0")]
    mark = encode_batch(pair, base_offset=1, timestamp=0, producer_id=P, transactional=True, control=True)
    digest = digested([*log.segments[0][1], mark])
    assert [(event.position, event.kind) for event in digest.events()] == [(0, PENDING)]
    assert [position for position, _ in digest.malformed] == [1]
