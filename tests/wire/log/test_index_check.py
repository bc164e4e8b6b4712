"""Index files that match their segment pass, of any writer; any bytes end in an answer."""

import random
import struct
from pathlib import Path

import pytest

from tests.coordinator.store.logs import Written
from tests.coordinator.store.real_log import RealLog, segments_of
from tests.support.long import cases
from wire.log.control_records import ControlType
from wire.log.index_check import check_indexes
from wire.log.indexes import INDEX_SUFFIXES, aborted_transactions, write_indexes
from wire.log.segments import read_segment

CASES = cases("KOHORT_FUZZ_CASES", 1_500, many=5_000)


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    log = Written()
    for number in range(100):
        log.batch([(b"key", bytes(200))] * 3, timestamp=1000 + number)
    log.batch([(b"key", b"")], timestamp=2000, transaction_of=7)
    log.end(7, ControlType.ABORT, timestamp=2001)
    path = log.save(tmp_path) / "00000000000000000000.log"
    contents = read_segment(path)
    (aborted,) = aborted_transactions([contents.batches])
    write_indexes(contents, aborted)
    assert all(path.with_suffix(suffix).exists() for suffix in INDEX_SUFFIXES)
    return path


def _faults(path: Path) -> list[str]:
    contents = read_segment(path)
    return [str(check_index) for check_index in check_indexes(path, contents.base_offset, contents.batches)]


def test_our_own_indexes_pass(segment: Path) -> None:
    assert _faults(segment) == []


@pytest.mark.kafka
def test_a_broker_s_indexes_pass(real_log: RealLog) -> None:
    assert [fault for path in segments_of(real_log.data) for fault in _faults(path)] == []


@pytest.mark.kafka
def test_indexes_of_compacted_segments_pass(compacted_log: Path) -> None:
    segments = segments_of(compacted_log)
    assert segments
    assert [fault for path in segments for fault in _faults(path)] == []


def test_an_index_of_several_batches_at_once_passes(segment: Path) -> None:
    batches = read_segment(segment).batches
    entry = struct.pack(">ii", batches[25].last_offset, batches[20].position)
    segment.with_suffix(".index").write_bytes(entry)
    assert _faults(segment) == []


def test_missing_indexes_pass(segment: Path) -> None:
    for suffix in INDEX_SUFFIXES:
        segment.with_suffix(suffix).unlink()
    assert _faults(segment) == []


def test_the_index_of_another_segment_is_found(segment: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    log = Written()
    log.batch([(b"key", bytes(300))], timestamp=1)
    path = log.save(other) / segment.name
    for suffix in INDEX_SUFFIXES:
        path.with_suffix(suffix).write_bytes(segment.with_suffix(suffix).read_bytes())
    assert [fault.partition(", byte 0: ")[0] for fault in _faults(path)] == [
        str(path.with_suffix(suffix)) for suffix in INDEX_SUFFIXES
    ]


def test_an_index_of_an_empty_segment_is_found(segment: Path) -> None:
    segment.write_bytes(b"")
    assert len(_faults(segment)) == len(INDEX_SUFFIXES)


def test_any_bytes_end_in_an_answer(segment: Path) -> None:
    chance = random.Random(4)
    whole = {suffix: segment.with_suffix(suffix).read_bytes() for suffix in INDEX_SUFFIXES}
    read, faults = read_segment(segment), 0
    for _ in range(CASES):
        for suffix, data in whole.items():
            changed = bytearray(data if chance.random() < 0.8 else chance.randbytes(chance.randrange(200)))
            if changed:
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            segment.with_suffix(suffix).write_bytes(changed)
        faults += len(list(check_indexes(segment, read.base_offset, read.batches)))
    assert faults > CASES
