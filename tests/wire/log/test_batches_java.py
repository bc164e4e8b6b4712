"""Kafka's own classes and this reader and writer, on the same batches."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.coordinator.store.tampering import with_payload
from tests.wire.log.batch_headers import read_batch_headers
from tests.wire.log.java_batches import JavaBatches, JavaRefused, as_json, shown
from tests.wire.log.random_batches import NOW_MS, Made, made_batch, made_log
from tests.wire.log.test_columns import LIES
from wire.log.batch_header import LOG_APPEND_TIME, TRANSACTIONAL, Batch
from wire.log.batch_writer import encode_batch, rewrite_batch
from wire.log.compression import Codec
from wire.log.control_records import ControlType, control_type, coordinator_epoch, end_of_transaction
from wire.log.errors import DamagedLog
from wire.log.log_records import LogRecord, records_of

pytestmark = pytest.mark.kafka

PLACE: dict[str, Any] = {
    "base_offset": 5, "timestamp": NOW_MS, "leader_epoch": 4, "producer_id": 9, "producer_epoch": 2,
}  # fmt: skip
"""As both sides name it."""
EMPTIED = {"kind": "emptied", "last_offset_delta": 7, "base_sequence": 3, "transactional": True}


@pytest.mark.parametrize("seed", range(20))
def test_batches_of_java_are_read_correctly(java: JavaBatches, seed: int) -> None:
    log = [made for made in made_log(Random(seed), 40) if made.records and not made.batch.is_control]
    data = java.write([as_json(made) for made in log])
    assert [(batch, records_of(batch, data)) for batch in _placed(data)] == [
        (replace(made.batch, position=batch.position, size=batch.size, file="f"), made.records)
        for made, batch in zip(log, _placed(data), strict=True)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_java_reads_our_batches_correctly(java: JavaBatches, seed: int) -> None:
    log = made_log(Random(1000 + seed), 40)
    read = java.read(b"".join(made.encoded for made in log))
    for batch in read:
        for record in batch["records"]:
            record.pop("type", None)
            record.pop("coordinator_epoch", None)
    assert read == [shown(made) for made in log]


@pytest.mark.parametrize("seed", range(20))
def test_uncompressed_batches_are_the_same_bytes(java: JavaBatches, seed: int) -> None:
    rng = Random(2000 + seed)
    made = [made_batch(rng, 1000 * index) for index in range(60)]
    log = [case for case in made if case.records and case.batch.codec is Codec.NONE]
    assert b"".join(case.encoded for case in log) == java.write([as_json(case) for case in log])


@pytest.mark.parametrize("codec", Codec)
def test_what_a_coordinator_would_append(java: JavaBatches, codec: Codec) -> None:
    records = [(b"key", b"value"), (b"gone", None), (None, b"")]
    same: dict[str, Any] = {
        "base_offset": 7, "leader_epoch": 3, "producer_id": 9, "producer_epoch": 2, "base_sequence": (1 << 31) - 2,
    }  # fmt: skip
    encoded = encode_batch(
        records, **same, timestamp=NOW_MS, codec=codec, log_append_time=True, transactional=True
    )
    batch = Batch(
        **same,
        attributes=codec | LOG_APPEND_TIME | TRANSACTIONAL,
        last_offset_delta=2,
        base_timestamp=NOW_MS,
        max_timestamp=NOW_MS,
        count=3,
        position=0,
        size=len(encoded),
    )
    expected = [
        LogRecord(offset=7 + index, timestamp=NOW_MS, key=key, value=value, sequence=sequence)
        for index, ((key, value), sequence) in enumerate(
            zip(records, ((1 << 31) - 2, (1 << 31) - 1, 0), strict=True)
        )
    ]
    assert java.read(encoded) == [shown(Made(batch=batch, records=expected, encoded=encoded))]


@pytest.mark.parametrize("kind", [ControlType.ABORT, ControlType.COMMIT])
def test_marks_of_transactions_are_the_same_bytes(java: JavaBatches, kind: ControlType) -> None:
    key, value = end_of_transaction(kind, 12)
    encoded = encode_batch([(key, value)], **PLACE, transactional=True, control=True)
    asked = {"kind": "end of transaction", "type": kind.name, "coordinator_epoch": 12, **PLACE}
    assert java.write([asked]) == encoded
    (read,) = java.read(encoded)[0]["records"]
    assert (read["type"], read["coordinator_epoch"]) == (kind.name, 12)
    (batch,) = read_batch_headers(encoded, "f")
    (record,) = records_of(batch, encoded)
    assert control_type(record) is kind
    assert coordinator_epoch(record.value) == 12


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("leader change", ControlType.LEADER_CHANGE),
        ("snapshot header", ControlType.SNAPSHOT_HEADER),
        ("snapshot footer", ControlType.SNAPSHOT_FOOTER),
        ("KRaft version", ControlType.KRAFT_VERSION),
        ("KRaft voters", ControlType.KRAFT_VOTERS),
    ],
)
def test_marks_of_the_metadata_quorum_are_known(java: JavaBatches, kind: str, expected: ControlType) -> None:
    data = java.write([{"kind": kind, "base_offset": 5, "timestamp": NOW_MS, "leader_epoch": 4}])
    (batch,) = read_batch_headers(data, "f")
    (record,) = records_of(batch, data)
    assert batch.is_control
    assert control_type(record) is expected


def test_a_batch_that_compaction_emptied(java: JavaBatches) -> None:
    data = java.write([EMPTIED | PLACE])
    (batch,) = read_batch_headers(data, "f")
    assert (batch.count, batch.base_offset, batch.last_offset, batch.last_sequence) == (0, 5, 12, 10)
    assert (batch.producer_id, batch.producer_epoch, batch.is_transactional) == (9, 2, True)
    assert records_of(batch, data) == []
    records = [(b"k", b"v")] * 8
    before = encode_batch(records, **PLACE, codec=Codec.GZIP, base_sequence=3, transactional=True)
    assert rewrite_batch(_placed(before)[0], []) == data


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_older_formats_are_refused_and_named(java: JavaBatches, magic: int, codec: str) -> None:
    records = [{"offset": 9, "timestamp": NOW_MS, "key": "YQ==", "value": "Yg=="}]
    of = {"kind": "records", "magic": magic, "codec": codec, "base_offset": 9, "leader_epoch": -1}
    good = encode_batch([(b"k", b"v")], base_offset=0, timestamp=0)
    for before in (b"", good):
        data = before + java.write([of | {"records": records}])
        with pytest.raises(DamagedLog, match=f"format v{magic}") as error:
            list(read_batch_headers(data, "f"))
        assert error.value.position == len(before)


@pytest.mark.parametrize("lie", LIES)
def test_java_refuses_the_same_lies(java: JavaBatches, lie: str) -> None:
    data = with_payload(bytes.fromhex(LIES[lie]), count=2)
    if "an offset" in lie:
        assert java.read(data)
    else:
        with pytest.raises(JavaRefused):
            java.read(data)


def _placed(data: bytes) -> list[Batch]:
    return list(read_batch_headers(data, "f"))
