"""The fields of a message as Kafka's JSON converters show them.

Bytes are base64, uuids Kafka's 22 characters. Tagged fields that have their default are left out, as are unknown
ones; a null is shown.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from wire.messages.schema import Array, Field, Message, Scalar, Struct, Type
from wire.uuids import format_uuid

Show: TypeAlias = Callable[[Any], Any]


def message_json(message: Message, version: int) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """What turns the fields of one version of a message into what `json.dumps` takes, in Kafka's order."""
    return _struct_json(message.struct, version, message.is_flexible(version))


def _struct_json(of: Struct, version: int, flexible: bool) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    def is_shown(field: Field) -> bool:
        return field.in_version(version) if field.tag is None else flexible

    shows = [
        (f.name, _type_json(f.type, version, flexible), None if f.tag is None else f.absent())
        for f in of.fields
        if is_shown(f)
    ]

    def show(fields: Mapping[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for name, each, default in shows:
            value = fields[name]
            if value is None:
                shown[name] = None
            elif default is None or value != default:
                shown[name] = each(value)
        return shown

    return show


def _type_json(of: Type, version: int, flexible: bool) -> Show:
    if isinstance(of, Struct):
        return _struct_json(of, version, flexible)
    if isinstance(of, Array):
        element = _type_json(of.of, version, flexible)
        return lambda values: [element(value) for value in values]
    if of is Scalar.BYTES:
        return lambda value: base64.b64encode(value).decode()
    if of is Scalar.UUID:
        return format_uuid
    return lambda value: value
