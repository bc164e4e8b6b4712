"""What a message of Kafka looks like in bytes: types, fields, versions. Data only; `schemas/` has the messages.

The words are those of Kafka's message definitions (`clients/src/main/resources/common/message/README.md`).
A message is *flexible* from some version on (KIP-482): lengths become unsigned varints, and every struct ends with
tagged fields, which a writer leaves out where they have their default.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

EVER = 32767
"""A version that no message reaches."""
NO_UUID = UUID(int=0)
"""Kafka's word for "no id", and the default of every uuid."""


class Scalar(Enum):
    """Types without parts, by Kafka's names."""

    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    INT64 = "int64"
    STRING = "string"
    BYTES = "bytes"
    UUID = "uuid"


@dataclass(frozen=True, slots=True)
class Array:
    """Any number of values of one type."""

    of: Type


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Struct:
    """Fields in the order in which they are written. `newest`: a newer version of it cannot be read."""

    fields: tuple[Field, ...]
    newest: int

    def __init__(self, *fields: Field, newest: int = EVER) -> None:
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "newest", newest)

    def at(self, version: int) -> tuple[Field, ...]:
        """The fields of a version, without the tagged ones, in order."""
        return tuple(field for field in self.fields if field.tag is None and field.in_version(version))

    def tagged(self) -> tuple[Field, ...]:
        """The tagged fields, by ascending tag. They count from the first flexible version on."""
        return tuple(sorted((f for f in self.fields if f.tag is not None), key=lambda f: f.tag or 0))


Type: TypeAlias = Scalar | Array | Struct


@dataclass(frozen=True, slots=True)
class Field:
    """One field. Versions from `since` to `until` have it, both included.

    `default` is what a tagged field is when nothing is written; None: the zero of its type (an empty struct is one
    with all its fields at their defaults). A nullable field's default is not null either: so Kafka reads the
    `"default": null` of its definitions.
    """

    name: str
    type: Type
    since: int = 0
    until: int = EVER
    nullable: bool = False
    tag: int | None = None
    default: Any = None

    def in_version(self, version: int) -> bool:
        """Whether the version has the field."""
        return self.since <= version <= self.until

    def absent(self) -> Any:
        """A new object of what the field is when nothing is written."""
        return zero(self.type) if self.default is None else self.default


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Message:
    """A struct that stands for itself. `flexible_since` None: no version is flexible."""

    name: str
    struct: Struct
    newest: int = 0
    flexible_since: int | None = 0

    def is_flexible(self, version: int) -> bool:
        """Whether a version is written with varints and tagged fields."""
        return self.flexible_since is not None and version >= self.flexible_since


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordType:
    """A type of record of `__consumer_offsets`: the number that begins its keys, and its two messages.

    `written` is the version in which Kafka 4.3 writes values.
    """

    id: int
    name: str
    key: Message
    value: Message
    written: int = 0


def record_type(
    number: int,
    name: str,
    key: Struct,
    value: Struct,
    *,
    newest: int = 0,
    flexible_since: int | None = 0,
    written: int = 0,
) -> RecordType:
    """A record type with messages named as Kafka names them; keys are never flexible."""
    return RecordType(
        id=number,
        name=name,
        key=Message(name=f"{name}Key", struct=key, flexible_since=None),
        value=Message(name=f"{name}Value", struct=value, newest=newest, flexible_since=flexible_since),
        written=written,
    )


_ZEROS = {Scalar.STRING: "", Scalar.BYTES: b"", Scalar.UUID: NO_UUID}


def zero(of: Type) -> Any:
    """A new object of what a type is without a value; a struct is a dictionary."""
    if isinstance(of, Array):
        return []
    if isinstance(of, Struct):
        return {field.name: field.absent() for field in of.fields}
    return _ZEROS.get(of, 0)
