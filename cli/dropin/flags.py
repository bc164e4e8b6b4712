"""The flags of the tool, and how its parser (joptsimple 5) reads them from arguments.

`--flag value`, `--flag=value` and, as joptsimple has it, `-flag value`. A flag that wants a value takes the next
argument whatever it looks like; one whose value is optional takes the next argument unless that begins with a
hyphen. Flags may be repeated, abbreviations are not known, and arguments that belong to no flag are ignored without a
word.
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


FLAGS: Mapping[str, Value] = {
    "all-groups": Value.NONE,
    "all-topics": Value.NONE,
    "bootstrap-server": Value.REQUIRED,
    "by-duration": Value.REQUIRED,
    "command-config": Value.REQUIRED,
    "delete": Value.NONE,
    "delete-offsets": Value.NONE,
    "describe": Value.NONE,
    "dry-run": Value.NONE,
    "execute": Value.NONE,
    "export": Value.NONE,
    "from-file": Value.REQUIRED,
    "group": Value.REQUIRED,
    "help": Value.NONE,
    "list": Value.NONE,
    "members": Value.NONE,
    "offsets": Value.NONE,
    "reset-offsets": Value.NONE,
    "shift-by": Value.REQUIRED,
    "state": Value.OPTIONAL,
    "timeout": Value.REQUIRED,
    "to-current": Value.NONE,
    "to-datetime": Value.REQUIRED,
    "to-earliest": Value.NONE,
    "to-latest": Value.NONE,
    "to-offset": Value.REQUIRED,
    "topic": Value.REQUIRED,
    "type": Value.OPTIONAL,
    "validate-regex": Value.REQUIRED,
    "verbose": Value.NONE,
    "version": Value.NONE,
}


@dataclass(frozen=True, slots=True)
class Given:
    """The flags of one command line: by name, the values in the order given (none, if it came without)."""

    values: dict[str, list[str]] = field(default_factory=dict)

    def has(self, *flags: str) -> bool:
        """Whether one of the flags was given."""
        return any(flag in self.values for flag in flags)

    def all(self, flag: str) -> list[str]:
        """The values of a flag that may be repeated."""
        return self.values.get(flag, [])


def read_flags(arguments: Sequence[str]) -> Given:
    """Read arguments; ToolUsageError for an unknown flag and for one that lacks its value."""
    given = Given()
    rest = list(reversed(arguments))
    while rest:
        argument = rest.pop()
        if argument == "--":
            break
        if not _looks_like_a_flag(argument):
            continue
        name, equals, value = argument.removeprefix("-").removeprefix("-").partition("=")
        if name not in FLAGS:
            # After one hyphen joptsimple looks for flags of one letter, and there is none.
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
