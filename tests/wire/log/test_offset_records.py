"""The quick way through committed offsets, by hand. That it says what the schemas say: see the fuzz."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from wire.log.offset_records import key_type, read_offset_key, read_offset_value
from wire.messages.reader import UNKNOWN_TAGS, DecodeError
from wire.messages.record_codec import UnknownKeyType, encode_key, encode_value

TOPIC = UUID(int=0x0102030405060708090A0B0C0D0E0F10)
KEY = {"group": "g", "topic": "t", "partition": 7}
VALUE = {"offset": 5, "leaderEpoch": 2, "metadata": "", "commitTimestamp": 9}


@pytest.mark.parametrize(
    ("fields", "topic_id"),
    [
        ({}, None),
        ({"topicId": TOPIC}, TOPIC.bytes),
        ({UNKNOWN_TAGS: [(5, b"abcdefghijklmnopqrstuvwxyz")]}, None),
        ({"topicId": TOPIC, UNKNOWN_TAGS: [(5, b"")]}, TOPIC.bytes),
    ],
)
def test_tagged_fields_of_version_4(fields: dict[str, Any], topic_id: bytes | None) -> None:
    value = encode_value(1, 4, {**VALUE, **fields})
    assert read_offset_value(value, 0, len(value)) == (4, 5, 2, "", 9, -1, topic_id)


@pytest.mark.parametrize("version", range(5))
def test_a_value_that_the_bytes_behind_it_would_make_whole_is_cut_off(version: int) -> None:
    value = encode_value(
        1, version, {**VALUE, "expireTimestamp": 1, "metadata": "metadata", "topicId": TOPIC}
    )
    for end in range(len(value)):
        with pytest.raises(DecodeError):
            read_offset_value(value + b"behind", 0, end)


def test_a_key_that_the_bytes_behind_it_would_make_whole_is_cut_off() -> None:
    key = encode_key(1, KEY)
    for end in range(len(key)):
        with pytest.raises(DecodeError):
            read_offset_key(key + b"behind", 0, end)


def test_keys_of_other_types() -> None:
    group = encode_key(2, {"group": "g"})
    with pytest.raises(DecodeError, match=r"^a key of type 2 is not that of an offset$"):
        read_offset_key(group, 0, len(group))
    with pytest.raises(UnknownKeyType):
        read_offset_key(b"\0\x63\0\1g\0\1t\0\0\0\0", 0, 12)


@pytest.mark.parametrize("number", [0, 1, 23, 255, 256, 32767, -1, -32768])
def test_the_type_of_any_key(number: int) -> None:
    key = number.to_bytes(2, "big", signed=True)
    assert key_type(key, 0) == key_type(memoryview(b"x" + key), 1) == number
