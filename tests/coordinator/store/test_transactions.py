"""Transactional commits in a log: a digest returns valid, pending and lost records."""

from __future__ import annotations

import pytest

from coordinator.store.digest import Digest, RecordStatus, RemainingRecord, UnfinishedTransactions
from tests.coordinator.store.logs import Written
from tests.coordinator.store.offset_logs import committed
from wire.log.batch_scan import scan
from wire.log.batches import ControlType, columns_of, encode_batch

P, Q = 7, 8
COMMIT, ABORT = ControlType.COMMIT, ControlType.ABORT


def digested(log: Written, *, chunk_of_one_batch: bool = False) -> Digest:
    """The digest of a log that is read in one go, or a batch at a time."""
    digest = Digest()
    ((_, batches),) = log.segments
    for data in batches if chunk_of_one_batch else [b"".join(batches)]:
        for columns in columns_of(scan(data, "log").batches):
            digest.add(columns)
    return digest


def left(log: Written) -> list[tuple[int, RecordStatus]]:
    """Position and status of the remaining records, which do not depend on how the log is read."""
    events = digested(log).events()
    assert digested(log, chunk_of_one_batch=True).events() == events
    return [(event.position, event.kind) for event in events]


def test_a_committed_transaction_counts_at_its_own_place() -> None:
    log = Written()
    log.batch([committed("a", 1)], transaction_of=P)
    log.batch([committed("b", 2)])
    log.end(P, COMMIT)
    assert left(log) == [(0, RecordStatus.VALID), (1, RecordStatus.VALID)]


def test_a_plain_commit_before_the_end_wins() -> None:
    log = Written()
    log.batch([committed("a", 1)], transaction_of=P)
    log.batch([committed("a", 2)])
    log.end(P, COMMIT)
    assert left(log) == [(1, RecordStatus.VALID)]


def test_an_open_transaction_is_pending_with_its_producer() -> None:
    log = Written()
    log.batch([committed("a", 1)])
    log.batch([committed("a", 2), committed("b", 3), committed("a", 4)], transaction_of=P)
    key, value = committed("a", 4)
    assert digested(log).events()[2] == RemainingRecord(3, RecordStatus.PENDING, key, value, P)
    assert left(log) == [(0, RecordStatus.VALID), (2, RecordStatus.PENDING), (3, RecordStatus.PENDING)]


def test_of_a_rolled_back_transaction_only_its_group_is_left() -> None:
    log = Written()
    log.batch([committed("a", 1), committed("a", 2, partition=1)], transaction_of=P)
    log.end(P, ABORT)
    assert left(log) == [(1, RecordStatus.LOST)]


def test_each_transaction_ends_for_itself() -> None:
    log = Written()
    log.batch([committed("a", 1)], transaction_of=P)
    log.batch([committed("b", 2)], transaction_of=Q)
    log.end(Q, ABORT)
    log.end(P, COMMIT)
    log.batch([committed("b", 3)], transaction_of=Q)
    log.end(Q, COMMIT)
    assert left(log) == [(0, RecordStatus.VALID), (1, RecordStatus.LOST), (4, RecordStatus.VALID)]


def test_a_tombstone_in_a_transaction_counts_at_once() -> None:
    log = Written()
    log.batch([committed("a", 1)])
    log.batch([committed("a", None)], transaction_of=P)
    log.end(P, ABORT)
    assert left(log) == [(0, RecordStatus.LOST), (1, RecordStatus.VALID)]


def test_a_tombstone_ends_what_is_pending() -> None:
    log = Written()
    log.batch([committed("a", 1)], transaction_of=P)
    log.batch([committed("a", None)])
    assert left(log) == [(0, RecordStatus.LOST), (1, RecordStatus.VALID)]


@pytest.mark.parametrize("key", [b"", b"\0\0\0", b"\xff\xff\0\1"])
def test_a_malformed_marker_is_reported_and_ends_nothing(key: bytes) -> None:
    log = Written()
    log.batch([committed("a", 1)], transaction_of=P)
    mark = encode_batch(
        [(key, b"\0\0\0\0\0\0")], base_offset=1, timestamp=0, producer_id=P, transactional=True, control=True
    )
    log.segments[0][1].append(mark)
    assert left(log) == [(0, RecordStatus.PENDING)]
    assert [position for position, _ in digested(log).malformed] == [1]


def test_marks_of_other_kinds_end_nothing() -> None:
    log = Written()
    log.batch([committed("a", 1)], transaction_of=P)
    log.end(P, ControlType.LEADER_CHANGE)
    assert left(log) == [(0, RecordStatus.PENDING)]


def test_transactions_keep_the_last_value_and_forget_what_ended() -> None:
    transactions: UnfinishedTransactions[int] = UnfinishedTransactions()
    transactions.write(P, [(b"k", 1), (b"l", 2)])
    transactions.write(P, [(b"k", 3)])
    transactions.write(Q, [(b"k", 4)])
    assert list(transactions.open()) == [(P, b"k", 3), (P, b"l", 2), (Q, b"k", 4)]
    assert transactions.end(P) == {b"k": 3, b"l": 2}
    assert transactions.end(P) == {}
    assert list(transactions.open()) == [(Q, b"k", 4)]
