"""Bytes that nobody vouches for: an answer or the module's own errors, in memory that the bytes account for.

KOHORT_FUZZ_CASES says how many; a case is a key and a value, read in all ways there are.
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress

import pytest

from coordinator.store.records import decode_record, encode_record
from tests.support.long import cases
from tests.wire.log.random_records import TYPES_AND_VERSIONS, damaged, random_record
from wire.log.offset_records import OffsetKey, OffsetValue, read_offset_key, read_offset_value
from wire.messages.layout import NO_UUID
from wire.messages.reader import DecodeError
from wire.messages.record_codec import (
    UnknownKeyType,
    decode_key,
    decode_value,
    encode_value,
    json_key,
    json_value,
)

CASES = cases("KOHORT_FUZZ_CASES", 5_000, many=1_000_000)
HONEST = 60
"""Undamaged records of each type and version that the cases start from."""
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
    for key_type, key, value in pool:
        if key_type <= 1:
            _same_offset(key_type, key, value)
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
    if key_type <= 1:
        _same_offset(key_type, key, value)
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


def _same_offset(key_type: int, key: bytes, value: bytes) -> None:
    """The quick way and the schemas agree, in the middle of other bytes and on what is no offset."""
    around = b"\x01" * 40
    middle, end = 40 + len(key), 40 + len(key) + len(value)
    for as_buffer in (bytes, memoryview):
        buffer = as_buffer(around + key + value + around)
        assert _outcome(read_offset_key, buffer, 40, middle) == _outcome(_offset_key, key)
        read_value = _outcome(read_offset_value, buffer, middle, end, key_type)
        assert read_value == _outcome(_offset_value, key_type, value)


def _outcome(read: Callable[..., object], *args: object) -> object:
    try:
        return read(*args)
    except (DecodeError, UnknownKeyType) as error:
        return type(error), str(error)


def _offset_key(key: bytes) -> OffsetKey:
    key_type, fields = decode_key(key)
    if key_type > 1:
        raise DecodeError(f"a key of type {key_type} is not that of an offset")
    return fields["group"], fields["topic"], fields["partition"]


def _offset_value(key_type: int, value: bytes) -> OffsetValue:
    version, fields = decode_value(key_type, value)
    topic_id = fields.get("topicId", NO_UUID)
    return (
        version,
        fields["offset"],
        fields.get("leaderEpoch", -1),
        fields["metadata"],
        fields["commitTimestamp"],
        fields.get("expireTimestamp", -1),
        None if topic_id == NO_UUID else topic_id.bytes,
    )


@pytest.mark.parametrize(("key_type", "version"), TYPES_AND_VERSIONS)
def test_no_announced_length_is_believed(key_type: int, version: int) -> None:
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
