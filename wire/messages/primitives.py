"""Readers of Kafka's primitive types: ``(buffer, position) -> (value, next position)``.

They raise IndexError, `struct.error` or `DecodeError` on bytes that do not hold the value;
`wire.messages.decode` turns all of them into `DecodeError`. What Java reads they read, and as Java does
(ByteBufferAccessor and the generated message classes): broken UTF-8 is replaced, any negative length is a null,
and a varint that does not fit an int loses the bits too many.
"""

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

from kio.schema.errors import ErrorCode

from wire.java_text import JAVA

Reader = Callable[[bytes, int], tuple[Any, int]]
EPOCH = datetime.fromtimestamp(0, UTC)


LONGEST_STRING = 0x7FFF
"""Bytes of a string, in flexible versions too: Kafka neither writes nor reads more."""


class DecodeError(ValueError):
    """The bytes are not the message they are said to be."""


class Frame(bytes):
    """The bytes of one message of which at most `elements` elements of arrays are read, all arrays together.

    Every element costs a hundred times its byte or two once somebody has to look at it.
    """

    elements: int

    @classmethod
    def of(cls, content: bytes, elements: int) -> Self:
        frame = cls(content)
        frame.elements = elements
        return frame

    def take(self, count: int) -> None:
        """Account for `count` more elements. :raises DecodeError: when there are too many of them"""
        self.elements -= count
        if self.elements < 0:
            raise DecodeError(f"its arrays have {-self.elements} elements more than are read")


def read_uvarint(buffer: bytes, position: int) -> tuple[int, int]:
    """Read an unsigned varint of at most five bytes, as the int of 32 bits that Java makes of it."""
    byte = buffer[position]
    if byte < 0x80:
        return byte, position + 1
    value, shift = byte & 0x7F, 7
    for position in range(position + 1, position + 5):  # noqa: B020
        byte = buffer[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value if shift < 28 else _int32(value)), position + 1
        shift += 7
    raise DecodeError(f"a varint at byte {position} does not end")


def _int32(value: int) -> int:
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def fixed(code: str) -> Reader:
    """A reader of one big-endian `struct` code."""
    packed = struct.Struct(">" + code)
    size, unpack = packed.size, packed.unpack_from

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        return unpack(buffer, position)[0], position + size

    return read


def _read_error_code(buffer: bytes, position: int) -> tuple[ErrorCode, int]:
    code = _INT16.unpack_from(buffer, position)[0]
    known = _ERROR_CODES.get(code)
    return (error_code(code) if known is None else known), position + 2


_INT16 = struct.Struct(">h")
_ERROR_CODES: dict[int, ErrorCode] = {code.value: code for code in ErrorCode}


def error_code(code: int) -> ErrorCode:
    """The member of kio's enum, or one made up for a code newer than kio, named ``unknown_<code>``."""
    known = _ERROR_CODES.get(code)
    if known is None:
        known = int.__new__(ErrorCode, code)
        known._name_, known._value_, known.retriable = f"unknown_{code}", code, False
        _ERROR_CODES[code] = known
    return known


def _slice(buffer: bytes, position: int, length: int) -> tuple[bytes, int]:
    end = position + length
    if end > len(buffer):
        raise DecodeError(
            f"{length} bytes are announced at byte {position}, {len(buffer) - position} are left"
        )
    return buffer[position:end], end


def _no_null(position: int) -> DecodeError:
    return DecodeError(f"a null at byte {position} where none may be")


def _compact_length(buffer: bytes, position: int) -> tuple[int, int]:
    value, position = read_uvarint(buffer, position)
    return value - 1, position


def length_reader(*, flexible: bool, code: str) -> Reader:
    """A reader of a length, negative for null; `code` is the `struct` code below flexible versions."""
    return _compact_length if flexible else fixed(code)


def byte_string(length: Reader, *, nullable: bool, text: bool) -> Reader:
    """A reader of a string (`text`) or of bytes behind a length."""

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        size, start = length(buffer, position)
        if size < 0:
            if nullable:
                return None, start
            raise _no_null(position)
        if text and size > LONGEST_STRING:
            raise DecodeError(f"a string of {size} bytes at byte {position}")
        value, end = _slice(buffer, start, size)
        return (_text(value) if text else value), end

    return read


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode(errors=JAVA)


