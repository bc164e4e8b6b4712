"""A copy of a part of a state, to take a step with: frozen dataclasses, enums and metrics are shared."""

from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from coordinator.consumer.metrics import Metrics
from coordinator.engine.timers import Timers

T = TypeVar("T")
Memo: TypeAlias = dict[int, object]
_Fork: TypeAlias = Callable[[Any, Memo], object]

_SHARED = (
    str,
    bytes,
    int,
    float,
    type(None),
    UUID,
    FunctionType,
    MappingProxyType,
    frozenset,
    Enum,
    type,
    Metrics,
)


def fork(state: T) -> T:
    """An independent copy. An object that is referenced twice is copied once."""
    copied: T = _fork(state, {})
    return copied


def _fork(value: object, memo: Memo) -> Any:
    form = _form(type(value))
    return value if form is None else form(value, memo)


_FORMS: dict[type, _Fork | None] = {}


def _form(kind: type) -> _Fork | None:
    """How objects of a class are copied; None: they are shared."""
    try:
        return _FORMS[kind]
    except KeyError:
        form = _FORMS[kind] = _chosen(kind)
        return form


def _chosen(kind: type) -> _Fork | None:
    if issubclass(kind, tuple) and kind is not tuple:  # named tuples hold values
        return None
    for base, form in _OF_CLASSES:
        if issubclass(kind, base):
            return form
    if is_dataclass(kind):
        if kind.__dataclass_params__.frozen and not _holds_steps(kind):  # type: ignore[attr-defined]  # no stub
            return None
        return partial(_slots, tuple(field.name for field in fields(kind)))
    if not kind.__dictoffset__:
        return partial(_slots, tuple(kind.__slots__))  # type: ignore[attr-defined]  # no dict: it has slots
    return _attributes


def _timers(value: Timers, _memo: Memo) -> Timers:
    """Keys and deadlines are immutable."""
    known = object.__new__(Timers)
    for name, part in vars(value).items():
        known.__dict__[name] = copy(part)
    return known


def _holds_steps(kind: type) -> bool:
    """Whether the class has a field with a callback that is bound to its member."""
    return any("Step" in str(field.type) or "Callable" in str(field.type) for field in fields(kind))


def _tuple(value: tuple[object, ...], memo: Memo) -> object:
    return tuple([_fork(item, memo) for item in value])


def _dict(value: dict[object, object], memo: Memo) -> object:
    known = memo.get(id(value))
    if known is None:
        known = memo[id(value)] = value.copy()
        for key, part in value.items():
            known[key] = _fork(part, memo)
    return known


def _list(value: list[object], memo: Memo) -> object:
    known = memo.get(id(value))
    if known is None:
        known = memo[id(value)] = [_fork(item, memo) for item in value]
    return known


def _slots(names: tuple[str, ...], value: object, memo: Memo) -> object:
    known = memo.get(id(value))
    if known is None:
        known = memo[id(value)] = object.__new__(type(value))
        for name in names:
            object.__setattr__(known, name, _fork(getattr(value, name), memo))
    return known


def _attributes(value: object, memo: Memo) -> object:
    known = memo.get(id(value))
    if known is None:
        known = memo[id(value)] = object.__new__(type(value))
        for name, part in vars(value).items():
            vars(known)[name] = _fork(part, memo)
    return known


_OF_CLASSES: tuple[tuple[type | tuple[type, ...], _Fork | None], ...] = (
    (_SHARED, None),
    (tuple, _tuple),
    ((Counter, set), lambda value, _: copy(value)),  # of shared values
    (dict, _dict),
    (list, _list),
    (MethodType, lambda value, memo: MethodType(value.__func__, _fork(value.__self__, memo))),
    (
        partial,
        lambda value, memo: partial(_fork(value.func, memo), *[_fork(arg, memo) for arg in value.args]),
    ),
    (Timers, _timers),
)
