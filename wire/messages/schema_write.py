"""The fields of a message to bytes, by its schema, as Kafka's generated classes write them.

Tagged fields that have their default are left out. Unknown ones follow the known ones as they were read: the tags
that Kafka adds are higher than those it has.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from wire.messages.schema import Array, Field, Message, Scalar, Struct, Type
from wire.messages.schema_read import CODES, MAX_STRING_BYTES, UNKNOWN_TAGS

Writer: TypeAlias = Callable[[bytearray, Any], None]

_INT16 = struct.Struct(">h").pack
_INT32 = struct.Struct(">i").pack


def message_writer(message: Message, version: int) -> Writer:
    """A writer of one version of a message.

    It raises ValueError for a value that does not fit or that the version needs and has not got.
    """
    write = _struct_writer(message.struct, version, message.is_flexible(version))

    def checked(out: bytearray, fields: Any) -> None:
        try:
            write(out, fields)
        except KeyError as error:
            raise ValueError(f"{message.name} needs {error}") from None
        except struct.error as error:
            raise ValueError(f"{message.name}: {error}") from None

    return checked


def write_varint(out: bytearray, value: int) -> None:
    """Append an unsigned varint."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _write_varint_length(out: bytearray, length: int) -> None:
    write_varint(out, length + 1)


def _write_int16_length(out: bytearray, length: int) -> None:
    out += _INT16(length)


def _write_int32_length(out: bytearray, length: int) -> None:
    out += _INT32(length)


def _struct_writer(of: Struct, version: int, flexible: bool) -> Writer:
    plain = [(f.name, _field_writer(f, version, flexible)) for f in of.at(version)]
    tagged = [(f.tag or 0, f.name, f.absent(), _tagged_writer(f, version)) for f in of.tagged()]

    def write(out: bytearray, fields: Any) -> None:
        for name, writer in plain:
            writer(out, fields[name])
        if flexible:
            write_tags(out, fields)

    def write_tags(out: bytearray, fields: Any) -> None:
        present: list[tuple[int, bytes | bytearray]] = []
        for tag, name, default, writer in tagged:
            value = fields.get(name, default)
            if value != default:
                body = bytearray()
                writer(body, value)
                present.append((tag, body))
        present.extend(fields.get(UNKNOWN_TAGS, ()))
        write_varint(out, len(present))
        for tag, content in present:
            write_varint(out, tag)
            write_varint(out, len(content))
            out += content

    return write


def _field_writer(field: Field, version: int, flexible: bool) -> Writer:
    writer = _type_writer(field.type, version, flexible)
    if field.nullable and isinstance(field.type, Struct):
        return _preceded(writer, there=b"\x01", null=b"\xff")
    return writer


def _tagged_writer(field: Field, version: int) -> Writer:
    writer = _type_writer(field.type, version, flexible=True)
    if field.nullable and isinstance(field.type, Struct):
        return _preceded(writer, there=b"\x01", null=b"\x00")
    return writer


def _preceded(writer: Writer, *, there: bytes, null: bytes) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        if value is None:
            out += null
        else:
            out += there
            writer(out, value)

    return write


def _type_writer(of: Type, version: int, flexible: bool) -> Writer:
    if isinstance(of, Struct):
        return _struct_writer(of, version, flexible)
    if isinstance(of, Array):
        length = _write_varint_length if flexible else _write_int32_length
        if isinstance(of.of, Scalar) and of.of in CODES:
            return _numbers_writer(CODES[of.of], length)
        return _array_writer(_type_writer(of.of, version, flexible), length)
    if of is Scalar.STRING:
        return _string_writer(_write_varint_length if flexible else _write_int16_length)
    if of is Scalar.BYTES:
        return _bytes_writer(_write_varint_length if flexible else _write_int32_length)
    if of is Scalar.UUID:
        return _write_uuid
    return _number_writer(CODES[of])


def _number_writer(code: str) -> Writer:
    pack = struct.Struct(">" + code).pack

    def write(out: bytearray, value: Any) -> None:
        out += pack(value)

    return write


def _write_uuid(out: bytearray, value: Any) -> None:
    out += value.bytes


def _string_writer(length: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        if value is None:
            length(out, -1)
            return
        content = value.encode("utf-8", "replace")  # half a surrogate pair becomes "?", as in Java
        if len(content) > MAX_STRING_BYTES:
            raise ValueError(f"a string of {len(content)} bytes is too long: {value[:40]!r}…")
        length(out, len(content))
        out += content

    return write


def _bytes_writer(length: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        length(out, -1 if value is None else len(value))
        out += value or b""

    return write


def _numbers_writer(code: str, length: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        if value is None:
            length(out, -1)
            return
        length(out, len(value))
        out += struct.pack(f">{len(value)}{code}", *value)

    return write


def _array_writer(element: Writer, length: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        if value is None:
            length(out, -1)
            return
        length(out, len(value))
        for each in value:
            element(out, each)

    return write
