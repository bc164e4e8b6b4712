"""A plan as plain data, and back: what `kohort plan --output yaml|json` prints is what `kohort gate` reads.

The data follow the dataclasses of `migration.model`: a field added there is written and read without a line here.
Conditions are tagged by their kind: `{check: state-in, states: [Stable]}`. On top of the fields stand what people and
scripts ask for and what follows from the rest: `client`, `verdict` and each step's number; they are not read back.

Reading trusts nothing: every value is checked against its field's type and range, an unknown field is refused (a gate
that passes over a condition it does not know would open when it must not), and the number of values is bounded, so that
a small file whose aliases repeat each other costs no memory.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from migration import conditions
from migration.conditions import Condition
from migration.errors import MigrationError
from migration.model import UNWRITTEN, Plan, Step

MAX_VALUES = 2_000_000
"""Values in a plan: 40 times those of a plan for 500 members."""
MAX_NUMBER = 2**53
"""What every reader of JSON keeps exactly."""

_RENAMED = {"origin": "from", "destination": "to"}
"""Fields of a plan that have another name in the document."""
_ENVELOPE = ("kohort", "command", "errors")
"""What every JSON document of Kohort has around its data."""
_DERIVED = ("client", "verdict")
_DERIVED_OF_STEP = ("step", "danger")
_TAG = "check"
_CONDITIONS: Mapping[str, type] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower(): kind for kind in get_args(Condition)
}
_TAGS = {kind: tag for tag, kind in _CONDITIONS.items()}

Path = tuple[str | int, ...]


class PlanFileError(MigrationError):
    """A plan file that is none: says which field is wrong and why."""

    def __init__(self, path: Path, message: str) -> None:
        self.path, self.message = path, message
        super().__init__(f"{_dotted(path)}: {message}" if path else message)


def plan_to_data(plan: Plan) -> dict[str, Any]:
    """The fields of the `kohort plan` document."""
    written = {_RENAMED.get(name, name): value for name, value in _written_fields(plan)}
    first = {name: written.pop(name) for name in ("group", "from", "to")}
    last = {name: written.pop(name) for name in ("findings", "steps")}
    last["steps"] = [
        {"step": number, **written, "danger": danger_of(step)}
        for number, (step, written) in enumerate(zip(plan.steps, last["steps"], strict=True), 1)
    ]
    derived = {"client": ", ".join(plan.clients) or None, "verdict": plan.verdict.value}
    return {**first, **derived, **written, **last}


def danger_of(step: Step) -> str:
    """The dangers of a step in one text."""
    return " ".join(f"{danger.what} {danger.symptom} {danger.then}" for danger in step.dangers)


def condition_to_data(condition: Condition) -> dict[str, Any]:
    """A condition with its tag."""
    data: dict[str, Any] = _written(condition)
    return data


def condition_tag(condition: Condition) -> str:
    """The name of a condition's kind in plan files: `state-in`."""
    return _TAGS[type(condition)]


def plan_from_data(data: object) -> Plan:
    """The plan that `plan_to_data` wrote; PlanFileError names the field that is wrong.

    Numbers may be texts, as YAML read without a schema has them.
    """
    reader = _Reader()
    if not isinstance(data, dict) or "steps" not in data:
        reader.fail((), "this is no plan: `kohort plan GROUP --to … --output yaml` writes one")
    known = {_RENAMED.get(name, name) for name in _names(Plan)}
    reader.refuse_unknown(data, (), (*known, *_DERIVED, *_ENVELOPE))
    own = {
        field: data[_RENAMED.get(field, field)]
        for field in _names(Plan)
        if _RENAMED.get(field, field) in data
    }
    plan: Plan = reader.instance(Plan, own, ())
    _check_numbers(reader, data["steps"])
    _check_sense(reader, plan)
    return plan


def _written_fields(value: Any) -> Iterator[tuple[str, Any]]:
    kind: Any = type(value)
    for name in _names(kind):
        yield name, _written(getattr(value, name))


def _written(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        tag = _TAGS.get(type(value))
        return {**({_TAG: tag} if tag else {}), **dict(_written_fields(value))}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _written(item) for key, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, tuple | list) else value


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.metadata != UNWRITTEN)


