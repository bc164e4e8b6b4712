"""Logs in memory, against an obvious list of batches."""

import random
from dataclasses import replace

import pytest

from coordinator.partitions.settings import RecordSettings
from coordinator.store.log import Log, MemoryFiles
from coordinator.store.partition_files import UNDEFINED, LeaderEpochs
from wire.log.batch_header import Batch, batch_at
from wire.log.batch_writer import encode_batch

SMALL = RecordSettings(segment_bytes=20_000, segment_ms=10_000)


def filled(seed: int, batches: int) -> tuple[Log, list[tuple[Batch, bytes]]]:
    chance = random.Random(seed)
    log = Log(MemoryFiles())
    held = []
    time_ms = 1_000
    for _ in range(batches):
        time_ms += chance.choice((-50, 0, 10, 500))
        values = [(None, bytes(chance.choice((1, 300, 3_000)))) for _ in range(chance.randint(1, 3))]
        data = encode_batch(values, base_offset=log.end_offset, timestamp=time_ms)
        log.append(data, SMALL)
        held.append((batch_at(data), data))
    return log, held


@pytest.mark.parametrize("seed", range(3))
def test_reads_give_whole_batches_from_the_offset_on(seed: int) -> None:
    log, held = filled(seed, 200)
    for offset in range(log.end_offset):
        index = next(at for at, (batch, _) in enumerate(held) if batch.last_offset >= offset)
        for most in (1, 7_000):
            read = log.read(offset, most, log.end_offset, at_least_one=True)
            whole = b"".join(data for _, data in held[index:])
            assert whole.startswith(read.data)
            assert len(held[index][1]) <= len(read.data) <= max(most, len(held[index][1]))
            assert read.end > offset
    assert log.read(log.end_offset, 1_000, log.end_offset, at_least_one=True).data == b""
    assert log.read(0, 1, log.end_offset, at_least_one=False).data == b""


def test_nothing_is_read_from_the_end_given_on() -> None:
    log, held = filled(1, 20)
    third = held[2][0]
    read = log.read(0, 1 << 20, third.base_offset, at_least_one=True)
    assert read.end == third.base_offset
    assert read.data == held[0][1] + held[1][1]


@pytest.mark.parametrize("seed", range(3))
def test_the_first_batch_of_a_time_is_found(seed: int) -> None:
    log, held = filled(seed, 200)
    for time_ms in range(0, log.max_timestamp + 100, 37):
        expected = [data for batch, data in held if batch.max_timestamp >= time_ms]
        assert list(log.batches_since(time_ms)) == expected


def test_segments_are_deleted_from_the_front_by_size() -> None:
    log, _ = filled(2, 200)
    before, end = log.size, log.end_offset
    log.expire(replace(SMALL, retention_ms=-1, retention_bytes=before // 2), now_ms=10**9)
    assert before // 2 <= log.size < before // 2 + SMALL.segment_bytes
    assert 0 < log.start_offset < log.end_offset == end
    log.expire(replace(SMALL, retention_ms=-1, retention_bytes=0), now_ms=10**9)
    assert log.start_offset == log.end_offset == end
    assert log.size == 0


def test_segments_are_deleted_by_the_time_of_their_latest_record() -> None:
    log, _ = filled(3, 200)
    latest = log.max_timestamp
    log.expire(replace(SMALL, retention_ms=1_000), now_ms=latest)
    assert log.max_timestamp == latest
    assert log.start_offset > 0
    log.expire(replace(SMALL, retention_ms=1_000), now_ms=latest + 1_001)
    assert log.start_offset == log.end_offset
    log.append(encode_batch([(None, b"x")], base_offset=log.end_offset, timestamp=latest), SMALL)
    assert log.read(log.start_offset, 1, log.end_offset, at_least_one=True).data


def test_records_without_a_time_are_not_too_old() -> None:
    log = Log(MemoryFiles())
    log.append(encode_batch([(None, b"x")], base_offset=0, timestamp=-1), SMALL)
    log.expire(replace(SMALL, retention_ms=1_000), now_ms=10**12)
    assert log.start_offset == 0


def test_the_end_of_an_epoch_is_where_the_next_began() -> None:
    epochs = LeaderEpochs()
    for epoch, offset in ((0, 0), (2, 10), (3, 10), (5, 30)):
        epochs.begin(epoch, offset)
    ends = {epoch: epochs.end_of(epoch, 44) for epoch in range(-1, 7)}
    assert ends == {
        -1: (UNDEFINED, UNDEFINED),
        0: (0, 10),
        1: (0, 10),
        2: (0, 10),  # it wrote nothing
        3: (3, 30),
        4: (3, 30),
        5: (5, 44),
        6: (UNDEFINED, UNDEFINED),
    }
    assert [epochs.of(offset) for offset in (0, 9, 10, 29, 30, 99)] == [0, 0, 3, 3, 5, 5]
    epochs.forget_before(20)
    assert [(one.epoch, one.start_offset) for one in epochs.epochs] == [(3, 20), (5, 30)]
    assert epochs.end_of(0, 44) == (0, 20)
