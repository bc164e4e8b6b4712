"""kio's message dataclasses to bytes.

kio's own writer is not used here because it imports asyncio, a tenth of the time `kohort list` may take.
"""

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from coordinator.wire.schema_fields import SchemaField, schema_fields

Writer = Callable[[bytearray, Any], None]
EPOCH = datetime.fromtimestamp(0, UTC)


def encode(message: Any) -> bytes:
    """The bytes of a kio message.

    :raises ValueError: when a value does not fit its field
    """
    out = bytearray()
    try:
        _entity_writer(_kio_type(message))(out, message)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{type(message).__name__} has a value out of range: {error}") from None
    return bytes(out)


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned varint."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _kio_type(message: Any) -> Any:
    return type(message)


@cache
def _entity_writer(entity: type[Any]) -> Writer:
    flexible: bool = entity.__flexible__
    header = entity.__name__ == "RequestHeader"
    known = schema_fields(entity)
    # The client id keeps its old form in every header, so that a broker can read it before the version.
    plain = [
        (field.name, _field_writer(field, flexible and not (header and field.name == "client_id")))
        for field in known
        if field.tag is None
    ]
    tagged = sorted(
        (field.tag, field.name, _field_writer(field, flexible), field.default)
        for field in known
        if field.tag is not None
    )

    def write(out: bytearray, message: Any) -> None:
        for name, writer in plain:
            writer(out, getattr(message, name))
        if flexible:
            _write_tags(out, message, tagged)

    return write


def _write_tags(out: bytearray, message: Any, tagged: list[tuple[int, str, Writer, Any]]) -> None:
    present = [
        (tag, writer, getattr(message, name))
        for tag, name, writer, default in tagged
        if getattr(message, name) != default
    ]
    write_uvarint(out, len(present))
    for tag, writer, value in present:
        content = bytearray()
        writer(content, value)
        write_uvarint(out, tag)
        write_uvarint(out, len(content))
        out += content


def _field_writer(field: SchemaField, flexible: bool) -> Writer:
    if field.array:
        return _array(_element_writer(field, flexible, nullable=False), _length_writer(flexible, "i"))
    return _element_writer(field, flexible, nullable=field.nullable)


def _array(element: Writer, length: Writer) -> Writer:
    def write(out: bytearray, values: Any) -> None:
        length(out, -1 if values is None else len(values))
        for value in values or ():
            element(out, value)

    return write


def _element_writer(field: SchemaField, flexible: bool, *, nullable: bool) -> Writer:
    if field.entity is not None:
        return _nullable(_entity_writer(field.entity)) if nullable else _entity_writer(field.entity)
    if field.kafka_type == "string":
        return _byte_string(_length_writer(flexible, "h"))
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
        content = value.encode() if isinstance(value, str) else value
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