def compact_string(*, nullable: bool) -> Reader:
    """As `byte_string` for flexible versions, quick for strings below 127 bytes: they are most of an answer."""
    general = byte_string(_compact_length, nullable=nullable, text=True)

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        size = buffer[position]
        if 0 < size < 0x80:
            end = position + size
            value = buffer[position + 1 : end]
            if len(value) == size - 1:
                try:
                    return value.decode(), end
                except UnicodeDecodeError:
                    pass
        return general(buffer, position)

    return read


def array(length: Reader, element: Reader, *, nullable: bool) -> Reader:
    """A reader of an array; the announced length must fit the bytes left (an element takes one at least)."""

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        size, position = length(buffer, position)
        if size < 0:
            if nullable:
                return None, position
            raise _no_null(position)
        if size > len(buffer) - position:
            raise DecodeError(
                f"{size} elements are announced at byte {position}, {len(buffer) - position} bytes are left"
            )
        if isinstance(buffer, Frame):
            buffer.take(size)
        values = []
        for _ in range(size):
            value, position = element(buffer, position)
            values.append(value)
        return tuple(values), position

    return read


def int32_array(length: Reader, *, nullable: bool) -> Reader:
    """As `array` of int32, read in one go: partition lists are most of an assignment."""
    general = array(length, fixed("i"), nullable=nullable)

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        size, start = length(buffer, position)
        end = start + 4 * size
        if size < 0 or end > len(buffer):
            return general(buffer, position)
        if isinstance(buffer, Frame):
            buffer.take(size)
        return struct.unpack_from(f">{size}i", buffer, start), end

    return read


def nullable_message(reader: Reader) -> Reader:
    """A nullable nested message has an int8 in front, -1 for null (KIP-893)."""

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        return reader(buffer, position + 1) if buffer[position] < 0x80 else (None, position + 1)

    return read


def _read_uuid(buffer: bytes, position: int) -> tuple[UUID | None, int]:
    value, end = _slice(buffer, position, 16)
    return (UUID(bytes=value) if any(value) else None), end


def _read_bool(buffer: bytes, position: int) -> tuple[bool, int]:
    return buffer[position] != 0, position + 1


def _read_milliseconds(code: str) -> Reader:
    read_number = fixed(code)

    def read(buffer: bytes, position: int) -> tuple[timedelta, int]:
        value, position = read_number(buffer, position)
        return timedelta(milliseconds=min(max(value, _SHORTEST_MS), _LONGEST_MS)), position

    return read


# 2,737,909 years, which is what kio's classes can hold; a longer time is read as that.
_SHORTEST_MS, _LONGEST_MS = (limit // timedelta(milliseconds=1) for limit in (timedelta.min, timedelta.max))


def _read_time(buffer: bytes, position: int) -> tuple[datetime | None, int]:
    """Milliseconds since 1970; a negative number is none."""
    value = int.from_bytes(_slice(buffer, position, 8)[0], "big", signed=True)
    return (None if value < 0 else EPOCH + timedelta(milliseconds=value)), position + 8


def read_tags(
    buffer: bytes, position: int, tagged: Mapping[int, tuple[str, Reader]], values: dict[str, Any]
) -> int:
    """Put the values of `tagged` fields that are there into `values`; returns where they end."""
    count, position = read_uvarint(buffer, position)
    for _ in range(count):
        tag, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        end = position + size
        if not position <= end <= len(buffer):
            raise DecodeError(f"tagged field {tag} announces {size} bytes at byte {position}")
        if tag in tagged:
            name, reader = tagged[tag]
            values[name], after = reader(buffer, position)
            if after != end:
                raise DecodeError(f"tagged field {tag} is {after - position} bytes long, not {size}")
        position = end
    return position


FIXED_READERS: dict[str, Reader] = {
    "int8": fixed("b"),
    "int16": fixed("h"),
    "int32": fixed("i"),
    "int64": fixed("q"),
    "uint8": fixed("B"),
    "uint16": fixed("H"),
    "uint32": fixed("I"),
    "uint64": fixed("Q"),
    "float64": fixed("d"),
    "bool": _read_bool,
    "error_code": _read_error_code,
    "uuid": _read_uuid,
    "datetime_i64": _read_time,
    "timedelta_i32": _read_milliseconds("i"),
    "timedelta_i64": _read_milliseconds("q"),
}
"""Readers of the types whose bytes are the same in every version, by kio's name."""
