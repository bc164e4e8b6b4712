"""Plain fields to the bytes of an answer, in whatever version is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import timedelta
from operator import itemgetter
from typing import Any

from wire.messages.encode import Get, written
from wire.messages.primitives import LONGEST_STRING
from wire.messages.schema_fields import SchemaField

MESSAGE = "error_message"
LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""


def compose(entity: Any, values: Mapping[str, Any]) -> bytes:
    """The bytes of a message of the kio class `entity`, times given in ms; what its version does not have is left out.

    :raises KeyError: when a field is not given that has no default
    :raises ValueError: when a value does not fit its field, or all together no frame
    """
    return written(entity, values, _given)


def _given(entity: Any, field: SchemaField) -> Get:
    """Takes a field out of plain ones."""
    get = _value(field.name, _default(entity, field))
    if (field.kafka_type or "").startswith("timedelta"):
        return lambda values: timedelta(milliseconds=get(values))
    if field.name == MESSAGE:
        return lambda values: _shortened(get(values))
    return get


def _value(name: str, default: Any) -> Get:
    return itemgetter(name) if default is MISSING else lambda values: values.get(name, default)


def _default(entity: Any, field: SchemaField) -> Any:
    if field.name == "throttle_time":
        return 0  # nobody is ever throttled here
    if field.tag is not None:
        return field.default
    return next(known.default for known in fields(entity) if known.name == field.name)


def _shortened(message: Any) -> Any:
    """A message may quote a name of a client's, and a name may be as long as a string can be."""
    if isinstance(message, str) and len(message) * LONGEST_CHARACTER > LONGEST_STRING:
        return message[: LONGEST_STRING // LONGEST_CHARACTER]
    return message
