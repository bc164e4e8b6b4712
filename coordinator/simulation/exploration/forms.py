"""A value as something hashable in which neither order nor time is left, where they do not matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import FunctionType, MethodType
from typing import Any
from uuid import UUID

from coordinator.engine.classic.group import ClassicGroup

_ATOMS = frozenset({str, bytes, bool, type(None), float, UUID, frozenset})
"""Sets that do not change hold partitions and names: nothing to be left out."""
_TICKETS = frozenset({"joining", "syncing"})
"""Of a classic group: tickets by member; that there is one is what counts."""


def canonical(value: Any) -> Any:
    """The value as something hashable in which neither order nor time is left, where they do not matter."""
    kind: type[object] = type(value)
    if kind in _ATOMS:
        return value
    if kind is int:
        return value if value >= 0 else ("-", -value)  # the hashes of -1 and -2 are the same
    return _form(kind)(value)


_FORMS: dict[type, Callable[[Any], Any]] = {}


def _form(kind: type) -> Callable[[Any], Any]:
    if kind not in _FORMS:
        _FORMS[kind] = _chosen(kind)
    return _FORMS[kind]


def _chosen(kind: type) -> Callable[[Any], Any]:
    if issubclass(kind, Enum):
        return _itself
    if issubclass(kind, tuple | list):
        return _sequence
    if issubclass(kind, dict):
        return _mapping
    if issubclass(kind, set):
        return _set
    if kind is MethodType:
        return _method
    if kind is partial:
        return _partial
    if is_dataclass(kind):
        names = tuple(each.name for each in fields(kind) if not each.name.endswith("_ms"))
        return partial(_object, names, kind is ClassicGroup)
    return _attributes


def _itself(value: Any) -> Any:
    return value


def _sequence(value: Any) -> Any:
    return tuple([canonical(each) for each in value])


def _mapping(value: Any) -> Any:
    return frozenset([(canonical(key), canonical(each)) for key, each in value.items()])


def _set(value: Any) -> Any:
    return frozenset([canonical(each) for each in value])


def _method(value: Any) -> Any:
    return value.__func__.__qualname__


def _partial(value: Any) -> Any:
    return canonical(value.func), canonical(value.args)


def _object(names: tuple[str, ...], has_tickets: bool, value: Any) -> Any:
    return tuple(
        [
            frozenset(getattr(value, name))
            if has_tickets and name in _TICKETS
            else canonical(getattr(value, name))
            for name in names
        ]
    )


def _attributes(value: Any) -> Any:
    if isinstance(value, FunctionType):
        return value.__qualname__
    named = vars(value)
    return tuple([(name, canonical(each)) for name, each in named.items() if not name.endswith("_ms")])
