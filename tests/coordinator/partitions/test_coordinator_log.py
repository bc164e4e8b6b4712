"""Reading a log while a coordinator appends to it, rolls it and compacts it."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from coordinator.partitions.coordinator_log import CoordinatorLog
from coordinator.store.cleaner import CompactionSettings, compact
from coordinator.store.log import PartitionLog, SegmentLimits, prepare
from wire.log.batch_header import ProducerIdentity
from wire.log.batch_scan import scan
from wire.log.control_records import ControlType, end_of_transaction
from wire.log.log_records import each_record

SMALL = SegmentLimits(segment_bytes=300)


def read(log: CoordinatorLog, offset: int = 0) -> list[tuple[int, bytes | None]]:
    """Offsets and values from an offset to the end of the log, as fetches would give them."""
    log.catch_up()
    found: list[tuple[int, bytes | None]] = []
    while offset < log.end_offset:
        read = log.read(offset, 1, log.end_offset, at_least_one=True)
        if not read.data:
            break
        for batch in scan(read.data, "read").batches:
            found += [(one.offset, one.value) for one in each_record(batch, read.data)]
        offset = read.end
    return found


@pytest.fixture
def writer(tmp_path: Path) -> PartitionLog:
    prepare(tmp_path, uuid4())
    log, _ = PartitionLog.open(tmp_path, SMALL)
    return log


def test_what_is_appended_is_read_through_segments_and_compactions(
    tmp_path: Path, writer: PartitionLog
) -> None:
    late, seen = CoordinatorLog(tmp_path), CoordinatorLog(tmp_path)
    assert read(seen) == []
    expected: list[tuple[int, bytes]] = []
    first_dirty = 0
    for number in range(60):
        value = b"value %d" % number
        writer.append([(b"key %d" % (number % 3), value)], now_ms=1000 + number)
        expected.append((number, value))
        if number % 20 == 19:
            assert writer.active > 0
            first_dirty = compact(
                tmp_path, CompactionSettings(), first_dirty=first_dirty, active=writer.active, now_ms=2000
            )
            closed = {value[0] % 3: value for value in expected if value[0] < writer.active}
            expected = sorted(closed.values()) + [one for one in expected if one[0] >= writer.active]
        assert read(seen) == expected
        assert seen.end_offset == number + 1
    assert read(late) == expected
    assert [one for one in expected if one[0] >= 50] == read(seen, 50)
    assert late.size == seen.size == sum(path.stat().st_size for path in tmp_path.glob("*.log"))
    writer.abandon()


def test_a_segment_that_is_replaced_before_it_is_read_gives_an_error(
    tmp_path: Path, writer: PartitionLog
) -> None:
    log = CoordinatorLog(tmp_path)
    for number in range(20):
        writer.append([(b"key", b"value %d" % number)], now_ms=1000)
    log.catch_up()
    compact(tmp_path, CompactionSettings(), first_dirty=0, active=writer.active, now_ms=2000)
    with pytest.raises(OSError, match="compacted"):
        log.read(0, 100, log.end_offset, at_least_one=True)
    assert read(log)[-1] == (19, b"value 19")
    writer.abandon()


@pytest.mark.parametrize("committed", [True, False])
def test_transactions_are_open_until_their_end(
    tmp_path: Path, writer: PartitionLog, *, committed: bool
) -> None:
    log, producer = CoordinatorLog(tmp_path), ProducerIdentity(7, 0)
    writer.append([(b"key", b"plain")], now_ms=1000)
    writer.append([(b"key", b"in it")], 1000, producer)
    log.catch_up()
    assert log.producers.last_stable_offset(log.end_offset) == 1
    kind = ControlType.COMMIT if committed else ControlType.ABORT
    writer.append([end_of_transaction(kind, epoch=0)], 1000, producer, control=True)
    log.catch_up()
    log.catch_up()
    assert log.producers.last_stable_offset(log.end_offset) == 3
    assert [one.producer_id for one in log.producers.aborted(0, 3)] == ([] if committed else [7])
    writer.abandon()
