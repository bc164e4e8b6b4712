"""Bytes to the fields of a message, by its layout. A peer's bytes are untrusted: memory is bounded by the bytes given,
and no more elements of a `Frame` are read than it allows.
As in Kafka's generated classes, bytes after the message are ignored, a known tagged field ends where its content ends
whatever its size, any negative length is a null, a too long varint loses the excess bits, broken UTF-8 is replaced,
and (since 4.4) a number of tagged fields that is negative, above 10,000 or above the remaining bytes is refused."""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Self, TypeAlias
from uuid import UUID

from wire.java_text import JAVA
from wire.messages.layout import NO_UUID, UNSET, Array, Field, Message, Scalar, Struct, Type, zero
from wire.messages.rows import FEWEST, FixedRow, StructRows

UNKNOWN_TAGS = "_unknownTaggedFields"
"""Key of a dictionary's unknown tagged fields, ``[(tag, bytes), …]``, if there are any."""

Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""``(buffer, position) -> (value, next position)``."""
Make: TypeAlias = Callable[[Sequence[object]], Any]  # creates a struct from the values of its fields

Unpack: TypeAlias = Callable[[bytes, int], tuple[object, ...]]
Step: TypeAlias = tuple[Unpack | None, int, Any]
"""Numbers that `struct` unpacks together and their size, or the reader of another field."""

LONGEST_STRING = 0x7FFF
"""The limit of a string in bytes, in flexible versions too: Kafka neither writes nor reads more."""
_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1
_INT16 = struct.Struct(">h").unpack_from
_INT32 = struct.Struct(">i").unpack_from
CODES: dict[Type, str] = {
    Scalar.BOOL: "?",
    Scalar.INT8: "b",
    Scalar.INT16: "h",
    Scalar.UINT16: "H",
    Scalar.INT32: "i",
    Scalar.INT64: "q",
    Scalar.FLOAT64: "d",
}
"""The codes of types that `struct` reads and writes."""


class DecodeError(ValueError):
    """The bytes are not the expected message; with the field and the byte."""


class Frame(bytes):
    """The bytes of one message; its arrays may have `elements` elements together: these take much more memory."""

    elements: int

    @classmethod
    def of(cls, content: bytes, elements: int) -> Self:
        frame = cls(content)
        frame.elements = elements
        return frame

    def take(self, count: int) -> None:
        """Account for `count` more elements. Raises DecodeError: there are too many."""
        self.elements -= count
        if self.elements < 0:
            raise DecodeError(f"its arrays have {-self.elements} elements more than are read")


class Fields(tuple[object, ...]):
    """A struct with Kafka's names in snake case as attributes, with defaults for those of other versions."""

    __slots__ = ()
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"({', '.join(f'{name}={value!r}' for name, value in zip(self.names, self, strict=True))})"


@cache
def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _fields_class(names: Sequence[str], absent: Mapping[str, object]) -> Make:
    keys = tuple(snake(name) for name in names)
    missing = {snake(name): value for name, value in absent.items() if name not in names}
    members: dict[str, object] = {key: property(itemgetter(at)) for at, key in enumerate(keys)}
    return type("Fields", (Fields,), {**missing, **members, "names": keys, "__slots__": ()})


