"""Transactions in the data directory are read again, also after compaction; an undecodable record is reported."""

from pathlib import Path

import pytest

from coordinator.store.data_directory import DataDirectory
from coordinator.store.log import SegmentLimits
from coordinator.store.partition_files import TRANSACTIONS_TOPIC
from coordinator.transactions.log import TransactionsLog
from coordinator.transactions.transaction import Transaction, TransactionState
from wire.log.batch_header import ProducerIdentity
from wire.log.batch_writer import encode_batch
from wire.log.errors import DamagedLog

NOW_MS = 1_700_000_000_000


def opened(root: Path, segment_bytes: int = 1_000) -> TransactionsLog:
    return TransactionsLog(root, 3, SegmentLimits(segment_bytes=segment_bytes), was_clean=False)


def changed(transactional_id: str, number: int, state: TransactionState) -> Transaction:
    return Transaction(
        transactional_id=transactional_id,
        producer=ProducerIdentity(7, number),
        timeout_ms=60_000,
        updated_ms=NOW_MS + number,
        state=state,
    )


def test_directories_are_made_with_the_first_transactional_id(tmp_path: Path) -> None:
    log = opened(tmp_path)
    assert list(tmp_path.iterdir()) == []
    log.append(changed("a", 0, TransactionState.EMPTY), NOW_MS)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{TRANSACTIONS_TOPIC}-{n}" for n in range(3)]
    log.close()


def test_the_topic_id_outlasts_the_making_of_the_topic_and_a_restart(tmp_path: Path) -> None:
    log = opened(tmp_path)
    topic_id = log.topic_id
    log.append(changed("a", 0, TransactionState.EMPTY), NOW_MS)
    log.close()
    assert opened(tmp_path).topic_id == topic_id


def test_the_last_record_of_an_id_counts_and_a_tombstone_ends_it(tmp_path: Path) -> None:
    log = opened(tmp_path)
    for number in range(30):
        for name in "abc":
            log.append(changed(name, number, TransactionState.ONGOING), NOW_MS)
    log.append(changed("b", 30, TransactionState.DEAD), NOW_MS)
    log.close()
    assert opened(tmp_path).recovered == {
        name: changed(name, 29, TransactionState.ONGOING) for name in ("a", "c")
    }


def test_compaction_keeps_what_counts(tmp_path: Path) -> None:
    data = DataDirectory.open(tmp_path)
    log = opened(tmp_path)
    data.compacted[TRANSACTIONS_TOPIC] = log.compactions
    for number in range(200):
        log.append(changed("a", number, TransactionState.ONGOING), NOW_MS)
    before = size(tmp_path)
    while data.compact(NOW_MS):
        pass
    log.close()
    data.close()
    assert size(tmp_path) < before / 5
    assert opened(tmp_path).recovered == {"a": changed("a", 199, TransactionState.ONGOING)}


def size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.glob(f"{TRANSACTIONS_TOPIC}-*/*.log"))


def test_an_undecodable_record_is_reported(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.append(changed("a", 0, TransactionState.ONGOING), NOW_MS)
    log.close()
    partition = next(path for path in tmp_path.glob("*/*.log") if path.stat().st_size)
    with partition.open("ab") as segment:
        segment.write(encode_batch([(b"\0\0\0\1a", b"\0\7")], base_offset=1, timestamp=NOW_MS))
    with pytest.raises(DamagedLog, match="the record at offset 1 cannot be decoded"):
        opened(tmp_path)
