"""Keys and values of `__consumer_offsets` records: bytes to fields and back, and to the JSON of Kafka's dump tool.

A key is the number of its record type and the fields of the type's key, a value its version and the fields of that
version. Fields are dictionaries with Kafka's names and, at defaults, all of a version's fields. Encoding what was
decoded gives the same bytes for everything that a broker writes, unknown tagged fields (`UNKNOWN_TAGS`) included.
For other bytes it gives what a broker would make of them: see `schema_read`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

from wire.messages.schema import Message, RecordType
from wire.messages.schema_json import message_json
from wire.messages.schema_read import UNKNOWN_TAGS, MalformedMessage, Reader, message_reader
from wire.messages.schema_write import Writer, message_writer
from wire.messages.schemas.embedded import ASSIGNMENT, SUBSCRIPTION
from wire.messages.schemas.record_types import RECORD_TYPES

__all__ = [
    "UNKNOWN_TAGS",
    "MalformedRecord",
    "UnknownKeyType",
    "decode_key",
    "decode_value",
    "encode_key",
    "encode_value",
    "json_key",
    "json_value",
]

_INT16 = struct.Struct(">h")
_CLASSIC_GROUP = 2
_EMBEDDED_PROTOCOL_TYPE = "consumer"


class MalformedRecord(ValueError):
    """The bytes are no key or value of their type; says which field is wrong, and at which byte."""


class UnknownKeyType(ValueError):
    """A key of a type that Kafka 4.3 does not know. A broker that loads it passes it by."""

    def __init__(self, key_type: int) -> None:
        super().__init__(f"unknown record type {key_type}")
        self.key_type = key_type


def decode_key(key: bytes) -> tuple[int, dict[str, Any]]:
    """The record type of a key, and its fields.

    :raises UnknownKeyType: a record type of no schema
    :raises MalformedRecord: not a key of its type
    """
    number = _number(key, "a key")
    return number, _read(_reader(_type(number).key, 0), key)


def decode_value(key_type: int, value: bytes) -> tuple[int, dict[str, Any]]:
    """The version of a value under a key of type `key_type`, and its fields.

    :raises UnknownKeyType: a record type of no schema
    :raises MalformedRecord: not a value of the type, or of a version newer than Kafka 4.3's
    """
    message = _type(key_type).value
    version = _number(value, f"a value of type {key_type}")
    if not 0 <= version <= message.newest:
        raise MalformedRecord(f"{message.name} has no version {version}")
    return version, _read(_reader(message, version), value)


def encode_key(key_type: int, fields: Mapping[str, Any]) -> bytes:
    """The bytes of a key.

    :raises UnknownKeyType: a record type of no schema
    :raises ValueError: a field is missing or does not fit
    """
    return _write(key_type, _writer(_type(key_type).key, 0), fields)


def encode_value(key_type: int, version: int, fields: Mapping[str, Any]) -> bytes:
    """The bytes of a value. Tagged fields may be missing; fields of other versions are left out.

    :raises UnknownKeyType: a record type of no schema
    :raises ValueError: there is no such version, or a field is missing or does not fit
    """
    message = _type(key_type).value
    if not 0 <= version <= message.newest:
        raise ValueError(f"{message.name} has no version {version}")
    return _write(version, _writer(message, version), fields)


def json_key(key: bytes) -> dict[str, Any]:
    """What `kafka-dump-log --offsets-decoder` prints behind ``key:``, for `json.dumps`.

    :raises UnknownKeyType: then it prints ``Unknown record type 99 at offset 7, skipping.``, and no payload
    :raises MalformedRecord: then it prints ``Error at offset 7, skipping. <Java's message>``, and no payload
    """
    number, fields = decode_key(key)
    return {"type": str(number), "data": _shower(_type(number).key, 0)(fields)}


def json_value(key_type: int, value: bytes) -> dict[str, Any]:
    """What it prints behind ``payload:``; of a tombstone it prints ``<DELETE>``.

    :raises UnknownKeyType, MalformedRecord: as for `json_key`, in place of the key
    """
    version, fields = decode_value(key_type, value)
    data = _shower(_type(key_type).value, version)(fields)
    if key_type == _CLASSIC_GROUP and fields["protocolType"] == _EMBEDDED_PROTOCOL_TYPE:
        for shown, member in zip(data["members"], fields["members"], strict=True):
            _look_into(shown, "subscription", member["subscription"], SUBSCRIPTION)
            _look_into(shown, "assignment", member["assignment"], ASSIGNMENT)
    return {"version": str(version), "data": data}


def _look_into(shown: dict[str, Any], field: str, data: bytes, message: Message) -> None:
    """Show what the bytes of a field say; they stay as they are when they do not make sense."""
    try:
        # Java's reader looks at no version before the first struct inside: it takes any for the nearest it knows.
        version = min(max(_number(data, field), 0), message.newest + 1)
        shown[field] = _shower(message, version)(_read(_reader(message, version), data))
    except MalformedRecord:
        return


def _number(data: bytes, what: str) -> int:
    if len(data) < _INT16.size:
        raise MalformedRecord(f"{what} has {len(data)} bytes, too few for the number that begins it")
    number: int = _INT16.unpack_from(data)[0]
    return number


def _type(number: int) -> RecordType:
    known = RECORD_TYPES.get(number)
    if known is None:
        raise UnknownKeyType(number)
    return known


def _read(reader: Reader, data: bytes) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = reader(data, _INT16.size)[0]
    except MalformedMessage as error:
        raise MalformedRecord(str(error)) from None
    return fields


def _write(number: int, writer: Writer, fields: Mapping[str, Any]) -> bytes:
    out = bytearray(_INT16.pack(number))
    writer(out, fields)
    return bytes(out)


_reader = cache(message_reader)
_writer = cache(message_writer)
_shower = cache(message_json)
