"""The binary layout of Kafka's messages: fields, types, versions; `schemas/` has the messages. A layout has one field
a line, as in Kafka's message definitions: `name type [versions] [null[=versions]] [tag=number] [default=value]`. Types
are those of `Scalar`, `{}` for a struct, whose fields follow with an indent of four, or the name of a field above;
`[]` makes an array of it. Versions are `3`, `3+` or `3-5`; `newest=3`, of a struct: a newer version of it cannot be
read. From its *flexible* version on (KIP-482) a message has varint lengths, and tagged fields after every struct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias
from uuid import UUID

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Decoded = TypeVar("Decoded", default=Any, covariant=True)
    Encoded = TypeVar("Encoded", default=Any)
else:
    from typing import TypeVar

    Decoded, Encoded = TypeVar("Decoded"), TypeVar("Encoded")

EVER = 32767  # A version that no message reaches
NO_UUID = UUID(int=0)  # Kafka's value for "no id", and the default of every uuid


class Scalar(Enum):
    """Types without parts, by Kafka's names. The bytes of records are bytes."""

    BOOL = "bool"
    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    STRING = "string"
    BYTES = "bytes"
    UUID = "uuid"


class Unset(Enum):
    """The default of a field that has none."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Array:
    of: Type


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """Fields in the order of writing. `newest`: a newer version of it cannot be read."""

    fields: tuple[Field, ...]
    newest: int = EVER

    def at(self, version: int) -> tuple[Field, ...]:
        """The fields of a version, without the tagged ones, in order."""
        return tuple(field for field in self.fields if field.tag is None and field.in_version(version))

    def tagged(self, version: int) -> tuple[Field, ...]:
        """The tagged fields of a flexible version, by ascending tag."""
        tagged = (field for field in self.fields if field.tag is not None and field.in_version(version))
        return tuple(sorted(tagged, key=lambda field: field.tag or 0))


Type: TypeAlias = Scalar | Array | Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of versions `since` to `until`; without a `default`, omitted tagged fields are zero."""

    name: str
    type: Type
    since: int = 0
    until: int = EVER
    null_since: int = EVER
    tag: int | None = None
    default: bool | int | str | Unset | None = UNSET

    def in_version(self, version: int) -> bool:
        return self.since <= version <= self.until

    def nullable(self, version: int) -> bool:
        return version >= self.null_since


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Message(Generic[Decoded, Encoded]):
    """A struct that is a complete message. `flexible_since` None: no version is."""

    name: str
    layout: str
    newest: int = 0
    flexible_since: int | None = 0

    @property
    def struct(self) -> Struct:
        return parse(self.layout)

    def is_flexible(self, version: int) -> bool:
        return self.flexible_since is not None and version >= self.flexible_since


@cache
def parse(layout: str) -> Struct:
    """Parse a layout into a struct. Raises ValueError: it is not a layout."""
    lines = [line for line in layout.splitlines() if line.strip()]
    margin = min((_indent(line) for line in lines), default=0)
    return Struct(tuple(_fields(lines, margin)))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _fields(lines: list[str], indent: int) -> Iterator[Field]:
    types: dict[str, Type] = {}
    at = 0
    while at < len(lines):
        name, kind, *options = lines[at].split()
        at += 1
        end = at
        while end < len(lines) and _indent(lines[end]) > indent:
            end += 1
        field = _field(name, kind, options, lines[at:end], indent + 4, types)
        element = field.type
        types[name] = element.of if isinstance(element, Array) else element
        at = end
        yield field


def _field(
    name: str, kind: str, options: list[str], inner: list[str], indent: int, types: dict[str, Type]
) -> Field:
    more: dict[str, Any] = {}
    newest = EVER
    for option in options:
        key, _, value = option.partition("=")
        if key == "null":
            more["null_since"] = version_range(value)[0] if value else 0
        elif key == "tag":
            more["tag"] = int(value)
        elif key == "default":
            more["default"] = _DEFAULTS[value] if value in _DEFAULTS else int(value)
        elif key == "newest":
            newest = int(value)
        else:
            more["since"], more["until"] = version_range(option)
    base = kind.removesuffix("[]")
    element: Type
    if base == "{}":
        element = Struct(tuple(_fields(inner, indent)), newest)
    elif base in types:
        element = types[base]
    else:
        element = Scalar(base)
    return Field(name=name, type=Array(element) if base != kind else element, **more)


_DEFAULTS = {"null": None, "true": True, "false": False, '""': ""}


def version_range(text: str) -> tuple[int, int]:
    """Versions written as `3`, `3+` or `3-5`."""
    first, dash, last = text.rstrip("+").partition("-")
    if dash:
        return int(first), int(last)
    return int(first), EVER if text.endswith("+") else int(first)


def zero(of: Scalar) -> bool | int | str | bytes | UUID:
    return _ZEROS.get(of, 0)


_ZEROS: dict[Scalar, bool | int | str | bytes | UUID] = {
    Scalar.STRING: "",
    Scalar.BYTES: b"",
    Scalar.UUID: NO_UUID,
    Scalar.BOOL: False,
}
