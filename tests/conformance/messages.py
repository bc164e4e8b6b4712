"""Requests from plain fields, and answers as plain fields, by kio's names. `throttle_time` is left out of answers."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import timedelta
from functools import cache
from importlib import import_module
from types import NoneType
from typing import Any, get_args, get_origin
from uuid import UUID

from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from tests.conformance.newest import CHANGES, newest_type

CLIENT_ID = "conformance"
NO_TEXT = "<null>"  # Stands for null where a version allows none, which kio refuses to write


class Buffer(bytearray):
    """What kio's writers want of a file."""

    def write(self, data: bytes) -> None:
        self.extend(data)


def encode(message: Any) -> bytes:
    """The bytes of a message of a flexible version as kio writes it, and null for `NO_TEXT`."""
    out = Buffer()
    write: Any = entity_writer(type(message))
    write(out, message)
    return bytes(out).replace(bytes([len(NO_TEXT) + 1]) + NO_TEXT.encode(), b"\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """One field of a message. `kafka_type` is kio's name of a primitive ("int32", "string"…) or None for a nested
    message, whose class is `entity`. `tag` is the number of a tagged field, None for an ordinary one; `default` is what
    an absent tagged field means."""

    name: str
    kafka_type: str | None
    entity: type | None
    array: bool
    nullable: bool
    tag: int | None
    default: Any


@cache
def schema_fields(entity: type) -> tuple[SchemaField, ...]:
    """The fields of a kio message class in the order of the wire. :raises TypeError: for another class"""
    return tuple(_schema_field(field) for field in fields(entity))


def _schema_field(field: Field[Any]) -> SchemaField:
    hint: Any = field.type
    nullable = NoneType in get_args(hint)
    if nullable:
        hint = next(argument for argument in get_args(hint) if argument is not NoneType)
    array = get_origin(hint) is tuple
    if array:
        hint = get_args(hint)[0]
    nested = isinstance(hint, type) and is_dataclass(hint)
    kafka_type = None if nested else field.metadata["kafka_type"]
    return SchemaField(
        name=field.name,
        kafka_type=kafka_type,
        entity=hint if nested else None,
        array=array,
        nullable=nullable,
        tag=field.metadata.get("tag"),
        default=_absent(field, hint, kafka_type, array),
    )


def _absent(field: Field[Any], hint: Any, kafka_type: str | None, array: bool) -> Any:
    """What an absent tagged field means; where kio names no default it is the zero of the type (KIP-482)."""
    if field.default is not MISSING:
        return field.default
    if array:
        return ()
    if kafka_type is None:
        return hint(**{nested.name: nested.default for nested in schema_fields(hint)})
    return _ZEROS.get(kafka_type, 0)


_ZEROS: dict[str, Any] = {"string": "", "bytes": b"", "bool": False, "uuid": None}


NOT_OF_KIO = {*CHANGES, ("StreamsGroupDescribe", 1)}
"""Versions that came with Kafka 4.4."""


def versions_of_kio(api: str, oldest: int, newest: int) -> list[int]:
    return [version for version in range(oldest, newest + 1) if (api, version) not in NOT_OF_KIO]


def request_type(api: str, version: int) -> Any:
    """The class of a request, by Kafka's name of the API."""
    return _type(api, version, "request")


def response_type(api: str, version: int) -> Any:
    return _type(api, version, "response")


def _type(api: str, version: int, side: str) -> Any:
    package = re.sub(r"(?<!^)([A-Z])", r"_\1", api).lower()
    if (api, version) in CHANGES:
        return newest_type(api, version, package, side)
    return getattr(import_module(f"kio.schema.{package}.v{version}.{side}"), api + side.capitalize())


def known_fields(entity: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` without what this version does not have."""
    names = {field.name for field in fields(entity)}
    return {name: value for name, value in values.items() if name in names}


USUAL = {
    "ConsumerGroupHeartbeat": {"rebalance_timeout": -1},
    "OffsetCommit": {"generation_id_or_member_epoch": -1},
}


def request(api: str, version: int, **fields: Any) -> Any:
    """A request; what is not given is usual, null if it may be, or as in `build`."""
    return build(request_type(api, version), {**USUAL.get(api, {}), **fields}, nulls=True)


def build(entity: Any, values: Mapping[str, Any], *, nulls: bool = False) -> Any:
    """A message of the kio class `entity`; what is not given is the schema's default, or the zero of its type. :raises
    KeyError: when the schema has no such field"""
    known = {field.name: field for field in schema_fields(entity)}
    unknown = set(values) - set(known)
    if unknown:
        raise KeyError(f"{entity.__module__} has no {sorted(unknown)}")
    defaults = {field.name: field.default for field in fields(entity)}
    made: dict[str, Any] = {}
    for name, field in known.items():
        if name in values:
            made[name] = _value(field, values[name], nulls)
        elif defaults[name] is MISSING:
            made[name] = None if nulls and field.nullable else _zero(field)
    return entity(**made)


def _value(field: SchemaField, value: Any, nulls: bool) -> Any:
    if field.array and value is not None:
        return tuple(_element(field, one, nulls) for one in value)
    return _element(field, value, nulls)


def _element(field: SchemaField, value: Any, nulls: bool) -> Any:
    if value is None and field.kafka_type == "string" and not field.nullable:
        return NO_TEXT
    if value is None or is_dataclass(value):
        return value
    if field.entity is not None:
        return build(field.entity, value, nulls=nulls)
    kind = field.kafka_type or ""
    if kind.startswith("timedelta"):
        return timedelta(milliseconds=value)
    if kind == "error_code":
        return ErrorCode(value)
    if kind == "bytes" and isinstance(value, str):
        return value.encode()
    if kind == "uuid" and isinstance(value, str):
        return UUID(value)
    return value


def _zero(field: SchemaField) -> Any:
    if field.array:
        return ()
    kind = field.kafka_type or ""
    if kind.startswith("timedelta"):
        return timedelta(0)
    return ErrorCode.none if kind == "error_code" else _ZEROS.get(kind, 0)


def encoded(message: Any, correlation_id: int, version: int | None, client_id: str | None) -> bytes:
    """Header and message; `version` is what the header says instead of the message's own."""
    header = message.__header_schema__(
        request_api_key=message.__api_key__,
        request_api_version=message.__version__ if version is None else version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    return encode(header) + encode(message)


def decoded(entity: Any, answer: bytes) -> Any:
    """The answer after its header. :raises ValueError: when bytes are left over"""
    _, position = entity_reader(entity.__header_schema__)(answer, 0)
    message, size = entity_reader(entity)(answer, position)
    if position + size != len(answer):
        raise ValueError(f"{entity.__module__}: {len(answer) - position - size} bytes are left over")
    return message


def plain(message: Any) -> Any:
    """A message as dictionaries, lists, numbers and texts; bytes, ids and times keep their type or are numbers."""
    if is_dataclass(message):
        names = [field.name for field in fields(message) if field.name != "throttle_time"]
        return {name: plain(getattr(message, name)) for name in names}
    if isinstance(message, tuple | list):
        return [plain(one) for one in message]
    if isinstance(message, timedelta):
        return round(message.total_seconds() * 1000)
    return int(message) if isinstance(message, int) and not isinstance(message, bool) else message
