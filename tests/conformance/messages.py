"""Requests from plain fields, and answers as plain fields, by kio's names. `throttle_time` is left out of answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any
from uuid import UUID

from wire.messages.decode import decode
from wire.messages.encode import encode
from wire.messages.schema_fields import SchemaField, schema_fields

CLIENT_ID = "conformance"


def request_type(api: str, version: int) -> Any:
    """The class of a request, by Kafka's name of the API."""
    return getattr(_schema(api, version, "request"), api + "Request")


def response_type(api: str, version: int) -> Any:
    """The class of the answer to it."""
    return getattr(_schema(api, version, "response"), api + "Response")


def _schema(api: str, version: int, side: str) -> Any:
    package = re.sub(r"(?<!^)([A-Z])", r"_\1", api).lower()
    return import_module(f"kio.schema.{package}.v{version}.{side}")


def known_fields(entity: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` without what this version does not have."""
    names = {field.name for field in fields(entity)}
    return {name: value for name, value in given.items() if name in names}


def build(entity: Any, given: Mapping[str, Any]) -> Any:
    """A message of the kio class `entity`; what is not given is the schema's default, or the zero of its type.

    :raises KeyError: when the schema has no such field
    """
    known = {field.name: field for field in schema_fields(entity)}
    unknown = set(given) - set(known)
    if unknown:
        raise KeyError(f"{entity.__module__} has no {sorted(unknown)}")
    defaults = {field.name: field.default for field in fields(entity)}
    made: dict[str, Any] = {}
    for name, field in known.items():
        if name in given:
            made[name] = _value(field, given[name])
        elif defaults[name] is MISSING:
            made[name] = _zero(field)
    return entity(**made)


def _value(field: SchemaField, value: Any) -> Any:
    if field.array and value is not None:
        return tuple(_element(field, one) for one in value)
    return _element(field, value)


def _element(field: SchemaField, value: Any) -> Any:
    if value is None or is_dataclass(value):
        return value
    if field.entity is not None:
        return build(field.entity, value)
    kind = field.kafka_type or ""
    if kind.startswith("timedelta"):
        return timedelta(milliseconds=value)
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
    return {"string": "", "bytes": b"", "bool": False, "uuid": None}.get(kind, 0)


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
    """The answer behind its header. :raises DecodeError: also when bytes are left over"""
    _, position = decode(entity.__header_schema__, answer)
    message, end = decode(entity, answer, position)
    if end != len(answer):
        raise ValueError(f"{entity.__module__}: {len(answer) - end} bytes are left over")
    return message


def plain(message: Any) -> Any:
    """A message as dictionaries, lists, numbers and texts; bytes, ids and times keep their type or are numbers."""
    if is_dataclass(message):
        return {
            field.name: plain(getattr(message, field.name))
            for field in fields(message)
            if field.name != "throttle_time"
        }
    if isinstance(message, tuple | list):
        return [plain(one) for one in message]
    if isinstance(message, timedelta):
        return round(message.total_seconds() * 1000)
    if isinstance(message, bool):
        return message
    if isinstance(message, int):
        return int(message)
    return message
