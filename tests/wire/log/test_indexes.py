"""Index files: the bytes that a broker's recovery of the same segment writes."""

import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.coordinator.store.tampering import with_field
from tests.wire.log.java_batches import JavaBatches
from tests.wire.log.random_batches import made_log
from wire.log.batch_header import CONTROL
from wire.log.batch_writer import encode_batch
from wire.log.control_records import ControlType, end_of_transaction
from wire.log.indexes import INDEX_SUFFIXES, aborted_transactions, write_indexes
from wire.log.segments import Segment, read_segment, segment_name


def test_small_and_empty_segments_have_empty_indexes(tmp_path: Path) -> None:
    segment = _segment(tmp_path, 9, b"")
    write_indexes(segment)
    assert [_index(segment, suffix) for suffix in INDEX_SUFFIXES] == [b"", b"", None]


def test_indexes_of_a_segment_that_is_not_in_its_place_yet(tmp_path: Path) -> None:
    path = tmp_path / f"{segment_name(0)}.cleaned"
    path.write_bytes(encode_batch([(b"k", b"v")], base_offset=0, timestamp=5))
    write_indexes(read_segment(path))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"{0:020d}.index.cleaned",
        f"{0:020d}.log.cleaned",
        f"{0:020d}.timeindex.cleaned",
    ]


def test_old_indexes_are_replaced(tmp_path: Path) -> None:
    segment = _segment(tmp_path, 0, encode_batch([(b"k", b"v")], base_offset=0, timestamp=5))
    for suffix in INDEX_SUFFIXES:
        segment.path.with_suffix(suffix).write_bytes(b"old")
    write_indexes(segment)
    assert [_index(segment, suffix) for suffix in INDEX_SUFFIXES] == [b"", struct.pack(">qi", 5, 0), None]


def test_other_control_batches_end_no_transaction(tmp_path: Path) -> None:
    unknown = encode_batch(
        [(bytes.fromhex("00000004"), b"")], base_offset=1, timestamp=0, producer_id=1, control=True
    )
    short = encode_batch([(b"\0", b"")], base_offset=2, timestamp=0, producer_id=1, control=True)
    emptied = with_field(short[:61], "count", 0)
    emptied = with_field(emptied, "base_offset", 3)
    assert unknown[22] & CONTROL
    segment = _segment(tmp_path, 0, _data(0, 1) + unknown + short + emptied + _mark(4, 1, ControlType.ABORT))
    ((transaction,),) = aborted_transactions([segment.batches])
    assert (transaction.first_offset, transaction.last_offset) == (0, 4)


@pytest.mark.kafka
@pytest.mark.parametrize("seed", range(12))
def test_recovery_by_kafka_writes_the_same_bytes(tmp_path: Path, java: JavaBatches, seed: int) -> None:
    rng = Random(seed)
    start = rng.choice([0, 5_000_000_000])
    content = b"".join(_transactions(rng, start)) if seed % 2 else _plain(rng, start)
    tail = [
        b"",
        b"\x00\x01",
        bytes(100),
        encode_batch([(b"k", b"v")], base_offset=1 << 40, timestamp=0)[:-1],
    ][seed % 4]
    segment = _segment(tmp_path, start, content + tail)
    write_indexes(segment, next(aborted_transactions([segment.batches])))
    ours = {suffix: _index(segment, suffix) for suffix in INDEX_SUFFIXES}
    assert java.recover(tmp_path, start) == len(tail)
    theirs = {suffix: _index(segment, suffix) for suffix in INDEX_SUFFIXES}
    assert ours == theirs
    assert segment.path.read_bytes() == content
    assert seed % 2 == 0 or theirs[".txnindex"]


def _plain(rng: Random, start: int) -> bytes:
    log = made_log(rng, 300, start=start, most_records=8)
    return b"".join(
        made.encoded
        for made in log
        if made.batch.producer_id < 0 and made.records and not made.batch.is_control
    )


def _transactions(rng: Random, start: int) -> Iterator[bytes]:
    began: dict[int, int] = {}
    for offset in range(start, start + 400):
        producer = rng.randrange(5)
        if producer in began and rng.random() < 0.4:
            del began[producer]
            yield _mark(offset, producer, rng.choice([ControlType.ABORT, ControlType.COMMIT]))
        else:
            began.setdefault(producer, offset)
            yield _data(offset, producer)


def _data(offset: int, producer: int) -> bytes:
    timestamp = 1000 + offset * 7 % 100
    return _of(producer, (b"key", bytes(100)), base_offset=offset, timestamp=timestamp, base_sequence=0)


def _mark(offset: int, producer: int, kind: ControlType) -> bytes:
    mark = end_of_transaction(kind, 0)
    return _of(producer, mark, base_offset=offset, timestamp=1000 + offset, control=True)


def _of(producer: int, record: tuple[bytes, bytes], **fields: Any) -> bytes:
    return encode_batch([record], producer_id=producer, producer_epoch=0, transactional=True, **fields)


def _segment(directory: Path, base_offset: int, content: bytes) -> Segment:
    path = directory / segment_name(base_offset)
    path.write_bytes(content)
    return read_segment(path)


def _index(segment: Segment, suffix: str) -> bytes | None:
    path = segment.path.with_suffix(suffix)
    return path.read_bytes() if path.exists() else None
