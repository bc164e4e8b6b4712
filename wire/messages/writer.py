"""The fields of a message to bytes, by its layout, as Kafka's generated classes write them: tagged fields with their
default and fields that the version does not have are left out. Unknown tagged fields follow the known ones."""

import struct
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias
from uuid import UUID

from wire.messages.framing import MAX_FRAME_BYTES
from wire.messages.layout import NO_UUID, UNSET, Array, Field, Message, Scalar, Struct, Type, zero
from wire.messages.reader import CODES, LONGEST_STRING, UNKNOWN_TAGS, snake

Writer: TypeAlias = Callable[[bytearray, Any], None]
FieldValues: TypeAlias = Mapping[str, Any]
Step: TypeAlias = tuple[Callable[[FieldValues], Any], Callable[..., bytes] | None, Any]
"""What gets some fields, and what packs them as numbers or, if that is None, writes them."""
Named: TypeAlias = Callable[[str], str]

_ERROR_MESSAGE = "errorMessage"
_LONGEST_CHARACTER = 4  # the largest number of bytes that UTF-8 needs for a character
_INT16 = struct.Struct(">h").pack
_INT32 = struct.Struct(">i").pack


@cache
def message_writer(message: Message, version: int, named: Named = snake) -> Writer:
    """The writer of one version of a message. Raises ValueError: a value is missing or unfit, or all too long."""
    write = _struct_writer(message.struct, version, message.is_flexible(version), named)

    def checked(out: bytearray, fields: FieldValues) -> None:
        try:
            write(out, fields)
        except KeyError as error:
            raise ValueError(f"{message.name} needs {error}") from None
        except (struct.error, OverflowError) as error:
            raise ValueError(f"{message.name}: {error}") from None

    return checked


