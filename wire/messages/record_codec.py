"""Keys and values of `__consumer_offsets` records: bytes to fields and back, and to the JSON of Kafka's dump tool.
Fields are dictionaries with Kafka's names, complete with defaults. Encoding decoded fields gives the same bytes for
everything that a broker writes, unknown tagged fields included; for other bytes, those that a broker would write."""

import base64
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from wire.messages.definition import RecordType
from wire.messages.layout import Array, Message, Scalar, Struct, Type
from wire.messages.reader import DICTIONARIES, DecodeError, Reader, absent_field, message_reader
from wire.messages.schemas import classic_groups, consumer_groups, offsets, share_groups, streams_groups
from wire.messages.schemas.classic_groups import ASSIGNMENT, SUBSCRIPTION
from wire.messages.writer import Writer, message_writer
from wire.uuids import format_uuid

RECORD_TYPES: Mapping[int, RecordType] = {
    kind.id: kind
    for schemas in (offsets, classic_groups, consumer_groups, share_groups, streams_groups)
    for kind in vars(schemas).values()
    if isinstance(kind, RecordType)
}
"""All record types of Kafka 4.4, by number (`coordinator-key` and `coordinator-value` of kafka-group-coordinator)."""

Fields: TypeAlias = dict[str, Any]
"""The fields of a key or value by Kafka's names, as the stubs of `schemas` declare them for each record type."""
Show: TypeAlias = Callable[[Any], Any]

_INT16 = struct.Struct(">h")
_CLASSIC_GROUP = 2
_EMBEDDED_PROTOCOL_TYPE = "consumer"


class UnknownKeyType(ValueError):
    """A key of a type that Kafka 4.4 does not know. A broker skips it when it loads the log."""

    def __init__(self, key_type: int) -> None:
        super().__init__(f"unknown record type {key_type}")
        self.key_type = key_type


def decode_key(key: bytes) -> tuple[int, Fields]:
    """The record type of a key, and its fields. Raises UnknownKeyType or DecodeError."""
    number = _number(key, "a key")
    return number, _codec(number)[0](key, _INT16.size)[0]


def decode_value(key_type: int, value: bytes) -> tuple[int, Fields]:
    """The version of a value, and its fields. Raises UnknownKeyType or DecodeError."""
    version = _number(value, "a value of type", key_type)
    return version, _codec(key_type, version)[0](value, _INT16.size)[0]


def encode_key(key_type: int, fields: Mapping[str, object]) -> bytes:
    """The bytes of a key. Raises UnknownKeyType: no schema. Raises ValueError: a field is missing or does not fit."""
    return _write(key_type, _codec(key_type)[1], fields)


def encode_value(key_type: int, version: int, fields: Mapping[str, object]) -> bytes:
    """The bytes of a value; fields of other versions are left out. :raises: as `encode_key`."""
    return _write(version, _codec(key_type, version)[1], fields)


def json_key(key: bytes) -> Fields:
    """What `kafka-dump-log --offsets-decoder` has after ``key:``. Raises UnknownKeyType or DecodeError: skipped."""
    number, fields = decode_key(key)
    return {"type": str(number), "data": message_json(_type(number).key, 0)(fields)}


def json_value(key_type: int, value: bytes) -> Fields:
    """The tool's output after ``payload:``; for a tombstone it is ``<DELETE>``. :raises: as `json_key`."""
    version, fields = decode_value(key_type, value)
    data = message_json(_type(key_type).value, version)(fields)
    if key_type == _CLASSIC_GROUP and fields["protocolType"] == _EMBEDDED_PROTOCOL_TYPE:
        for shown, member in zip(data["members"], fields["members"], strict=True):
            _decode_field(shown, "subscription", member["subscription"], SUBSCRIPTION)
            _decode_field(shown, "assignment", member["assignment"], ASSIGNMENT)
    return {"version": str(version), "data": data}


def _decode_field(shown: Fields, field: str, data: bytes, message: Message) -> None:
    """Show the decoded bytes of a field; bytes that cannot be decoded stay as they are."""
    try:
        # Java's reader checks no version before the first nested struct: it reads any as the nearest known one.
        version = min(max(_number(data, field), 0), message.newest + 1)
        fields, _ = message_reader(message, version, DICTIONARIES)(data, _INT16.size)
        shown[field] = message_json(message, version)(fields)
    except DecodeError:
        return


def _number(data: bytes, *what: object) -> int:
    if len(data) < _INT16.size:
        name = " ".join(map(str, what))
        raise DecodeError(f"{name} has {len(data)} bytes, too few for the number that it starts with")
    number: int = _INT16.unpack_from(data)[0]
    return number


def _type(number: int) -> RecordType:
    known = RECORD_TYPES.get(number)
    if known is None:
        raise UnknownKeyType(number)
    return known


def _write(number: int, writer: Writer, fields: Mapping[str, object]) -> bytes:
    out = bytearray(_INT16.pack(number))
    writer(out, fields)
    return bytes(out)


@cache
def _codec(key_type: int, version: int | None = None) -> tuple[Reader, Writer]:
    """What reads and writes a version of a value, or a key."""
    kind = _type(key_type)
    message = kind.key if version is None else kind.value
    if version is not None and not 0 <= version <= message.newest:
        raise DecodeError(f"{message.name} has no version {version}")
    return message_reader(message, version or 0, DICTIONARIES), message_writer(message, version or 0, str)


@cache
def message_json(message: Message, version: int) -> Show:
    """Converts the fields of one version of a message for `json.dumps`, in Kafka's order."""
    return _struct_json(message.struct, version, message.is_flexible(version))


def _struct_json(of: Struct, version: int, flexible: bool) -> Show:
    """Converts bytes to base64, uuids to 22 characters. Tagged fields are left out if unknown or at their default."""
    shows = [
        (
            f.name,
            _type_json(f.type, version, flexible),
            None if f.tag is None else absent_field(f, DICTIONARIES),
        )
        for f in of.fields
        if (f.in_version(version) if f.tag is None else flexible)
    ]

    def show(fields: Fields) -> Fields:
        shown: Fields = {}
        for name, show_field, default in shows:
            value = fields[name]
            if value is None:
                shown[name] = None
            elif default is None or value != default:
                shown[name] = show_field(value)
        return shown

    return show


def _type_json(of: Type, version: int, flexible: bool) -> Show:
    if isinstance(of, Struct):
        return _struct_json(of, version, flexible)
    if isinstance(of, Array):
        element = _type_json(of.of, version, flexible)
        return lambda values: [element(value) for value in values]
    if of is Scalar.BYTES:
        return lambda value: base64.b64encode(value).decode()
    if of is Scalar.UUID:
        return format_uuid
    return lambda value: value
