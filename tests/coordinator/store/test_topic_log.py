"""Reading a log while a coordinator appends to it, rolls it and compacts it."""

from pathlib import Path

import pytest

from coordinator.store.cleaner import CompactionSettings
from coordinator.store.log import SegmentLimits
from coordinator.store.log_files import StoredLog
from coordinator.store.topic_log import TopicLog
from tests.coordinator.store.test_disk_full import longest_file
from wire.log.batch_header import ProducerIdentity
from wire.log.batch_scan import scan
from wire.log.errors import StorageFailed
from wire.log.log_records import each_record

PRODUCER = ProducerIdentity(7, 0)


def opened(root: Path, partitions: int = 1) -> TopicLog:
    return TopicLog.open(root, "internal", partitions, SegmentLimits(segment_bytes=300), lambda *_: None)


def read(stored: StoredLog, offset: int = 0) -> list[tuple[int, bytes | None]]:
    records: list[tuple[int, bytes | None]] = []
    while offset < stored.log.end_offset:
        batches = stored.log.read(offset, 1, stored.log.end_offset, at_least_one=True)
        if not batches.data:
            break
        for batch in scan(batches.data, "read").batches:
            records += [(one.offset, one.value) for one in each_record(batch, batches.data)]
        offset = batches.end
    return records


def compact(stored: StoredLog) -> bool:
    work = stored.compaction.begin(CompactionSettings(), now_ms=2000)
    if work is None:
        return False
    work.run(lambda call: call(), lambda: False)
    stored.compaction.end(work)
    return True


def test_what_is_appended_is_read_through_segments_and_compactions(tmp_path: Path) -> None:
    topic = opened(tmp_path)
    stored = topic.stored(0)
    assert read(stored) == []
    expected: list[tuple[int, bytes]] = []
    for number in range(60):
        value = b"value %d" % number
        topic.append({0: [(b"key %d" % (number % 3), value)]}, now_ms=1000 + number)
        expected.append((number, value))
        if number % 20 == 19:
            active = stored.log.active
            assert active > 0
            assert compact(stored)
            closed = {value[0] % 3: value for value in expected if value[0] < active}
            expected = sorted(closed.values()) + [one for one in expected if one[0] >= active]
        assert read(stored) == expected
        assert stored.log.end_offset == number + 1
    assert not compact(stored)
    assert [one for one in expected if one[0] >= 50] == read(stored, 50)
    assert stored.log.size == sum(path.stat().st_size for path in tmp_path.glob("*/*.log"))
    topic.abandon()
    assert read(opened(tmp_path).stored(0)) == expected


def test_a_batch_that_is_taken_back_is_not_read(tmp_path: Path) -> None:
    topic = opened(tmp_path, partitions=2)
    expected = []
    with longest_file(350):
        for number in range(8):
            topic.append({0: [(b"key", b"%d" % number)]}, now_ms=1000)
            expected.append((number, b"%d" % number))
            with pytest.raises(StorageFailed, match="internal-1"):
                topic.append({0: [(b"key", b"lost")], 1: [(b"key", bytes(400))]}, now_ms=1000)
            assert read(topic.stored(0)) == expected
    topic.abandon()
    assert read(opened(tmp_path).stored(0)) == expected


@pytest.mark.parametrize("committed", [True, False])
def test_transactions_are_open_until_their_end(tmp_path: Path, *, committed: bool) -> None:
    topic = opened(tmp_path)
    topic.append({0: [(b"key", b"plain")]}, now_ms=1000)
    topic.append({0: [(b"key", b"in it")]}, 1000, PRODUCER)
    for again in (topic, opened(tmp_path)):
        stored = again.stored(0)
        assert stored.producers.last_stable_offset(stored.log.end_offset) == 1
    topic.end_transaction(PRODUCER, [0], 1000, committed=committed)
    for again in (topic, opened(tmp_path)):
        stored = again.stored(0)
        assert stored.producers.last_stable_offset(stored.log.end_offset) == 3
        assert [one.producer_id for one in stored.producers.aborted(0, 3)] == ([] if committed else [7])
