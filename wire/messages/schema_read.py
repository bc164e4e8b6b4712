"""Bytes to the fields of a message, by its schema.

As Kafka's generated classes read: bytes behind the message are left alone, a known tagged field ends where it ends
whatever its size says, broken UTF-8 is replaced. Memory is bounded by the bytes given: no announced length is
believed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias
from uuid import UUID

from wire.java_text import JAVA
from wire.messages.schema import Array, Field, Message, Scalar, Struct, Type

UNKNOWN_TAGS = "_unknownTaggedFields"
"""Key of a struct's tagged fields that the schema does not have, ``[(tag, bytes), …]``; there only if there are any."""

Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""``(buffer, position) -> (value, next position)``."""

MAX_STRING_BYTES = 32767
_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1
_INT16 = struct.Struct(">h").unpack_from
_INT32 = struct.Struct(">i").unpack_from
CODES = {
    Scalar.INT8: "b",
    Scalar.INT16: "h",
    Scalar.UINT16: "H",
    Scalar.INT32: "i",
    Scalar.INT64: "q",
}
"""`struct`'s codes of Kafka's numbers."""


class MalformedMessage(ValueError):
    """The bytes are not the message they should be; says which field, and at which byte."""


def message_reader(message: Message, version: int) -> Reader:
    """A reader of one version of a message.

    It raises `MalformedMessage` and nothing else.
    """
    return _struct_reader(message.struct, message.name, version, message.is_flexible(version))


def read_varint(buffer: bytes, position: int) -> tuple[int, int]:
    """Read an unsigned varint of at most five bytes into 32 bits, signed as in Java.

    :raises IndexError: when the buffer ends first
    :raises MalformedMessage: when a sixth byte would follow
    """
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift == 35:
            raise MalformedMessage(f"a varint at byte {position - 5} does not end")
    value &= 0xFFFFFFFF
    return (value if value <= _INT32_MAX else value - (1 << 32)), position


def _varint_length(buffer: bytes, position: int) -> tuple[int, int]:
    """A length, one less than the varint says: negative for null."""
    byte = buffer[position]
    if byte < 0x80:
        return byte - 1, position + 1
    value, position = read_varint(buffer, position)
    return (_INT32_MAX if value == _INT32_MIN else value - 1), position


def _int16_length(buffer: bytes, position: int) -> tuple[int, int]:
    return _INT16(buffer, position)[0], position + 2


def _int32_length(buffer: bytes, position: int) -> tuple[int, int]:
    return _INT32(buffer, position)[0], position + 4


def _struct_reader(of: Struct, name: str, version: int, flexible: bool) -> Reader:
    if version > of.newest:
        return _too_new(name, version)
    plain = [(f.name, _field_reader(f, f"{name}.{f.name}", version, flexible)) for f in of.at(version)]
    known = {f.tag: (f.name, _tagged_reader(f, f"{name}.{f.name}", version)) for f in of.tagged()}
    absent = [(f.name, f.absent) for f in of.tagged()] if flexible else []

    def read(buffer: bytes, position: int) -> tuple[dict[str, Any], int]:
        values: dict[str, Any] = {}
        field = ""
        try:
            for field, reader in plain:
                values[field], position = reader(buffer, position)
            for field, default in absent:
                values[field] = default()
            if flexible:
                field = "tagged fields"
                count = buffer[position]
                if not count:
                    return values, position + 1
                position = read_tags(buffer, position, values)
        except (IndexError, struct.error):
            raise MalformedMessage(f"{name}.{field} is cut off: it begins at byte {position}") from None
        return values, position

    def read_tags(buffer: bytes, position: int, values: dict[str, Any]) -> int:
        count, position = read_varint(buffer, position)
        for _ in range(count):
            tag, position = read_varint(buffer, position)
            size, position = read_varint(buffer, position)
            if tag in known:
                field, reader = known[tag]
                values[field], position = reader(buffer, position)
            else:
                end = _end(buffer, position, size, f"{name}, tagged field {tag}")
                values.setdefault(UNKNOWN_TAGS, []).append((tag, buffer[position:end]))
                position = end
        return position

    return read


def _too_new(name: str, version: int) -> Reader:
    def read(_buffer: bytes, position: int) -> tuple[Any, int]:
        raise MalformedMessage(f"{name} at byte {position} has no version {version}")

    return read


def _field_reader(field: Field, name: str, version: int, flexible: bool) -> Reader:
    reader = _type_reader(field.type, name, version, flexible, field.nullable)
    if field.nullable and isinstance(field.type, Struct):
        # A nullable struct has an int8 in front, negative for null (KIP-893).
        return _preceded(reader, lambda buffer, position: (buffer[position] < 0x80, position + 1))
    return reader


def _tagged_reader(field: Field, name: str, version: int) -> Reader:
    reader = _type_reader(field.type, name, version, flexible=True, nullable=field.nullable)
    if field.nullable and isinstance(field.type, Struct):
        return _preceded(reader, _is_there)
    return reader


def _is_there(buffer: bytes, position: int) -> tuple[bool, int]:
    mark, position = read_varint(buffer, position)
    return mark > 0, position


def _preceded(reader: Reader, is_there: Reader) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        there, position = is_there(buffer, position)
        return reader(buffer, position) if there else (None, position)

    return read


def _type_reader(of: Type, name: str, version: int, flexible: bool, nullable: bool = False) -> Reader:
    if isinstance(of, Struct):
        return _struct_reader(of, name, version, flexible)
    if isinstance(of, Array):
        length = _varint_length if flexible else _int32_length
        if isinstance(of.of, Scalar) and of.of in CODES:
            return _numbers_reader(CODES[of.of], length, name, nullable)
        element = _type_reader(of.of, f"{name}[]", version, flexible)
        return _array_reader(element, length, name, nullable)
    if of is Scalar.STRING:
        return _string_reader(_varint_length if flexible else _int16_length, name, nullable)
    if of is Scalar.BYTES:
        return _bytes_reader(_varint_length if flexible else _int32_length, name, nullable)
    if of is Scalar.UUID:
        return _read_uuid
    return _number_reader(CODES[of])


def _number_reader(code: str) -> Reader:
    packed = struct.Struct(">" + code)
    size, unpack = packed.size, packed.unpack_from

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        return unpack(buffer, position)[0], position + size

    return read


def _read_uuid(buffer: bytes, position: int) -> tuple[UUID, int]:
    end = position + 16
    if end > len(buffer):
        raise IndexError
    return UUID(bytes=buffer[position:end]), end


def _string_reader(length: Reader, name: str, nullable: bool) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[str | None, int]:
        size, start = length(buffer, position)
        if size < 0:
            _check_null(nullable, name, position)
            return None, start
        if size > MAX_STRING_BYTES:
            raise MalformedMessage(f"{name} at byte {position} is to be {size} bytes long")
        end = _end(buffer, start, size, name)
        return buffer[start:end].decode("utf-8", JAVA), end

    return read


def _bytes_reader(length: Reader, name: str, nullable: bool) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[bytes | None, int]:
        size, start = length(buffer, position)
        if size < 0:
            _check_null(nullable, name, position)
            return None, start
        end = _end(buffer, start, size, name)
        return buffer[start:end], end

    return read


def _numbers_reader(code: str, length: Reader, name: str, nullable: bool) -> Reader:
    width = struct.calcsize(">" + code)

    def read(buffer: bytes, position: int) -> tuple[list[int] | None, int]:
        count, start = length(buffer, position)
        if count < 0:
            _check_null(nullable, name, position)
            return None, start
        end = _end(buffer, start, count * width, name)
        return list(struct.unpack_from(f">{count}{code}", buffer, start)), end

    return read


def _array_reader(element: Reader, length: Reader, name: str, nullable: bool) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[list[Any] | None, int]:
        count, start = length(buffer, position)
        if count < 0:
            _check_null(nullable, name, position)
            return None, start
        _end(buffer, start, count, name)  # an element has one byte or more
        position = start
        values = []
        for _ in range(count):
            value, position = element(buffer, position)
            values.append(value)
        return values, position

    return read


def _check_null(allowed: bool, name: str, position: int) -> None:
    if not allowed:
        raise MalformedMessage(f"{name} at byte {position} is null")


def _end(buffer: bytes, start: int, size: int, name: str) -> int:
    end = start + size
    if not start <= end <= len(buffer):
        raise MalformedMessage(
            f"{name}: a length of {size} does not fit the {len(buffer) - start} bytes left at byte {start}"
        )
    return end
