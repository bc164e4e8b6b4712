"""Plain fields to kio's dataclass of whatever version is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import timedelta
from functools import cache
from typing import Any

from coordinator.wire.schema_fields import SchemaField, schema_fields

Filler = Callable[[Mapping[str, Any]], Any]


def fill(entity: Any, values: Mapping[str, Any]) -> Any:
    """A message of the kio class `entity`, times given in ms; what its version does not have is left out.

    :raises KeyError: when a field is not given that has no default
    """
    return _filler(entity)(values)


@cache
def _filler(entity: Any) -> Filler:
    defaults = {field.name: field.default for field in fields(entity)}
    defaults["throttle_time"] = timedelta(0)  # nobody is ever throttled here
    known = [(field.name, _converter(field), _default(field, defaults)) for field in schema_fields(entity)]

    def make(values: Mapping[str, Any]) -> Any:
        made = {}
        for name, convert, default in known:
            if name in values:
                made[name] = convert(values[name])
            elif default is MISSING:
                raise KeyError(f"{entity.__module__} needs {name}")
            else:
                made[name] = default
        return entity(**made)

    return make


def _default(field: SchemaField, defaults: Mapping[str, Any]) -> Any:
    return field.default if field.tag is not None else defaults[field.name]


def _converter(field: SchemaField) -> Callable[[Any], Any]:
    convert = _element(field)
    if field.array:
        return lambda values: None if values is None else tuple(convert(one) for one in values)
    return convert


def _element(field: SchemaField) -> Callable[[Any], Any]:
    entity = field.entity
    if entity is not None:
        return lambda value: None if value is None else fill(entity, value)
    if (field.kafka_type or "").startswith("timedelta"):
        return lambda value: timedelta(milliseconds=value)
    return lambda value: value
