"""The flags of a command line, read as joptsimple reads them for Kafka's tools, and checked in their words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from cli.dropin.errors import BadValue, ToolUsageError, VersionRequested
from cli.dropin.printing import purpose_and_usage
from wire.java_text import JAVA

_NUMBER = re.compile(r"([+-]?)0*(\d{1,19})")


class Value(Enum):
    """Whether a flag takes a value."""

    NONE = auto()
    OPTIONAL = auto()
    REQUIRED = auto()


_FLAG = re.compile(r"^(\* )?--([a-z][a-z-]*)( [<\[])?", re.MULTILINE)
"""A flag in the help of a tool: `* ` precedes one that is required, and ` <` or ` [` follows one that has a value."""


def flags_in(file: str) -> dict[str, Value]:
    """The flags that the help of a tool explains."""
    kinds = {" <": Value.REQUIRED, " [": Value.OPTIONAL}
    found = _FLAG.findall(purpose_and_usage(file)[1])
    return {name: kinds.get(kind, Value.NONE) for _, name, kind in found}


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
            both = self.has(flag) and self.has(other)
            refuse(both, f'Option "[{flag}]" can\'t be used with option "[{other}]"')

    def renamed(self, names: Mapping[str, str]) -> "ParsedFlags":
        """With some flags also under other names."""
        more = {new: self.values[old] for old, new in names.items() if old in self.values}
        return ParsedFlags(self.values | more)

    def at_most_one(self, *kind: str) -> None:
        for flag in kind:
            self.exclude(flag, *(other for other in kind if other != flag))

    def require_one(self, action: str, *others: str) -> None:
        refuse(not self.has(*others), f"Option [{action}] takes one of these options: {listed(others)}")

    def check_describe(self, *parts: str) -> None:
        """Refuse a command line without a server, and a description of no group, of several `parts`, or of groups in a
        state."""
        server = self.has("bootstrap-server", "validate-regex")
        refuse(not server, 'Missing required argument "[bootstrap-server]"')
        if self.has("describe"):
            self.require_one("describe", "all-groups", "group")
            takes = f"at most one of these options: {listed(parts)}"
            refuse(sum(map(self.has, parts)) > 1, f"Option [describe] takes {takes}")
            state = self.single("state", ToolUsageError)
            refuse(state is not None, "Option [describe] does not take a value for [state]")

    def check_deletion(self) -> None:
        """Refuse a deletion of the offsets of no group, or of no topic."""
        invalid = self.has("delete-offsets") and not (self.has("group") and self.has("topic"))
        refuse(invalid, "Option [delete-offsets] takes the following options: [group], [topic]")

    def check_execution(self, *, required: bool = False) -> None:
        """Refuse a reset that is both planned and executed, and one that is neither if that is `required`."""
        both = self.has("dry-run") and self.has("execute")
        refuse(both, "Option [reset-offsets] only accepts one of [execute] and [dry-run]")
        neither = required and not self.has("dry-run", "execute")
        refuse(neither, "Option [reset-offsets] takes the option: [execute] or [dry-run]")

    def check_selection(self, topic: str = "topic") -> None:
        """Refuse groups that are both named and all, and groups and topics for actions that do not take them."""
        self.exclude("group", "all-groups", "list")
        self.exclude(topic, "describe", "list")


def refuse(invalid: bool, message: str) -> None:
    """Raise ToolUsageError if the command line is invalid."""
    if invalid:
        raise ToolUsageError(message)


def read_command(
    arguments: Sequence[str],
    file: str,
    *,
    purpose: str = "",
    only_with: Mapping[str, Sequence[str]] = {},
    aliases: Mapping[str, str] = {},
) -> ParsedFlags:
    """The flags of a command line of the tool with this help, as joptsimple reads them. `only_with`: flags that require
    one of several others, in the order of its message. Raises VersionRequested. Raises ToolUsageError: help is
    requested, a flag is unknown, a value or flag is missing, or a flag is without another one."""
    known = flags_in(file)
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
        # After a single hyphen, joptsimple parses one-letter flags, and reports the first letter.
        unknown = name if argument.startswith("--") else argument[1]
        refuse(name not in known, f"{unknown} is not a recognized option")
        values = flags.values.setdefault(name, [])
        takes = known[name]
        if takes is Value.NONE:
            continue
        if equals:
            values.append(value)
        elif takes is Value.REQUIRED:
            refuse(not rest, f"Option {name} requires an argument")
            values.append(rest.pop())
        elif rest and not _looks_like_a_flag(rest[-1]):
            values.append(rest.pop())
    if not flags.has("help", "version"):
        required = [name for star, name, _ in _FLAG.findall(purpose_and_usage(file)[1]) if star]
        missing = [name for name in required if not flags.has(name)]
        refuse(bool(missing), f"Missing required option(s) {listed(missing)}")
        lonely = ", ".join(f for f, others in only_with.items() if flags.has(f) and not flags.has(*others))
        refuse(bool(lonely), f"Option(s) [{lonely}] are unavailable given other options on the command line")
    if not arguments or flags.has("help"):
        raise ToolUsageError(purpose or purpose_and_usage(file)[0])
    if flags.has("version"):
        raise VersionRequested
    return flags


def _looks_like_a_flag(argument: str) -> bool:
    return argument.startswith("-") and argument != "-"


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
