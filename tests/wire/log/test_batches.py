"""Batches one by one: what is read, what is written, what is refused and how it is said."""

from dataclasses import replace
from random import Random

import pytest

from tests.coordinator.store.tampering import sealed, with_field, with_payload
from tests.wire.log.batch_headers import read_batch_headers
from tests.wire.log.random_batches import made_log
from wire.log.batch_header import Batch, Batches
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch, rewrite_batch
from wire.log.compression import MOST_BYTES, Codec
from wire.log.control_records import (
    ControlType,
    MalformedControlRecord,
    control_type,
    control_type_of,
    coordinator_epoch,
)
from wire.log.errors import DamagedLog
from wire.log.log_records import LogRecord, records_of

FILE = "00000000000000000000.log"

SMALLEST = encode_batch([(None, None), (None, None)], base_offset=0, timestamp=5)


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_with_fewer_records_keeps_its_place(codec: Codec) -> None:
    encoded = encode_batch(
        [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")],
        base_offset=10,
        timestamp=5,
        codec=codec,
        producer_id=7,
        producer_epoch=1,
        base_sequence=20,
    )
    batch = _only(encoded)
    records = records_of(batch, encoded)
    assert rewrite_batch(batch, records) == encoded
    kept = rewrite_batch(batch, records[1:2])
    assert records_of(_only(kept), kept) == [
        LogRecord(offset=11, timestamp=5, key=b"b", value=b"2", sequence=21)
    ]
    assert replace(_only(kept), count=3, size=batch.size) == batch
    emptied = rewrite_batch(batch, [])
    assert len(emptied) == 61
    assert replace(_only(emptied), count=3, size=batch.size, base_timestamp=5, attributes=codec) == batch
    assert _only(emptied).codec is Codec.NONE
    assert records_of(_only(emptied), emptied) == []


def test_a_table_of_batches_is_a_sequence() -> None:
    log = made_log(Random(2), 10)
    result = scan(b"".join(made.encoded for made in log), FILE)
    batches = result.batches
    assert isinstance(batches, Batches)
    assert list(batches[2:5]) == list(batches)[2:5]
    assert batches[-1] == list(batches)[-1]
    assert batches.end == len(batches.data)
    assert batches.records == sum(len(made.records) for made in log)
    with pytest.raises(IndexError):
        batches[10]


AT = len(SMALLEST)
NEXT = with_field(SMALLEST, "base_offset", 2)
MANY = (1 << 31) - 1
DAMAGE: list[tuple[bytes, str]] = [
    # Headers that cannot be true, under a right checksum, and another batch behind them.
    *(
        (with_field(NEXT, field, value) + NEXT, said)
        for field, value, said in (
            ("base_offset", -1, "a base offset of -1"),
            ("base_offset", 0, "the base offset 0 is not above the last offset"),
            ("base_offset", 1, "the base offset 1 is not above the last offset"),
            ("last_offset_delta", -1, "a last offset delta of -1"),
            ("last_offset_delta", 0, "2 records on 0 + 1 offsets"),
            ("count", -1, "-1 records"),
            ("count", 3, "3 records on 1 + 1 offsets"),
            ("attributes", 5, "an unknown codec in the attributes 0x0005"),
            ("attributes", 7, "an unknown codec"),
            ("magic", 3, "magic 3, where Kafka writes 2"),
        )
    ),
    (
        with_field(with_field(NEXT, "last_offset_delta", MANY), "count", MANY),
        "2147483647 records do not fit the length 63",
    ),
    # What the checksum does not cover tells too: it is no beginning of what was to follow.
    (with_field(NEXT, "base_offset", 1)[:-1], "a broken batch at offset 1, where 2 or a later one is due"),
    # Lengths that lie.
    *(
        (NEXT[:8] + length.to_bytes(4, "big", signed=True) + NEXT[12:], said)
        for length, said in (
            (48, "a batch length of 48, less"),
            (-1, "a batch length of -1, less"),
            (64, "a batch of 76 bytes, of which only 75 exist"),
            (62, "checksum"),
            (MANY, "a batch of 2147483659 bytes, of which only 75 exist"),
        )
    ),
]


@pytest.mark.parametrize(("bad", "said"), DAMAGE, ids=[said for _, said in DAMAGE])
def test_damage_is_reported_with_its_place(bad: bytes, said: str) -> None:
    batches = read_batch_headers(SMALLEST + bad, FILE)
    assert next(batches).base_offset == 0
    with pytest.raises(DamagedLog) as error:
        next(batches)
    assert said in error.value.reason
    assert (error.value.file, error.value.position) == (FILE, AT)
    assert str(error.value).startswith(f"{FILE}, byte {AT}: ")
    assert len(list(read_batch_headers(SMALLEST + NEXT, FILE))) == 2


PAYLOADS: list[tuple[bytes, str]] = [
    *(
        (with_payload(b"", count=1, codec=codec, compressed=b"\0no such data"), codec.name.lower())
        for codec in Codec
        if codec is not Codec.NONE
    ),
    (with_payload(bytes(7), count=1 << 20, codec=Codec.GZIP), "1048576 records do not fit the 7 bytes"),
    (with_payload(bytes(MOST_BYTES + 1), count=1, codec=Codec.ZSTD), f"expand to more than {MOST_BYTES}"),
]


@pytest.mark.parametrize(("data", "said"), PAYLOADS, ids=[said for _, said in PAYLOADS])
def test_records_that_do_not_decompress(data: bytes, said: str) -> None:
    with pytest.raises(DamagedLog, match=said):
        records_of(_only(data), data)


def test_the_payload_of_an_emptied_batch_is_not_looked_at() -> None:
    for codec in Codec:
        data = with_payload(b"", count=0, last_offset_delta=3, codec=codec, compressed=b"anything")
        assert records_of(_only(data), data) == []


def test_names_of_headers_that_are_not_utf_8() -> None:
    data = with_payload(bytes.fromhex("1200000001010202ff00"), count=1)
    assert records_of(_only(data), data)[0].headers == (("\ufffd", b""),)


def test_control_types_of_the_future_are_unknown() -> None:
    assert control_type_of(bytes.fromhex("0000 0063")) is ControlType.UNKNOWN
    assert control_type_of(bytes.fromhex("0000 ffff")) is ControlType.UNKNOWN
    assert control_type_of(bytes.fromhex("0005 0001 aaaa")) is ControlType.COMMIT


@pytest.mark.parametrize("key", [b"", b"\0\0\0", b"\xff\xff\0\0"])
def test_keys_that_are_no_control_type(key: bytes) -> None:
    with pytest.raises(MalformedControlRecord):
        control_type_of(key)
    with pytest.raises(MalformedControlRecord):
        control_type(LogRecord(offset=0, timestamp=0, key=None, value=None))


@pytest.mark.parametrize("value", [None, b"", bytes(5), b"\xff\xff\0\0\0\0"])
def test_values_without_a_coordinator_epoch(value: bytes | None) -> None:
    with pytest.raises(MalformedControlRecord):
        coordinator_epoch(value)


def _only(data: bytes) -> Batch:
    (batch,) = read_batch_headers(sealed(data), FILE)
    return replace(batch, file="")
