"""Bytes of a peer to kio's message dataclasses, safely.

Unknown tagged fields are skipped and unknown error codes kept (Kafka adds both without a new version).
Memory is bounded by the bytes given: no announced length is believed, and of a `Frame` no more elements are
read than it allows.
"""

import struct
from functools import cache
from typing import Any

from wire.messages.primitives import (
    FIXED_READERS,
    DecodeError,
    Frame,
    Reader,
    array,
    byte_string,
    compact_string,
    int32_array,
    length_reader,
    nullable_message,
    read_tags,
)
from wire.messages.schema_fields import SchemaField, schema_fields

__all__ = ["DecodeError", "Frame", "decode"]


def decode(entity: type, buffer: bytes, position: int = 0) -> tuple[Any, int]:
    """Read one message of the kio class `entity` from `position` on.

    Returns the message and the position behind it. :raises DecodeError: when the bytes do not hold it
    """
    try:
        return _entity_reader(entity)(buffer, position)
    except (IndexError, struct.error):
        raise DecodeError(f"{entity.__name__} is cut off: {len(buffer)} bytes do not hold it") from None
    except OverflowError as error:
        raise DecodeError(f"{entity.__name__} has a number out of range: {error}") from None


@cache
def _entity_reader(entity: Any) -> Reader:
    flexible: bool = entity.__flexible__
    known = schema_fields(entity)
    header = entity.__name__ == "RequestHeader"
    # The client id keeps its old form in every header, so that a broker can read it before the version.
    plain = tuple(
        (field.name, _field_reader(field, flexible and not (header and field.name == "client_id")))
        for field in known
        if field.tag is None
    )
    tagged: dict[int, tuple[str, Reader]] = {
        field.tag: (field.name, _field_reader(field, flexible)) for field in known if field.tag is not None
    }
    absent = {field.name: field.default for field in known if field.tag is not None}

    def read(buffer: bytes, position: int) -> tuple[Any, int]:
        values: dict[str, Any] = absent.copy()
        for name, reader in plain:
            values[name], position = reader(buffer, position)
        if flexible:
            count = buffer[position]
            position = position + 1 if not count else read_tags(buffer, position, tagged, values)
        return entity(**values), position

    return read


def _field_reader(field: SchemaField, flexible: bool) -> Reader:
    if field.array:
        length = length_reader(flexible=flexible, code="i")
        if field.kafka_type == "int32":
            return int32_array(length, nullable=field.nullable)
        return array(length, _element_reader(field, flexible, nullable=False), nullable=field.nullable)
    return _element_reader(field, flexible, nullable=field.nullable)


def _element_reader(field: SchemaField, flexible: bool, *, nullable: bool) -> Reader:
    if field.entity is not None:
        return nullable_message(_entity_reader(field.entity)) if nullable else _entity_reader(field.entity)
    if field.kafka_type == "string" and flexible:
        return compact_string(nullable=nullable)
    if field.kafka_type == "string":
        return byte_string(length_reader(flexible=flexible, code="h"), nullable=nullable, text=True)
    if field.kafka_type in ("bytes", "records"):
        return byte_string(length_reader(flexible=flexible, code="i"), nullable=nullable, text=False)
    return FIXED_READERS[field.kafka_type or ""]
