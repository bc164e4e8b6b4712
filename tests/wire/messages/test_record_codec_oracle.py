"""Our reading and writing of records compared with Kafka's own, record by record, byte by byte."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.wire.log import records_oracle
from tests.wire.log.random_records import (
    TYPES_AND_VERSIONS,
    damaged,
    random_key,
    random_records,
    random_value,
)
from tests.wire.log.records_oracle import Bytes, Dumped
from wire.messages.reader import DecodeError
from wire.messages.record_codec import (
    RECORD_TYPES,
    UnknownKeyType,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    json_key,
    json_value,
    message_json,
)

pytestmark = pytest.mark.kafka

PIECES_OF_TEXT = [
    bytes([byte]) for byte in b"a\x80\x8f\x90\x9f\xa0\xbf\xc0\xc2\xe0\xed\xef\xf0\xf4\xf5\xff"
] + [b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xf0\x9f\x98", b"\xf0\x9f\x98\x80", b"\xe2\x82"]


def test_the_record_types_and_their_versions_are_kafkas(kafka_jars: Path) -> None:
    ours = {
        kind.id: {"key": kind.key.name, "value": kind.value.name, "oldest": 0, "newest": kind.value.newest}
        for kind in RECORD_TYPES.values()
    }
    assert ours == records_oracle.record_types(kafka_jars)


def test_the_dump_tool_reads_what_we_write_and_prints_what_we_print(kafka_jars: Path) -> None:
    records = list(random_records(seed=1, count=40, tags=True))
    said = records_oracle.dump(kafka_jars, [(key, value) for *_, key, value in records])
    for (key_type, version, key, value), dumped in zip(records, said, strict=True):
        assert _parsed(dumped.key) == _ordered(json_key(key)), (key_type, version)
        assert _parsed(dumped.payload) == _ordered(json_value(key_type, value)), (key_type, version)
        assert dumped.rewritten == (key, value), (key_type, version)


def test_kafka_writes_the_same_bytes_for_the_same_fields(kafka_jars: Path) -> None:
    rng = random.Random(2)
    asked, ours = [], []
    for key_type, version in TYPES_AND_VERSIONS * 40:
        key, value = random_key(rng, key_type), random_value(rng, key_type, version)
        known = RECORD_TYPES[key_type]
        shown = message_json(known.key, 0)(key), message_json(known.value, version)(value)
        asked.append((key_type, shown[0], version, shown[1]))
        ours.append((encode_key(key_type, key), encode_value(key_type, version, value)))
    for question, mine, kafkas in zip(asked, ours, records_oracle.encode(kafka_jars, asked), strict=True):
        assert mine == kafkas, question


def test_tombstones_unknown_types_and_broken_records(kafka_jars: Path) -> None:
    key = encode_key(2, {"group": "g"})
    records: list[Bytes] = [
        (key, None),
        (b"\0\x63", None),
        (b"\xff\xff", b""),
        (b"\0", None),
        (key, b"\0\x09"),
        (key, b"\0\1\2"),
    ]
    assert [(record.key, record.payload) for record in records_oracle.dump(kafka_jars, records)] == [
        ('{"type":"2","data":{"group":"g"}}', "<DELETE>"),
        ("Unknown record type 99 at offset 0, skipping.", None),
        ("Unknown record type -1 at offset 0, skipping.", None),
        ("Error at offset 0, skipping. Could not read version from key's buffer.", None),
        ("Error at offset 0, skipping. Found an unknown record version 9 for 2 type", None),
        (
            "Error at offset 0, skipping. Could not read record with version 1 from value's buffer due to: null.",
            None,
        ),
    ]
    assert [_ours(record) for record in records] == [
        (_ordered({"type": "2", "data": {"group": "g"}}), None, (key, None)),
        99,
        -1,
        None,
        None,
        None,
    ]


def test_we_read_of_damaged_records_what_kafka_reads(kafka_jars: Path) -> None:
    rng = random.Random(3)
    records: list[Bytes] = []
    for *_, key, value in random_records(seed=3, count=100, tags=True):
        records.append((damaged(rng, key) if rng.random() < 0.3 else key, damaged(rng, value)))
        records.append((key, damaged(rng, damaged(rng, value))))
    read = 0
    for record, dumped in zip(records, records_oracle.dump(kafka_jars, records), strict=True):
        read += dumped.is_read
        assert _matches(_ours(record), dumped), (record, dumped)
    assert len(records) // 10 < read < len(records) // 2


def test_broken_text_is_replaced_as_java_does(kafka_jars: Path) -> None:
    rng = random.Random(4)
    texts = [b"".join(rng.choices(PIECES_OF_TEXT, k=rng.randrange(1, 9))) for _ in range(20_000)]
    keys = [b"\0\2" + len(text).to_bytes(2, "big") + text for text in texts]
    for key, dumped in zip(keys, records_oracle.dump(kafka_jars, [(key, None) for key in keys]), strict=True):
        assert _parsed(dumped.key) == _ordered(json_key(key)), key


def _ours(record: Bytes) -> Any:
    key, value = record
    try:
        key_type, key_fields = decode_key(key)
        if value is None:
            return _ordered(json_key(key)), None, (encode_key(key_type, key_fields), None)
        version, fields = decode_value(key_type, value)
        shown = _ordered(json_key(key)), _ordered(json_value(key_type, value))
    except UnknownKeyType as error:
        return error.key_type
    except DecodeError:
        return None
    try:
        return *shown, (encode_key(key_type, key_fields), encode_value(key_type, version, fields))
    except ValueError:
        return *shown, None  # broken text has become too long by being replaced


def _matches(ours: Any, dumped: Dumped) -> bool:
    if not dumped.is_read:
        unknown = f"Unknown record type {ours} at offset 0, skipping."
        return dumped.key == unknown if isinstance(ours, int) else ours is None
    key, payload, rewritten = ours
    # What Kafka reads it cannot always write: the tags of damaged fields need not ascend.
    same_bytes = dumped.rewritten is None or rewritten == dumped.rewritten
    return key == _parsed(dumped.key) and payload == _parsed(dumped.payload) and same_bytes


def _parsed(text: str | None) -> Any:
    """JSON with the order of its keys."""
    assert text is not None
    return json.loads(text, object_pairs_hook=list)


def _ordered(value: Any) -> Any:
    return _parsed(json.dumps(value))
