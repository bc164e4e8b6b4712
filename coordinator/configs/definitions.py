"""The configs that Kafka defines: names, types, defaults, valid values and documentation, from `kafka.tsv`. Values
are validated as in `ConfigDef`, with the same messages."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from importlib.resources import files
from typing import TypeAlias

from coordinator.errors import InvalidSetting
from wire.java_text import parse_number, trim

Value: TypeAlias = bool | int | float | str | tuple[str, ...]


class Type(IntEnum):
    """ConfigDef.Type, in the numbers of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One config. `default` is text, or None; `valid` is ConfigDef's description of valid values. `read_only`: it
    cannot be changed while the broker runs; `internal`: it is shown only if it was set. `synonyms` apply, in this
    order, if it is not set; a topic's or group's synonym is the broker's config."""

    name: str
    type: Type
    default: str | None
    valid: str
    read_only: bool
    sensitive: bool
    internal: bool
    synonyms: tuple[str, ...]
    documentation: str

    def parse(self, text: str) -> Value:
        """Parse a value. Raises InvalidSetting: it has the wrong type, or is invalid."""
        try:
            value = _PARSERS[self.type](text)
        except ValueError:
            is_boolean = self.type is Type.BOOLEAN
            expected = "Expected value to be either true or false" if is_boolean else _NUMBER + self.type.name
            raise self._invalid(text, expected) from None
        self._check(value)
        return value

    def shown(self, text: str) -> str:
        """A valid text as a broker shows it: without blanks, each item of a list once."""
        value = self.parse(text)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return str(value).replace("e+", "E").replace("e", "E")
        return ",".join(value) if isinstance(value, tuple) else str(value)

    def _check(self, value: Value) -> None:
        if self.valid == _REPLICAS:
            if isinstance(value, tuple) and value != ("*",) and not all(map(_REPLICA.fullmatch, value)):
                raise self._invalid(f"[{', '.join(value)}]", f"{self.name} {_REPLICAS_EXPECTED}")
        elif (bounds := _BOUNDS.fullmatch(self.valid)) and isinstance(value, int | float):
            self._check_bounds(value, *bounds.groups())
        elif choices := _CHOICES.fullmatch(self.valid):
            folded = bool(choices[1])
            known = choices[2].split(", ")
            for item in value if isinstance(value, tuple) else (str(value),):
                if (item.upper() if folded else item) not in known:
                    how = " (case insensitive)" if folded else ""
                    raise self._invalid(item, f"String must be one of{how}: {choices[2]}")
        elif self.valid == "non-empty string" and not value:
            raise self._invalid(value, "String must be non-empty")

    def _check_bounds(self, value: float, least: str, most: str | None, other: str | None) -> None:
        if other is not None and most is not None:
            if not float(least) <= value <= float(most) and value != float(other):
                raise self._invalid(value, f"Value must be between {least} and {most} or equal to {other}")
        elif value < float(least):
            raise self._invalid(value, f"Value must be at least {least}")
        elif most is not None and value > float(most):
            raise self._invalid(value, f"Value must be no more than {most}")

    def _invalid(self, value: object, why: str) -> InvalidSetting:
        return InvalidSetting(f"Invalid value {value} for configuration {self.name}: {why}")


_BOUNDS = re.compile(r"\[(-?\d+),\.\.\.(?:,(-?[\d.]+))?\](?: or (-?\d+))?")
_CHOICES = re.compile(r"(~?)\[([^.]*)\]")
_REPLICAS = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
_REPLICAS_EXPECTED = f"must be the literal '*' or a list of replicas in the following format: {_REPLICAS}"
_REPLICA = re.compile(r"\d+:\d+")
_NUMBER = "Not a number of type "


def _boolean(text: str) -> bool:
    lowered = trim(text).lower()
    if lowered not in ("true", "false"):
        raise ValueError(text)
    return lowered == "true"


def _whole(bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = parse_number(trim(text))
        if not -1 << bits <= value < 1 << bits:
            raise ValueError(text)
        return value

    return parse


def _list(text: str) -> tuple[str, ...]:
    trimmed = trim(text)
    return tuple(dict.fromkeys(part.strip() for part in trimmed.split(","))) if trimmed else ()


_PARSERS: Mapping[Type, Callable[[str], Value]] = {
    Type.BOOLEAN: _boolean,
    Type.STRING: trim,
    Type.INT: _whole(31),
    Type.SHORT: _whole(15),
    Type.LONG: _whole(63),
    Type.DOUBLE: float,
    Type.LIST: _list,
    Type.CLASS: trim,
    Type.PASSWORD: trim,
}


def _read() -> Mapping[str, Mapping[str, Definition]]:
    scopes: dict[str, dict[str, Definition]] = {}
    for line in files(__package__).joinpath("kafka.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            scope, name, kind, default, valid, flags, synonyms, documentation = line.split("\t")
            scopes.setdefault(scope, {})[name] = Definition(
                name=name,
                type=Type[kind],
                default=None if default == _NONE else _unescaped(default),
                valid=valid,
                read_only="r" in flags,
                sensitive="s" in flags,
                internal="i" in flags,
                synonyms=() if synonyms == "-" else tuple(synonyms.split(",")),
                documentation=_unescaped(documentation),
            )
    return scopes


_NONE = "\\N"
_ESCAPED = re.compile(r"\\(.)")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), text)


_SCOPES = _read()
BROKER, TOPIC, GROUP = (_SCOPES[scope] for scope in ("broker", "topic", "group"))
"""The definitions of broker, topic and group configs, by name."""