@dataclass(slots=True)
class _Reader:
    """Reads values by the types of the fields that they are for."""

    values: int = 0

    def fail(self, path: Path, message: str) -> NoReturn:
        raise PlanFileError(path, message)

    def read(self, hint: Any, value: Any, path: Path) -> Any:
        """The value as its field wants it."""
        self.values += 1
        if self.values > MAX_VALUES:
            self.fail(path, f"no plan holds more than {MAX_VALUES} values")
        if hint == Condition:
            return self._condition(value, path)
        origin = get_origin(hint)
        if origin in (Union, UnionType):
            return self._optional(hint, value, path)
        if origin is tuple:
            return self._tuple(get_args(hint), value, path)
        if origin is not None:
            return self._mapping(get_args(hint), value, path)
        if is_dataclass(hint):
            return self.instance(hint, value, path)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return self._enum(hint, value, path)
        return self._scalar(hint, value, path)

    def instance(self, kind: Any, value: Any, path: Path, *tags: str) -> Any:
        """A dataclass from a mapping of its fields; what has a default may be missing."""
        if not isinstance(value, dict):
            self.fail(path, f"expected a mapping, found {_shown(value)}")
        extra = _DERIVED_OF_STEP if kind is Step else ()
        self.refuse_unknown(value, path, (*_names(kind), *extra, *tags))
        hints, given = _hints(kind), {}
        for field in fields(kind):
            if field.metadata == UNWRITTEN:
                continue
            name = _RENAMED.get(field.name, field.name) if kind is Plan else field.name
            if field.name in value:
                given[field.name] = self.read(hints[field.name], value[field.name], (*path, name))
            elif _is_required(field):
                self.fail((*path, name), "is missing")
        return kind(**given)

    def refuse_unknown(self, value: Mapping[Any, Any], path: Path, known: tuple[str, ...]) -> None:
        """Fail at the first key that is no field."""
        for name in value:
            if name in known:
                continue
            near = difflib.get_close_matches(str(name)[:100], [k for k in known if k not in value], n=1)
            hint = (
                f"is {near[0]!r} meant?"
                if near
                else "a newer Kohort may have written it; plan anew with this one"
            )
            self.fail((*path, str(name)), f"unknown field; {hint}")

    def _condition(self, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            self.fail(path, f"expected a mapping with `{_TAG}: …`, found {_shown(value)}")
        tag = value.get(_TAG)
        if not isinstance(tag, str) or tag not in _CONDITIONS:
            self.fail((*path, _TAG), f"expected one of {', '.join(_CONDITIONS)}; found {_shown(tag)}")
        return self.instance(_CONDITIONS[tag], value, path, _TAG)

    def _optional(self, hint: Any, value: Any, path: Path) -> Any:
        if value is None:
            if type(None) in get_args(hint):
                return None
            self.fail(path, "may not be null")
        (inner,) = [one for one in get_args(hint) if one is not type(None)]
        return self.read(inner, value, path)

    def _tuple(self, arguments: tuple[Any, ...], value: Any, path: Path) -> tuple[Any, ...]:
        if not isinstance(value, list):
            self.fail(path, f"expected a list, found {_shown(value)}")
        return tuple(self.read(arguments[0], item, (*path, position)) for position, item in enumerate(value))

    def _mapping(self, arguments: tuple[Any, ...], value: Any, path: Path) -> dict[Any, Any]:
        if not isinstance(value, dict):
            self.fail(path, f"expected a mapping, found {_shown(value)}")
        key, item = arguments
        return {
            self.read(key, name, path): self.read(item, content, (*path, name))
            for name, content in value.items()
        }

    def _enum(self, kind: type[Enum], value: Any, path: Path) -> Enum:
        parse: Callable[[str], Enum] = getattr(kind, "parse", kind)
        try:
            if not isinstance(value, str):
                raise ValueError
            return parse(value)
        except ValueError:
            known = ", ".join(str(member.value) for member in kind)
            self.fail(path, f"expected one of {known}; found {_shown(value)}")

    def _scalar(self, kind: Any, value: Any, path: Path) -> Any:
        if kind is str:
            if isinstance(value, bool) or not isinstance(value, str | int):
                self.fail(path, f"expected a text, found {_shown(value)}")
            return str(value)
        if kind is bool:
            if value not in (True, False, "true", "false"):
                self.fail(path, f"expected true or false, found {_shown(value)}")
            return value in (True, "true")
        return self._number(kind, value, path)

    def _number(self, kind: Any, value: Any, path: Path) -> Any:
        expected = "a whole number" if kind is int else "a number"
        try:
            if isinstance(value, bool | dict | list) or (kind is int and isinstance(value, float)):
                raise ValueError
            number = kind(value)
        except (ValueError, TypeError, OverflowError):
            self.fail(path, f"expected {expected}, found {_shown(value)}")
        if not 0 <= number <= MAX_NUMBER:  # NaN is nowhere
            self.fail(path, f"{_shown(value)} is out of range: from 0 on")
        return number


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _check_numbers(reader: _Reader, steps: Any) -> None:
    """A step whose number is not its place: somebody took one out, or moved it."""
    for position, step in enumerate(steps):
        told = step.get("step", position + 1)
        if str(told) != str(position + 1):
            reader.fail(
                ("steps", position, "step"),
                f"expected {position + 1}, found {_shown(told)}: a step is missing or out of its place",
            )


def _check_sense(reader: _Reader, plan: Plan) -> None:
    """What no type tells: ids that lead somewhere, bounds that leave room."""
    if not plan.group:
        reader.fail(("group",), "is empty")
    if plan.concurrency < 1:
        reader.fail(("concurrency",), "expected at least 1")
    ids = [step.id for step in plan.steps]
    for position, step in enumerate(plan.steps):
        if step.id and step.id in ids[:position]:
            reader.fail(("steps", position, "id"), f"the id {step.id!r} stands here twice")
        if step.id.isdecimal():
            reader.fail(
                ("steps", position, "id"), f"{step.id!r} is a number: steps have numbers beside their ids"
            )
        for number, stray in enumerate(step.strays):
            if stray.back_to not in ids or not stray.back_to:
                reader.fail(
                    ("steps", position, "strays", number, "back_to"), f"no step has the id {stray.back_to!r}"
                )
            if not stray.conditions:
                reader.fail(("steps", position, "strays", number, "conditions"), "is empty")
            _check_conditions(reader, stray.conditions, ("steps", position, "strays", number, "conditions"))
        for name in ("gate", "between"):
            _check_conditions(reader, getattr(step, name), ("steps", position, name))
    if plan.baseline is not None:
        _check_members(reader, [member.id for member in plan.baseline.members])


def _check_conditions(reader: _Reader, found: tuple[Condition, ...], path: Path) -> None:
    for position, condition in enumerate(found):
        if isinstance(condition, conditions.MemberCount):
            least, most = condition.at_least, condition.at_most
            if least is None and most is None:
                reader.fail((*path, position), "expected at_least, at_most or both")
            if least == 0 and most is None:
                reader.fail((*path, position, "at_least"), "expected at least 1: every group has 0 members")
            if least is not None and most is not None and least > most:
                reader.fail((*path, position, "at_most"), f"{most} is less than at_least, {least}")
        if isinstance(condition, conditions.Speaking) and condition.at_least == 0:
            reader.fail((*path, position, "at_least"), "expected at least 1: 0 members always do")
        if isinstance(condition, conditions.StateIn) and not condition.states:
            reader.fail((*path, position, "states"), "is empty")


def _check_members(reader: _Reader, ids: list[str]) -> None:
    seen: set[str] = set()
    for position, member in enumerate(ids):
        if member in seen:
            reader.fail(("baseline", "members", position, "id"), f"{member!r} stands here twice")
        seen.add(member)


def _dotted(path: Path) -> str:
    """`steps[2].gate[0].protocol`; list positions count from 0."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        else:
            shown += ("." if shown else "") + (step if len(step) <= 60 else f"{step[:57]}…")
    return shown


def _shown(value: Any) -> str:
    """A wrong value for a message, cut where it is long."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value) if isinstance(value, str | bool | float) else str(value)[:60]
    return text if len(text) <= 60 else f"{text[:57]}…"
