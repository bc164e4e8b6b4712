"""Canonical forms of values: hashable, without order and time if these do not matter."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from operator import attrgetter
from types import FunctionType, MappingProxyType, MethodType
from typing import Any
from uuid import UUID

from coordinator.consumer.member_assignors import MemberAssignors
from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.classic.group import ClassicGroup

ATOMS = frozenset({str, bytes, bool, type(None), float, frozenset, TopicPartition})
"""Types that are their own form. Immutable sets contain only partitions and names: nothing to omit."""
_TICKETS = frozenset({"joining", "syncing"})
"""Fields of a classic group that contain a ticket per member; only the existence of the ticket counts."""


_DERIVED = frozenset({"_owners", "_static", "_subscriptions", "regex_users"})
"""Fields of a consumer group that are derived from its members."""


def canonical(value: Any) -> Any:
    """The value in a hashable form without order and time, if these do not matter."""
    kind: type[object] = type(value)
    if kind in ATOMS:
        return value
    if kind is int:
        return value if value >= 0 else ("-", -value)  # -1 and -2 have the same hash
    return _form(kind)(value)


_FORMS: dict[type, Callable[[Any], Hashable]] = {}


def _form(kind: type) -> Callable[[Any], Hashable]:
    if kind not in _FORMS:
        _FORMS[kind] = _chosen(kind)
    return _FORMS[kind]


def _chosen(kind: type) -> Callable[[Any], Hashable]:
    for base, form in _OF_CLASSES:
        if issubclass(kind, base):
            return form
    if is_dataclass(kind):
        names = tuple(field.name for field in fields(kind) if not field.name.endswith("_ms"))
        return partial(_object, names, kind is ClassicGroup)
    return _attributes


def _sequence(value: Iterable[object]) -> Hashable:
    return tuple([canonical(item) for item in value])


def _object(names: tuple[str, ...], has_tickets: bool, value: object) -> Hashable:
    return tuple(
        [
            frozenset(getattr(value, name))
            if has_tickets and name in _TICKETS
            else canonical(getattr(value, name))
            for name in names
        ]
    )


def _attributes(value: object) -> Hashable:
    if isinstance(value, FunctionType):
        return value.__qualname__
    return tuple(
        [
            canonical(part)
            for name, part in vars(value).items()
            if not name.endswith("_ms") and name not in _DERIVED
        ]
    )


_OF_CLASSES: tuple[tuple[type | tuple[type, ...], Callable[[Any], Hashable]], ...] = (
    (Enum, attrgetter("_name_")),  # names hash faster than members
    (UUID, attrgetter("int")),
    ((tuple, list), _sequence),
    (
        (dict, MappingProxyType),
        lambda value: frozenset([(canonical(key), canonical(part)) for key, part in value.items()]),
    ),
    (set, lambda value: frozenset([canonical(item) for item in value])),
    (MethodType, lambda value: value.__func__.__qualname__),
    (partial, lambda value: (canonical(value.func), canonical(value.args))),
    # What else it has is the same in all states.
    (MemberAssignors, partial(_object, ("_here", "_sent", "_assigned_generation"), False)),
)