def write_varint(out: bytearray, value: int) -> None:
    """Append an unsigned varint."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _write_varint_length(out: bytearray, length: int) -> None:
    if length < 0x7F:
        out.append(length + 1)
    else:
        write_varint(out, length + 1)


def _write_int16_length(out: bytearray, length: int) -> None:
    out += _INT16(length)


def _write_int32_length(out: bytearray, length: int) -> None:
    out += _INT32(length)


def _struct_writer(of: Struct, version: int, flexible: bool, named: Named) -> Writer:
    steps = _steps(of.at(version), version, flexible, named)
    tagged = [
        (f.tag or 0, named(f.name), _is_left_out(_default(f, named)), _field_writer(f, version, True, named))
        for f in of.tagged(version)
    ]

    def write(out: bytearray, fields: FieldValues) -> None:
        for get, pack, writer in steps:
            if pack is None:
                writer(out, get(fields))
            else:
                out += pack(*get(fields))
        if flexible:
            if tagged or UNKNOWN_TAGS in fields:
                present: list[tuple[int, bytes | bytearray]] = []
                for tag, name, is_left_out, writer in tagged:
                    if name in fields and not is_left_out(value := fields[name]):
                        body = bytearray()
                        writer(body, value)
                        present.append((tag, body))
                present.extend(fields.get(UNKNOWN_TAGS, ()))
                write_varint(out, len(present))
                for tag, content in present:
                    write_varint(out, tag)
                    write_varint(out, len(content))
                    out += content
            else:
                out.append(0)

    return write


def _default(field: Field, named: Named) -> object:
    if field.default is not UNSET:
        return field.default
    if isinstance(field.type, Struct):
        return {named(part.name): _default(part, named) for part in field.type.fields}
    return [] if isinstance(field.type, Array) else zero(field.type)


def _is_left_out(default: object) -> Callable[[Any], bool]:
    """A test for the default value; an empty array of any type, or None for the zero uuid, counts as the default."""
    if default == []:
        return lambda value: value is not None and not len(value)
    if default == NO_UUID:
        return lambda value: value is None or value.int == 0
    return lambda value: bool(value == default)


def _steps(fields: tuple[Field, ...], version: int, flexible: bool, named: Named) -> list[Step]:
    """Consecutive numbers are written together."""
    steps: list[Step] = []
    for is_number, run in groupby(fields, key=lambda field: field.type in CODES):
        if is_number:
            steps.append(_packed(list(run), named))
        else:
            steps += [(_get(f, named), None, _field_writer(f, version, flexible, named)) for f in run]
    return steps


def _packed(run: list[Field], named: Named) -> Step:
    pack = struct.Struct(">" + "".join(CODES[field.type] for field in run)).pack
    if len(run) == 1:
        return _get(run[0], named), None, _number_writer(pack)
    if all(field.default is UNSET for field in run):
        return itemgetter(*(named(field.name) for field in run)), pack, None
    known = [(named(field.name), field.default) for field in run]
    return (
        lambda fields: [fields[name] if d is UNSET else fields.get(name, d) for name, d in known],
        pack,
        None,
    )


def _get(field: Field, named: Named) -> Callable[[FieldValues], Any]:
    name, default = named(field.name), field.default
    if default is UNSET:
        return itemgetter(name)
    return lambda fields: fields.get(name, default)


def _field_writer(field: Field, version: int, flexible: bool, named: Named) -> Writer:
    writer = _type_writer(field.type, version, flexible, named)
    if field.name == _ERROR_MESSAGE:
        return _error_message_writer(writer)
    if not field.nullable(version) or not isinstance(field.type, Struct):
        return writer
    null = b"\xff" if field.tag is None else b"\x00"

    def write(out: bytearray, value: object) -> None:
        if value is None:
            out += null
        else:
            out += b"\x01"
            writer(out, value)

    return write


def _type_writer(of: Type, version: int, flexible: bool, named: Named) -> Writer:
    if isinstance(of, Struct):
        return _struct_writer(of, version, flexible, named)
    if isinstance(of, Array):
        length = _write_varint_length if flexible else _write_int32_length
        if of.of in CODES:
            return _numbers_writer(CODES[of.of], length)
        return _array_writer(_type_writer(of.of, version, flexible, named), length)
    if of is Scalar.STRING:
        return _string_writer(_write_varint_length if flexible else _write_int16_length)
    if of is Scalar.BYTES:
        return _bytes_writer(_write_varint_length if flexible else _write_int32_length)
    if of is Scalar.UUID:
        return _write_uuid
    return _number_writer(struct.Struct(">" + CODES[of]).pack)


def _number_writer(pack: Callable[..., bytes]) -> Writer:
    def write(out: bytearray, value: object) -> None:
        out += pack(value)

    return write


def _write_uuid(out: bytearray, value: UUID | None) -> None:
    out += (value or NO_UUID).bytes


def _error_message_writer(writer: Writer) -> Writer:
    """A message that quotes a peer's name may exceed the limit of a string: it is cut then."""

    def write(out: bytearray, value: str | None) -> None:
        if value is not None and len(value) * _LONGEST_CHARACTER > LONGEST_STRING:
            value = value[: LONGEST_STRING // _LONGEST_CHARACTER]
        writer(out, value)

    return write


def _string_writer(length: Writer) -> Writer:
    def write(out: bytearray, value: str | None) -> None:
        if value is None:
            length(out, -1)
            return
        # Half a surrogate pair is refused: replaced by "?" it could be another group's name.
        content = value.encode()
        if len(content) > LONGEST_STRING:
            raise ValueError(f"a string of {len(content)} bytes is too long: {value[:40]!r}…")
        length(out, len(content))
        out += content

    return write


def _bytes_writer(length: Writer) -> Writer:
    def write(out: bytearray, value: bytes | None) -> None:
        length(out, -1 if value is None else len(value))
        out += value or b""

    return write


def _numbers_writer(code: str, length: Writer) -> Writer:
    def write(out: bytearray, value: Collection[object] | None) -> None:
        if value is None:
            length(out, -1)
            return
        count = len(value)
        length(out, count)
        if count:
            out += _numbers(code, count).pack(*value)

    return write


@lru_cache(maxsize=1000)
def _numbers(code: str, count: int) -> struct.Struct:
    return struct.Struct(f">{count}{code}")


def _array_writer(element: Writer, length: Writer) -> Writer:
    def write(out: bytearray, value: Collection[object] | None) -> None:
        if value is None:
            length(out, -1)
            return
        length(out, len(value))
        for part in value:
            element(out, part)
            if len(out) > MAX_FRAME_BYTES:
                raise ValueError(f"a message of more than {MAX_FRAME_BYTES} bytes")

    return write
