"""The flags of the tool, and how its parser (joptsimple 5) reads them from arguments.

The forms are `--flag value`, `--flag=value` and, as in joptsimple, `-flag value`. A flag that requires a value takes
the next argument, whatever it is; a flag with an optional value takes the next argument unless that starts with a
hyphen. Flags may be repeated, abbreviations are unknown, and arguments that belong to no flag are ignored without a
message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from cli.dropin.errors import ToolUsageError


class Value(Enum):
    """Whether a flag takes a value."""

    NONE = auto()
    OPTIONAL = auto()
    REQUIRED = auto()


_BY_VALUE = {
    Value.NONE: "all-groups all-topics delete delete-offsets describe dry-run execute export help list members "
    "offsets reset-offsets to-current to-earliest to-latest verbose version",
    Value.OPTIONAL: "state type",
    Value.REQUIRED: "bootstrap-server by-duration command-config from-file group shift-by timeout to-datetime "
    "to-offset topic validate-regex",
}
FLAGS: Mapping[str, Value] = dict(
    sorted((flag, takes) for takes, flags in _BY_VALUE.items() for flag in flags.split())
)


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


def read_flags(arguments: Sequence[str]) -> ParsedFlags:
    """Read arguments; ToolUsageError for an unknown flag and for a missing value."""
    given = ParsedFlags()
    rest = list(reversed(arguments))
    while rest:
        argument = rest.pop()
        if argument == "--":
            break
        if not _looks_like_a_flag(argument):
            continue
        name, equals, value = argument.removeprefix("-").removeprefix("-").partition("=")
        if name not in FLAGS:
            # After a single hyphen, joptsimple parses one-letter flags, and reports the first letter.
            unknown = name if argument.startswith("--") else argument[1]
            raise ToolUsageError(f"{unknown} is not a recognized option")
        values = given.values.setdefault(name, [])
        takes = FLAGS[name]
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
    return given


def _looks_like_a_flag(argument: str) -> bool:
    return argument.startswith("-") and argument != "-"
