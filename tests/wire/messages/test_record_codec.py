"""Keys and values by hand: the bytes are spelled out, so that reading and writing cannot be wrong together."""

from typing import Any

import pytest

from wire.messages.reader import DecodeError
from wire.messages.record_codec import (
    UnknownKeyType,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)


def test_bytes_after_a_message_are_ignored() -> None:
    assert decode_key(bytes.fromhex("0003 0001 67 ff")) == (3, {"groupId": "g"})
    assert decode_value(3, bytes.fromhex("0000 00000003 00 ff"))[1] == {"epoch": 3, "metadataHash": 0}


@pytest.mark.parametrize("number", [9, 18, 24, -1, 0x7FFF])
def test_a_key_of_an_unknown_type(number: int) -> None:
    with pytest.raises(UnknownKeyType, match=rf"^unknown record type {number}$") as caught:
        decode_key(number.to_bytes(2, "big", signed=True) + b"\0\1g")
    assert caught.value.key_type == number
    with pytest.raises(UnknownKeyType):
        decode_value(number, b"\0\0")


@pytest.mark.parametrize(
    ("hexadecimal", "message"),
    [
        ("", r"a value of type 5 has 0 bytes, too few for the number that it starts with"),
        ("00", r"a value of type 5 has 1 bytes, too few"),
        ("0001 00", r"ConsumerGroupMemberMetadataValue has no version 1"),
        ("ffff 00", r"ConsumerGroupMemberMetadataValue has no version -1"),
        ("0000 00 00 00", r"ConsumerGroupMemberMetadataValue.clientId at byte 4 is null"),
        ("0000 00 00 05 6363", r"clientId: a length of 4 does not fit the 2 bytes left at byte 5"),
        ("0000 00 00 81 80 02", r"clientId at byte 4 has a length of 32768"),
        ("0000 00 00 ff ff ff ff ff", r"a varint at byte 4 does not end"),
        (
            "0000 00 00 01 01 ff ff ff ff 07",
            r"subscribedTopicNames: a length of 2147483646 does not fit the 0 bytes",
        ),
        ("0000 00 00 01 01 02", r"subscribedTopicNames: a length of 1 does not fit the 0 bytes"),
        ("0000 00 00 01 01 02 00 00", r"subscribedTopicNames\[\] at byte 7 is null"),
        ("0000 00 00 01 01 01 00 00", r"rebalanceTimeoutMs is cut off: it begins at byte 8"),
        ("0000 00 00 01 01 01 00 00000001 00", r"tagged fields is cut off: it begins at byte 13"),
        (
            "0000 00 00 01 01 01 00 00000001 00 01 05 04 aa",
            r"tagged field 5: a length of 4 does not fit the 1 bytes",
        ),
    ],
)
def test_a_malformed_value_is_reported_with_its_byte(hexadecimal: str, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        decode_value(5, bytes.fromhex(hexadecimal))


@pytest.mark.parametrize(
    ("version", "fields", "message"),
    [
        (0, {}, "ConsumerGroupMetadataValue needs 'epoch'"),
        (0, {"epoch": 1 << 31}, "ConsumerGroupMetadataValue: "),
        (1, {"epoch": 1}, "ConsumerGroupMetadataValue has no version 1"),
        (-1, {"epoch": 1}, "ConsumerGroupMetadataValue has no version -1"),
    ],
)
def test_fields_that_cannot_be_written(version: int, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode_value(3, version, fields)


def test_a_string_is_at_most_32767_bytes_long() -> None:
    assert len(encode_key(3, {"groupId": "é" * 16383})) == 2 + 2 + 32766
    with pytest.raises(ValueError, match=r"^a string of 32768 bytes is too long: 'éé"):
        encode_key(3, {"groupId": "é" * 16384})