def _dictionary(names: Sequence[str], _absent: Mapping[str, object]) -> Make:
    return lambda values: dict(zip(names, values, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    struct: Callable[[Sequence[str], Mapping[str, object]], Make]
    array: Callable[[Sequence[object]], object]
    no_uuid: UUID | None
    keeps_unknown_tags: bool
    rows: bool  # Whether many structs of a fixed width are read as `StructRows`


OBJECTS = Form(struct=_fields_class, array=tuple, no_uuid=None, keeps_unknown_tags=False, rows=True)
"""`Fields` and tuples, or `StructRows`, which equal them; None for the zero uuid."""
DICTIONARIES = Form(struct=_dictionary, array=list, no_uuid=NO_UUID, keeps_unknown_tags=True, rows=False)
"""Dictionaries by Kafka's names, and lists, complete enough to write the same bytes again."""


MOST_TAGS = 10_000


@cache
def message_reader(message: Message, version: int, form: Form) -> Reader:
    """The reader of one version of a message. It raises only `DecodeError`."""
    return _Compiler(version, form).struct(message.struct, message.name, message.is_flexible(version))


def read_varint(buffer: bytes, position: int) -> tuple[int, int]:
    """Read a varint of at most five bytes into 32 bits, signed as in Java. Raises IndexError or DecodeError."""
    byte = buffer[position]
    if byte < 0x80:
        return byte, position + 1
    value, shift = byte & 0x7F, 7
    for at in range(position + 1, position + 5):
        byte = buffer[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value if shift < 28 else (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000), at + 1
        shift += 7
    raise DecodeError(f"a varint at byte {position} does not end")


def _varint_length(buffer: bytes, position: int) -> tuple[int, int]:
    """A length, one less than the varint: negative for null."""
    byte = buffer[position]
    if byte < 0x80:
        return byte - 1, position + 1
    value, position = read_varint(buffer, position)
    return (_INT32_MAX if value == _INT32_MIN else value - 1), position


def _int16_length(buffer: bytes, position: int) -> tuple[int, int]:
    return _INT16(buffer, position)[0], position + 2


def _int32_length(buffer: bytes, position: int) -> tuple[int, int]:
    return _INT32(buffer, position)[0], position + 4


@dataclass(frozen=True, slots=True)
class _Compiler:
    """Builds readers of one version in one form."""

    version: int
    form: Form

    def struct(self, of: Struct, name: str, flexible: bool) -> Reader:
        if self.version > of.newest:

            def too_new(_buffer: bytes, position: int) -> tuple[object, int]:
                raise DecodeError(f"{name} at byte {position} has no version {self.version}")

            return too_new
        plain, tagged = of.at(self.version), of.tagged(self.version) if flexible else ()
        names = [field.name for field in (*plain, *tagged)]
        steps = self._steps(plain, name, flexible)
        absent = [absent_field(field, self.form) for field in tagged]
        known = {
            field.tag: (at, self._field(field, f"{name}.{field.name}", flexible=True))
            for at, field in enumerate(tagged, len(plain))
        }
        make = self.form.struct(names, {field.name: absent_field(field, self.form) for field in of.fields})
        keeps = self.form.keeps_unknown_tags

        def read(buffer: bytes, position: int) -> tuple[object, int]:
            values: list[object] = []
            try:
                for unpack, size, reader in steps:
                    if unpack is not None:
                        values += unpack(buffer, position)
                        position += size
                    else:
                        value, position = reader(buffer, position)
                        values.append(value)
                if flexible:
                    if buffer[position]:
                        values += absent
                        unknown: list[tuple[int, bytes]] = []
                        count, position = read_varint(buffer, position)
                        if not 0 <= count <= min(len(buffer) - position, MOST_TAGS):
                            raise DecodeError(f"{name} at byte {position} cannot have {count} tagged fields")
                        for _ in range(count):
                            tag, position = read_varint(buffer, position)
                            size, position = read_varint(buffer, position)
                            if tag in known:
                                at, reader = known[tag]
                                values[at], position = reader(buffer, position)
                            else:
                                end = _end(buffer, position, size, f"{name}, tagged field {tag}")
                                if keeps:
                                    unknown.append((tag, buffer[position:end]))
                                position = end
                        made = make(values)
                        if unknown:
                            made[UNKNOWN_TAGS] = unknown
                        return made, position
                    position += 1
            except (IndexError, struct.error):
                field = plain[len(values)].name if len(values) < len(plain) else "tagged fields"
                raise DecodeError(f"{name}.{field} is cut off: it begins at byte {position}") from None
            if absent:
                values += absent
            return make(values), position

        return read

    def _rows(self, of: Struct, flexible: bool) -> tuple[FixedRow, Make] | None:
        """The layout and the class of many structs that are read together; None if their fields do not allow it."""
        plain, tagged = of.at(self.version), of.tagged(self.version) if flexible else ()
        codes = {snake(field.name): CODES.get(field.type) for field in plain}
        is_fixed = all(field.type in CODES or field.type is Scalar.STRING for field in plain)
        if self.version > of.newest or not any(codes.values()) or not is_fixed:
            return None
        absent = {snake(field.name): absent_field(field, self.form) for field in tagged}
        names = [field.name for field in (*plain, *tagged)]
        make = self.form.struct(names, {field.name: absent_field(field, self.form) for field in of.fields})
        ends = (b"\x01", b"\x00") if flexible else (b"\x00\x00", b"")
        return FixedRow(codes, absent, *ends), make

    def _steps(self, fields: Sequence[Field], name: str, flexible: bool) -> list[Step]:
        """Consecutive numbers are read together."""
        steps: list[Step] = []
        for is_number, run in groupby(fields, key=lambda field: field.type in CODES):
            if is_number:
                steps.append(_unpacked("".join(CODES[field.type] for field in run)))
            else:
                steps += [(None, 0, self._field(field, f"{name}.{field.name}", flexible)) for field in run]
        return steps

    def _field(self, field: Field, name: str, flexible: bool) -> Reader:
        nullable = field.nullable(self.version)
        reader = self._type(field.type, name, flexible, nullable)
        if nullable and isinstance(field.type, Struct):
            # A nullable struct is preceded by an int8, negative for null (KIP-893), a tagged one by a varint, 0 for it.
            return _preceded(reader, _is_not_negative if field.tag is None else _is_positive)
        return reader

    def _type(self, of: Type, name: str, flexible: bool, nullable: bool = False) -> Reader:
        if isinstance(of, Struct):
            return self.struct(of, name, flexible)
        if isinstance(of, Array):
            length = _varint_length if flexible else _int32_length
            if of.of in CODES:
                return _numbers_reader(CODES[of.of], length, name, nullable, self.form.array)
            element = self._type(of.of, f"{name}[]", flexible)
            general = _array_reader(element, length, name, nullable, self.form.array)
            rows = self._rows(of.of, flexible) if isinstance(of.of, Struct) and self.form.rows else None
            return general if rows is None else _rows_reader(*rows, length, general)
        if of is Scalar.STRING:
            general = _string_reader(_varint_length if flexible else _int16_length, name, nullable)
            return _compact_string(general, nullable) if flexible else _int16_string(general)
        if of is Scalar.BYTES:
            return _bytes_reader(_varint_length if flexible else _int32_length, name, nullable)
        if of is Scalar.UUID:
            return _uuid_reader(self.form.no_uuid)
        unpack, size, _ = _unpacked(CODES[of])
        return lambda buffer, position: (unpack(buffer, position)[0], position + size)


def absent_field(field: Field, form: Form) -> object:
    """The value of a field that is not written."""
    if field.default is not UNSET:
        return field.default
    if isinstance(field.type, Struct):
        inner = field.type.fields
        make = form.struct([field.name for field in inner], {})
        return make([absent_field(field, form) for field in inner])
    if isinstance(field.type, Array):
        return form.array(())
    return form.no_uuid if field.type is Scalar.UUID else zero(field.type)


def _unpacked(codes: str) -> tuple[Unpack, int, None]:
    packed = struct.Struct(">" + codes)
    return packed.unpack_from, packed.size, None


def _is_not_negative(buffer: bytes, position: int) -> tuple[bool, int]:
    return buffer[position] < 0x80, position + 1


def _is_positive(buffer: bytes, position: int) -> tuple[bool, int]:
    mark, position = read_varint(buffer, position)
    return mark > 0, position


def _preceded(reader: Reader, is_there: Reader) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[object, int]:
        there, position = is_there(buffer, position)
        return reader(buffer, position) if there else (None, position)

    return read


def _uuid_reader(no_uuid: UUID | None) -> Reader:
    zero_uuid = NO_UUID.bytes

    def read(buffer: bytes, position: int) -> tuple[UUID | None, int]:
        end = position + 16
        content = buffer[position:end]
        if content == zero_uuid:
            return no_uuid, end
        if len(content) < 16:
            raise IndexError
        return UUID(bytes=content), end

    return read


def _string_reader(length: Reader, name: str, nullable: bool) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[str | None, int]:
        size, start = length(buffer, position)
        if size < 0:
            _check_null(nullable, name, position)
            return None, start
        if size > LONGEST_STRING:
            raise DecodeError(f"{name} at byte {position} has a length of {size}")
        end = _end(buffer, start, size, name)
        return buffer[start:end].decode("utf-8", JAVA), end

    return read


def _compact_string(general: Reader, nullable: bool) -> Reader:
    """A reader that is fast for strings below 127 bytes, most of a response, and for nulls, most of a heartbeat."""

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        size = buffer[position]
        if 0 < size < 0x80:
            end = position + size
            if end <= len(buffer):
                return buffer[position + 1 : end].decode("utf-8", JAVA), end
        elif nullable and not size:
            return None, position + 1
        return general(buffer, position)

    return read


def _int16_string(general: Reader) -> Reader:
    """A reader that is fast for strings that are not null."""

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        start = position + 2
        end = start + _INT16(buffer, position)[0]
        if start <= end <= len(buffer):
            return buffer[start:end].decode("utf-8", JAVA), end
        return general(buffer, position)

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


def _numbers_reader(
    code: str, length: Reader, name: str, nullable: bool, make: Callable[[Sequence[object]], object]
) -> Reader:
    width = struct.calcsize(">" + code)

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        count, start = length(buffer, position)
        if count < 0:
            _check_null(nullable, name, position)
            return None, start
        end = _end(buffer, start, count * width, name)
        if isinstance(buffer, Frame):
            buffer.take(count)
        return make(struct.unpack_from(f">{count}{code}", buffer, start)), end

    return read


def _array_reader(
    element: Reader, length: Reader, name: str, nullable: bool, make: Callable[[Sequence[object]], object]
) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[object, int]:
        count, start = length(buffer, position)
        if count < 0:
            _check_null(nullable, name, position)
            return None, start
        _end(buffer, start, count, name)  # an element has one byte or more
        if isinstance(buffer, Frame):
            buffer.take(count)
        position = start
        values = []
        for _ in range(count):
            value, position = element(buffer, position)
            values.append(value)
        return make(values), position

    return read


def _rows_reader(row: FixedRow, make: Make, length: Reader, general: Reader) -> Reader:
    """A reader of arrays that is fast for many structs of a fixed width."""

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        count, start = length(buffer, position)
        read = None if count < FEWEST else row.read(buffer, start, count)
        if read is None:
            return general(buffer, position)
        if isinstance(buffer, Frame):
            buffer.take(count)
        columns, end = read
        return StructRows(make, columns), end

    return read


def _check_null(allowed: bool, name: str, position: int) -> None:
    if not allowed:
        raise DecodeError(f"{name} at byte {position} is null")


def _end(buffer: bytes, start: int, size: int, name: str) -> int:
    end = start + size
    if not start <= end <= len(buffer):
        raise DecodeError(
            f"{name}: a length of {size} does not fit the {len(buffer) - start} bytes left at byte {start}"
        )
    return end
