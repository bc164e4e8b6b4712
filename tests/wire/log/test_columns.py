"""Whole segments at once: the same as record by record, and as strict."""

from contextlib import suppress
from random import Random

import pytest

from tests.coordinator.store.tampering import with_payload
from tests.wire.log.random_batches import made_log
from tests.wire.log.readers import by_columns, one_by_one, plain
from wire.log import columns
from wire.log.batch_header import Batches
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.columns import columns_of, times_from
from wire.log.compression import Codec
from wire.log.errors import DamagedLog
from wire.log.log_records import records_of

FILE = "00000000000000000000.log"


@pytest.fixture(params=[1, 1 << 40], ids=["abreast", "one after the other"], autouse=True)
def walk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_LEAST_ABREAST", request.param)


@pytest.mark.parametrize("seed", range(30))
def test_the_same_as_record_by_record(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    monkeypatch.setattr(columns, "_CHUNK_BYTES", rng.choice([1, 1000, 30_000, 4 << 20]))
    monkeypatch.setattr(columns, "_MOST_RECORDS", rng.choice([1, 7, 1 << 20]))
    log = made_log(rng, 60)
    batches = _batches(b"".join(made.encoded for made in log))
    assert by_columns(batches) == [
        (index, plain(record)) for index, made in enumerate(log) for record in made.records
    ]
    assert by_columns(batches) == one_by_one(batches)


@pytest.mark.parametrize("seed", range(3))
def test_times_of_the_first_records_from_offsets_on(seed: int) -> None:
    rng = Random(seed)
    for made in made_log(rng, 30):
        (batch,) = _batches(made.encoded)
        offsets = sorted(rng.choices(range(batch.base_offset - 2, batch.last_offset + 1), k=5))
        records = [(record.offset, record.timestamp) for record in records_of(batch, made.encoded)]
        rest = ([record for record in records if record[0] >= offset] for offset in offsets)
        assert [*times_from(offsets, batch, made.encoded)] == [first for first, *_ in filter(None, rest)]


@pytest.mark.parametrize("value", [0, 46, 47, 110, 111, 8_000, 8_150, 20_000])
def test_batches_of_many_lengths_are_walked_alike(value: int) -> None:
    data, offset = b"", 0
    for number in range(40):
        records = [(b"k", bytes(value + index % 3)) for index in range(number % 7 + 1)]
        data += encode_batch(records, base_offset=offset, timestamp=number)
        offset += len(records)
    batches = _batches(data)
    assert len(batches) == 40
    assert by_columns(batches) == one_by_one(batches)


def test_uncompressed_batches_use_the_bytes_of_the_file() -> None:
    data = b"".join(encode_batch([(b"k", b"v")] * 3, base_offset=3 * i, timestamp=i) for i in range(10))
    (chunk,) = columns_of(_batches(data))
    assert chunk.data is data
    assert len(chunk) == 30


def test_chunks_are_of_bounded_size() -> None:
    batch = encode_batch([(b"k", bytes(1 << 20))], base_offset=0, timestamp=0, codec=Codec.GZIP)
    size = len(batch)
    data = b"".join(
        encode_batch([(b"k", bytes(1 << 20))], base_offset=i, timestamp=0, codec=Codec.GZIP)
        for i in range(20)
    )
    assert len(data) == 20 * size
    sizes = [len(chunk.data) for chunk in columns_of(_batches(data))]
    assert max(sizes) < 6 << 20
    assert sum(sizes) > 20 << 20


# Payloads of two records of seven bytes each, with a lie in it.
GOOD = bytes.fromhex("0c0000000101000c000002010100")
LIES = {
    "a record that is too long": "0c0000000101000e000002010100",
    "a record that is too short": "0c0000000101000a000002010100",
    "the first one too long": "0e0000000101000c000002010100",
    "a negative length": "0c00000001010001000002010100",
    "a length without an end": "0c000000010100ffffffffffff7f",
    "a key over the end of the record": "0c0000001401000c000002010100",
    "a key over the end of the file": "0c0000000101000c00000214ff7f",
    "a huge key": "14000000feffffff0f01000c000002010100",
    "a value over the end": "0c0000000114000c000002010100",
    "headers that are not there": "0c0000000101020c000002010100",
    "a negative number of headers": "0c0000000101010c000002010100",
    "a header without a key": "1000000001010201010c000002010100",
    "a header's key over the end": "1000000001010208010c000002010100",
    "a header's value over the end": "1000000001010200080c000002010100",
    "a byte behind the headers": "0e000000010100000c000002010100",
    "an offset twice": "0c0000000101000c000000010100",
    "an offset that goes back": "0c0000020101000c000000010100",
    "an offset below the batch": "0c0000010101000c000002010100",
    "an offset behind the batch": "0c0000000101000c000004010100",
    "a timestamp without an end": "2000ffffffffffffffffff8000000101000c000002010100",
    "a byte behind the last record": "0c0000000101000c00000201010000",
}


def test_the_payload_that_is_lied_about_is_good() -> None:
    batches = _batches(with_payload(GOOD, count=2))
    assert [record for _, record in by_columns(batches)] == [(0, 5, None, None), (1, 5, None, None)]


@pytest.mark.parametrize(("codec", "most"), [(Codec.NONE, 1 << 20), (Codec.ZSTD, 1 << 20), (Codec.NONE, 1)])
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_and_named(lie: str, codec: Codec, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_MOST_RECORDS", most)
    good = encode_batch([(b"k", b"v")] * 2, base_offset=0, timestamp=5)
    data = good + with_payload(bytes.fromhex(LIES[lie]), count=2, base_offset=2, codec=codec)
    batches = _batches(data)
    with pytest.raises(DamagedLog) as plain:
        one_by_one(batches)
    with pytest.raises(DamagedLog) as fast:
        by_columns(batches)
    assert str(fast.value) == str(plain.value)
    assert fast.value.position == len(good)
    assert fast.value.file == FILE
    assert "record" in fast.value.reason


@pytest.mark.parametrize("lie", LIES)
def test_times_of_a_lie_are_refused_or_of_its_offsets(lie: str) -> None:
    data = with_payload(bytes.fromhex(LIES[lie]), count=2)
    with suppress(DamagedLog):
        offsets = [offset for offset, _ in times_from([0, 1], _batches(data)[0], data)]
        assert offsets == sorted(offsets)
        assert set(offsets) <= {0, 1}


def test_the_first_of_two_lies_is_named() -> None:
    first = with_payload(bytes.fromhex(LIES["an offset twice"]), count=2)
    second = with_payload(bytes.fromhex(LIES["a record that is too long"]), count=2, base_offset=2)
    with pytest.raises(DamagedLog) as error:
        by_columns(_batches(first + second))
    assert error.value.position == 0


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_records_than_announced(count: int) -> None:
    batches = _batches(with_payload(GOOD + bytes(7), count=count, last_offset_delta=9))
    with pytest.raises(DamagedLog):
        by_columns(batches)
    with pytest.raises(DamagedLog):
        one_by_one(batches)


def _batches(data: bytes) -> Batches:
    result = scan(data, FILE)
    assert result.fault is None
    return result.batches
