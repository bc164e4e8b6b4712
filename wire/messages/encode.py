"""Messages to bytes: kio's dataclasses, or plain fields in the form of one.

kio's own writer is not used here because it imports asyncio, a tenth of the time `kohort list` may take.
"""

import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Any

from wire.messages.framing import MAX_FRAME_BYTES
from wire.messages.primitives import LONGEST_STRING
from wire.messages.schema_fields import SchemaField, schema_fields

Writer = Callable[[bytearray, Any], None]
Get = Callable[[Any], Any]
Source = Callable[[Any, SchemaField], Get]
"""(kio class, field of it) to what takes the field's value out of a message."""

EPOCH = datetime.fromtimestamp(0, UTC)


def encode(message: Any) -> bytes:
    """The bytes of a kio message.

    :raises ValueError: when a value does not fit its field, or all together no frame
    """
    return written(_kio_type(message), message, _attribute)


def written(entity: Any, message: Any, source: Source) -> bytes:
    """The bytes of `message` in the form of the kio class `entity`, its values taken from it by `source`.

    :raises ValueError: as `encode`
    """
    out = bytearray()
    try:
        _entity_writer(entity, source)(out, message)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{entity.__name__} has a value out of range: {error}") from None
    return bytes(out)


def write_text(out: bytearray, value: str) -> None:
    """Append a string as flexible versions have it. :raises ValueError: when it is too long"""
    _write_text(out, value)


def write_texts(out: bytearray, values: Sequence[str]) -> None:
    """Append an array of strings as flexible versions have it. :raises ValueError: when one is too long"""
    _write_texts(out, values)


def _attribute(_entity: Any, field: SchemaField) -> Get:
    return attrgetter(field.name)


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned varint."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _kio_type(message: Any) -> Any:
    return type(message)


@cache
def _entity_writer(entity: type[Any], source: Source) -> Writer:
    flexible: bool = entity.__flexible__
    header = entity.__name__ == "RequestHeader"
    known = schema_fields(entity)
    # The client id keeps its old form in every header, so that a broker can read it before the version.
    plain = [
        (
            source(entity, field),
            _field_writer(field, flexible and not (header and field.name == "client_id"), source),
        )
        for field in known
        if field.tag is None
    ]
    tagged = [
        (field.tag, source(entity, field), _field_writer(field, flexible, source), field.default)
        for field in sorted(known, key=lambda field: field.tag or 0)
        if field.tag is not None
    ]

    def write(out: bytearray, message: Any) -> None:
        for get, writer in plain:
            writer(out, get(message))
        if tagged:
            _write_tags(out, message, tagged)
        elif flexible:
            out.append(0)

    return write


def _write_tags(out: bytearray, message: Any, tagged: list[tuple[int, Get, Writer, Any]]) -> None:
    present = [
        (tag, writer, value) for tag, get, writer, default in tagged if (value := get(message)) != default
    ]
    write_uvarint(out, len(present))
    for tag, writer, value in present:
        content = bytearray()
        writer(content, value)
        write_uvarint(out, tag)
        write_uvarint(out, len(content))
        out += content


def _field_writer(field: SchemaField, flexible: bool, source: Source) -> Writer:
    if field.array:
        element = _element_writer(field, flexible, source, nullable=False)
        return _array(element, _length_writer(flexible, "i"))
    return _element_writer(field, flexible, source, nullable=field.nullable)


def _array(element: Writer, length: Writer) -> Writer:
    def write(out: bytearray, values: Any) -> None:
        length(out, -1 if values is None else len(values))
        for value in values or ():
            element(out, value)
            if len(out) > MAX_FRAME_BYTES:
                raise ValueError(f"a message of more than {MAX_FRAME_BYTES} bytes")

    return write


def _element_writer(field: SchemaField, flexible: bool, source: Source, *, nullable: bool) -> Writer:
    if field.entity is not None:
        writer = _entity_writer(field.entity, source)
        return _nullable(writer) if nullable else writer
    if field.kafka_type == "string":
        return _string(_length_writer(flexible, "h"))
    if field.kafka_type in ("bytes", "records"):
        return _byte_string(_length_writer(flexible, "i"))
    return _FIXED_WRITERS[field.kafka_type or ""]


def _nullable(writer: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        out.append(0xFF if value is None else 1)
        if value is not None:
            writer(out, value)

    return write


def _length_writer(flexible: bool, code: str) -> Writer:
    if not flexible:
        return _fixed(code)

    def write(out: bytearray, length: int) -> None:
        write_uvarint(out, length + 1)

    return write


def _byte_string(length: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        if value is None:
            length(out, -1)
            return
        length(out, len(value))
        out += value

    return write


def _string(length: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        if value is None:
            length(out, -1)
            return
        content = value.encode()
        if len(content) > LONGEST_STRING:
            raise ValueError(f"a string of {len(content)} bytes")
        length(out, len(content))
        out += content

    return write


def _fixed(code: str) -> Writer:
    pack = struct.Struct(">" + code).pack

    def write(out: bytearray, value: Any) -> None:
        out += pack(value)

    return write


def _write_uuid(out: bytearray, value: Any) -> None:
    out += bytes(16) if value is None else value.bytes


def _write_milliseconds(code: str) -> Writer:
    write_number = _fixed(code)

    def write(out: bytearray, value: timedelta) -> None:
        write_number(out, value // timedelta(milliseconds=1))

    return write


def _write_time(out: bytearray, value: datetime | None) -> None:
    """Milliseconds since 1970, -1 for null."""
    out += struct.pack(">q", -1 if value is None else (value - EPOCH) // timedelta(milliseconds=1))


_write_text = _string(_length_writer(True, "h"))
_write_texts = _array(_write_text, _length_writer(True, "i"))

_FIXED_WRITERS: dict[str, Writer] = {
    "int8": _fixed("b"),
    "int16": _fixed("h"),
    "int32": _fixed("i"),
    "int64": _fixed("q"),
    "uint8": _fixed("B"),
    "uint16": _fixed("H"),
    "uint32": _fixed("I"),
    "uint64": _fixed("Q"),
    "float64": _fixed("d"),
    "bool": _fixed("?"),
    "error_code": _fixed("h"),
    "uuid": _write_uuid,
    "datetime_i64": _write_time,
    "timedelta_i32": _write_milliseconds("i"),
    "timedelta_i64": _write_milliseconds("q"),
}
