"""The flags of a command line, read as joptsimple reads them for Kafka's tools, and checked in their words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from cli.dropin.errors import BadValue, ToolUsageError, VersionRequested
from wire.java_text import JAVA

_NUMBER = re.compile(r"([+-]?)0*(\d{1,19})")


class Value(Enum):
    """Whether a flag takes a value."""

    NONE = auto()
    OPTIONAL = auto()
    REQUIRED = auto()


def known_flags(by_value: Mapping[Value, str]) -> dict[str, Value]:
    """The flags of a tool by name, from their names by whether they take a value."""
    return dict(sorted((flag, takes) for takes, flags in by_value.items() for flag in flags.split()))


@dataclass(frozen=True, slots=True)
class ParsedFlags:
    """The flags of one command line: by name, the values in the order given (none if it has no value)."""

    values: dict[str, list[str]] = field(default_factory=dict)

    def has(self, *flags: str) -> bool:
        """Whether one of the flags was given."""
        return any(flag in self.values for flag in flags)

    def all(self, flag: str) -> list[str]:
        """The values of a flag that may be repeated."""
        return self.values.get(flag, [])

    def single(self, flag: str, error: type[Exception] = BadValue) -> str | None:
        """The value of a flag that may have at most one; None if it has none."""
        values = self.all(flag)
        if len(values) > 1:
            raise error(f"Found multiple arguments for option {flag}, but you asked for only one")
        return values[0] if values else None

    def exclude(self, flag: str, *others: str) -> None:
        """Refuse a flag with one of some others. Raises ToolUsageError, as the next ones do."""
        for other in others:
            if self.has(flag) and self.has(other):
                raise ToolUsageError(f'Option "[{flag}]" can\'t be used with option "[{other}]"')

    def at_most_one(self, *kind: str) -> None:
        for flag in kind:
            self.exclude(flag, *(other for other in kind if other != flag))

    def require_one(self, action: str, *others: str) -> None:
        if not self.has(*others):
            raise ToolUsageError(f"Option [{action}] takes one of these options: {listed(others)}")


def read_flags(
    arguments: Sequence[str],
    known: Mapping[str, Value],
    *,
    only_with: Sequence[tuple[str, Sequence[str]]] = (),
    required: str = "",
    aliases: Mapping[str, str] = {},
) -> ParsedFlags:
    """Read arguments as joptsimple does. `only_with`: flags that require one of several others, in the order of its
    message. Raises ToolUsageError: an unknown flag, a missing value or flag, or a flag without another one."""
    flags = ParsedFlags()
    # As Java reads them: bytes that are not UTF-8 become replacement characters.
    rest = [text.encode("utf-8", "surrogateescape").decode("utf-8", JAVA) for text in reversed(arguments)]
    while rest:
        argument = rest.pop()
        if argument == "--":
            break
        if not _looks_like_a_flag(argument):
            continue
        name, equals, value = argument.removeprefix("-").removeprefix("-").partition("=")
        name = aliases.get(name, name)
        if name not in known:
            # After a single hyphen, joptsimple parses one-letter flags, and reports the first letter.
            unknown = name if argument.startswith("--") else argument[1]
            raise ToolUsageError(f"{unknown} is not a recognized option")
        values = flags.values.setdefault(name, [])
        takes = known[name]
        if takes is Value.NONE:
            continue
        if equals:
            values.append(value)
        elif takes is Value.REQUIRED:
            if not rest:
                raise ToolUsageError(f"Option {name} requires an argument")
            values.append(rest.pop())
        elif rest and not _looks_like_a_flag(rest[-1]):
            values.append(rest.pop())
    if not flags.has("help", "version"):
        if required and not flags.has(required):
            raise ToolUsageError(f"Missing required option(s) [{required}]")
        if lonely := [flag for flag, others in only_with if flags.has(flag) and not flags.has(*others)]:
            names = ", ".join(lonely)
            raise ToolUsageError(
                f"Option(s) [{names}] are unavailable given other options on the command line"
            )
    return flags


def _looks_like_a_flag(argument: str) -> bool:
    return argument.startswith("-") and argument != "-"


def read_command(
    arguments: Sequence[str],
    known: Mapping[str, Value],
    purpose: str,
    *,
    only_with: Sequence[tuple[str, Sequence[str]]] = (),
    required: str = "",
    aliases: Mapping[str, str] = {},
) -> ParsedFlags:
    """The flags of a command line that asks neither for help nor for the version. Raises VersionRequested. Raises
    ToolUsageError: with the `purpose` of the tool, if help is requested."""
    flags = read_flags(arguments, known, only_with=only_with, required=required, aliases=aliases)
    if not arguments or flags.has("help"):
        raise ToolUsageError(purpose)
    if flags.has("version"):
        raise VersionRequested
    return flags


def listed(flags: Sequence[str]) -> str:
    """`[group], [topic]`, sorted as by the tools."""
    return ", ".join(f"[{flag}]" for flag in sorted(flags))


def long_value(flag: str, text: str) -> int:
    number = java_number(text, 64)
    if number is None:
        raise BadValue(f"Cannot parse argument '{text}' of option {flag}")
    return number


def java_number(text: str, bits: int) -> int | None:
    """A number as Java's `Integer` and `Long` read it; None if there is no such number in `bits`."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    number = int("".join(match.groups()))
    limit = 1 << (bits - 1)
    return number if -limit <= number < limit else None
