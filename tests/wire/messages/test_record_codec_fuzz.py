"""Untrusted bytes: an answer or the module's own errors, in memory bounded by the bytes. KOHORT_FUZZ_CASES says how
many."""

import random
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest

from coordinator.store.records import decode_record, encode_record
from tests.support.long import cases
from tests.wire.log.random_records import TYPES_AND_VERSIONS, damaged, random_record
from wire.java_text import JAVA
from wire.log.offset_columns import NO_TOPIC_ID, read_offset_value, read_offset_values
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType, decode_value, encode_value, json_key, json_value

CASES = cases("KOHORT_FUZZ_CASES", 2_500, many=1_000_000)
HONEST = 60  # undamaged records of each type and version that the cases start from
AROUND = b"\x01" * 40
LYING_LENGTHS = (
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\x7f",
    b"\x7f\xff\xff\xff",
    b"\x7f\xff",
    b"\xff\xff\x01",
)


def test_nothing_but_our_errors_escapes() -> None:
    rng = random.Random(5)
    pool = [
        (key_type, *random_record(rng, key_type, version, tags=True))
        for key_type, version in TYPES_AND_VERSIONS
        for _ in range(HONEST)
    ]
    for key_type, _, value in pool:
        if key_type == 1:
            _same_offset(value)
    read = 0
    for _ in range(CASES):
        key_type, key, value = rng.choice(pool)
        key = damaged(rng, key) if rng.random() < 0.2 else key
        value = damaged(rng, value)
        with suppress(DecodeError, UnknownKeyType):
            _read_in_all_ways(key_type, key, value)
            read += 1
    assert CASES // 10 < read < CASES


def _read_in_all_ways(key_type: int, key: bytes, value: bytes) -> None:
    if key_type == 1:
        _same_offset(value)
    decode_record(key, None)
    json_key(key)
    json_value(key_type, value)
    version, fields = decode_value(key_type, value)
    record = decode_record(key, value)
    try:
        again = encode_value(key_type, version, fields)
        written = encode_record(record)
    except ValueError:
        return  # broken text grows when it is replaced, and is too long then
    assert decode_value(key_type, again) == (version, fields)
    settled = decode_record(*written)
    assert encode_record(settled) == written


def _same_offset(value: bytes) -> None:
    """What is read with many others says what the schema says, in the middle of other bytes."""
    octets = np.frombuffer(AROUND + value + AROUND, dtype=np.uint8)
    start = np.array([len(AROUND)])
    table = read_offset_values(octets, start, start + len(value))
    if table.quick[0]:
        try:
            version, offset, epoch, metadata, commit_ms, _, topic_id = read_offset_value(value)
        except DecodeError as error:
            raise AssertionError(value) from error
        note = octets[table.metadata_start[0] : table.metadata_end[0]].tobytes().decode("utf-8", JAVA)
        id_start = int(table.id_start[0])
        id_read = None if id_start == NO_TOPIC_ID else octets[id_start : id_start + 16].tobytes()
        numbers = tuple(
            int(column[0]) for column in (table.version, table.offset, table.leader_epoch, table.commit_ms)
        )
        assert (*numbers, note, id_read) == (version, offset, epoch, commit_ms, metadata, topic_id)


@pytest.mark.parametrize(("key_type", "version"), TYPES_AND_VERSIONS)
def test_no_announced_length_is_trusted(key_type: int, version: int) -> None:
    rng = random.Random(6)
    worst = 0
    tracemalloc.start()
    try:
        for _ in range(5):
            _, value = random_record(rng, key_type, version, tags=True)
            for at in range(2, min(len(value), 60)):
                for lie in LYING_LENGTHS:
                    tracemalloc.reset_peak()
                    before, _ = tracemalloc.get_traced_memory()
                    with suppress(DecodeError):
                        decode_value(key_type, value[:at] + lie + value[at:])
                    worst = max(worst, (tracemalloc.get_traced_memory()[1] - before) // (len(value) + 100))
    finally:
        tracemalloc.stop()
    assert worst < 200, f"{worst} bytes of memory for a byte read"
