"""Compaction of a partition that is open, killed between any two steps, and read meanwhile."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coordinator.partitions.partition import Partition
from coordinator.store.cleaner import Interrupted
from coordinator.store.log_compaction import InLogsThread
from coordinator.store.producers import EndTransactionMarker
from tests.coordinator.partitions.test_directory import SETTINGS, Store, append
from wire.log.batch_header import batch_at
from wire.log.batch_writer import encode_batch, rewrite_batch
from wire.log.compression import Codec
from wire.log.index_check import check_indexes
from wire.log.log_records import LogRecord, records_of
from wire.log.segments import read_log

NOW_MS = 1_000_000
DAY_MS = 86_400_000
KEYS = 20


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setitem(SETTINGS, "cleanup.policy", ("compact",))
    monkeypatch.setitem(SETTINGS, "segment.bytes", 2_000)
    return Store(tmp_path)


def write(partition: Partition, key: str, value: str | None, codec: Codec = Codec.NONE, **fields: Any) -> int:
    pair = key.encode(), None if value is None else value.encode()
    plain = encode_batch([pair], base_offset=0, timestamp=NOW_MS, **fields)
    batch = batch_at(plain)
    (record,) = records_of(batch, plain)
    record = replace(record, headers=(("from", pair[1]),))
    batch = replace(batch, attributes=batch.attributes | codec)
    return append(partition, rewrite_batch(batch, [record]), NOW_MS)


def fill(partition: Partition, number: int = 300) -> None:
    chance = random.Random(7)
    for index in range(number):
        write(partition, f"key {chance.randrange(KEYS)}", f"value {index}", chance.choice(list(Codec)))


def records(partition: Partition, *, committed: bool = True) -> list[LogRecord]:
    entries: list[LogRecord] = []
    offset = partition.log_start_offset
    while offset < partition.high_watermark:
        data = partition.read(offset, 1 << 20, committed=committed, at_least_one=True).records
        if not data:
            break
        position = 0
        while position < len(data):
            batch = batch_at(data, position)
            entries += [
                one for one in records_of(batch_at(data, position, position), data) if one.offset >= offset
            ]
            offset = batch.next_offset
            position += batch.size
    return entries


def latest(entries: list[LogRecord]) -> dict[bytes | None, LogRecord]:
    return {entry.key: entry for entry in entries}


def at_once(call: Callable[[], None]) -> None:
    call()


def compact(partition: Partition, in_thread: InLogsThread = at_once) -> bool:
    work = partition.begin_compaction(NOW_MS, DAY_MS)
    if work is None:
        return False
    work.run(in_thread, lambda: False)
    work.compaction.end(work)
    return True


def test_of_every_key_the_last_record_stays_and_a_restart_reads_the_same(store: Store) -> None:
    partition = store.partition()
    fill(partition)
    before = records(partition)
    assert compact(partition)
    after = records(partition)
    assert len(after) < len(before) // 3
    assert latest(after) == latest(before)
    assert [entry.offset for entry in after] == sorted(entry.offset for entry in after)
    for segment in read_log(store.directory.path("orders", 0)):
        if segment.next_offset < 300:
            assert not [*check_indexes(segment.path, segment.base_offset, segment.batches)]
    assert not compact(partition), "nothing is dirty any more"
    assert write(partition, "key 0", "continues") == 300
    for leave in (store.close, store.kill):
        leave()
        assert records(store.partition())[: len(after)] == after


def test_nothing_is_deleted_while_it_is_compacted(store: Store) -> None:
    partition = store.partition()
    fill(partition)
    SETTINGS["cleanup.policy"] = ("compact", "delete")
    store.open(was_clean=True)
    partition = store.partition()
    expected = {key: entry for key, entry in latest(records(partition)).items() if entry.offset >= 290}

    def delete_first(call: Callable[[], None]) -> None:
        partition.delete_records(290)
        call()

    assert compact(partition, delete_first)
    assert partition.log_start_offset == 290
    assert latest(records(partition)) == expected
    store.kill()
    assert latest(records(store.partition())) == expected


def test_an_interrupted_compaction_changes_nothing(store: Store) -> None:
    partition = store.partition()
    fill(partition)
    before = records(partition)
    work = partition.begin_compaction(NOW_MS, DAY_MS)
    assert work is not None
    with pytest.raises(Interrupted):
        work.run(at_once, lambda: True)
    work.compaction.end(work)
    assert records(partition) == before


def test_producer_state_survives_compaction_and_a_kill(store: Store) -> None:
    partition = store.partition()
    for number in range(3):
        write(partition, "key 0", f"{number}", producer_id=7, producer_epoch=0, base_sequence=number)
    fill(partition)
    compact(partition)
    store.kill()
    producer = dict(store.partition().producers.known())[7]
    assert (producer.epoch, producer.last_sequence) == (0, 2)


def test_records_that_are_not_committed_hide_none_and_aborted_ones_go(store: Store) -> None:
    partition = store.partition()
    fill(partition, 150)
    before = latest(records(partition))
    open_from = write(
        partition, "key 1", "open", producer_id=8, producer_epoch=0, base_sequence=0, transactional=True
    )
    for number in range(20):
        write(partition, f"key {number}", "other")
    compact(partition)
    assert latest(records(partition)) == before
    partition.end_transaction(EndTransactionMarker(8, 0, committed=False), NOW_MS)
    fill(partition, 100)
    compact(partition)
    after = records(partition)
    assert open_from not in {entry.offset for entry in after}
    assert partition.last_stable_offset == partition.high_watermark
    store.kill()
    assert records(store.partition()) == after
    assert store.partition().last_stable_offset == store.partition().high_watermark
