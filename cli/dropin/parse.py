"""Parse arguments into `Options`, with the tool's own messages for invalid ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from cli.dropin.errors import BadValue, ToolUsageError
from cli.dropin.flags import ParsedFlags, Value, flags_in, long_value, read_command, refuse
from cli.dropin.printing import print_remark
from cli.dropin.wording import wording

_USAGE = "usage.txt"  # that of the newest release
FLAGS: Mapping[str, Value] = flags_in(_USAGE)
VERIFY_REGEX = "verify-regex"
"""The second name that KIP-848 has for `--validate-regex`; no release of the tool knows it."""
OF_THE_DOCUMENT = (
    "Also accepted, as KIP-848 describes it: --bootstrap-server <server> --describe --validate-regex <regex> "
    "[--group <group>… | --all-groups] compares the topics that the regex matches with those of the groups; "
    "--verify-regex is another name of --validate-regex."
)
"""What the usage of the tool does not contain."""

DEFAULT_TIMEOUT_MS = 30_000
NO_EXECUTE = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will "
    "require either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you "
    "are scripting this command and want to keep the current default behavior without prompting."
)
"""The warning of a reset with neither `--dry-run` nor `--execute`."""

ONLY_WITH = {
    "members": ("describe",), "offsets": ("describe",), "state": ("describe", "list"), "verbose": ("describe",),
    "type": ("list",),
}  # fmt: skip
"""Flags that require one of several other flags, in the order in which joptsimple names them."""

SCENARIOS = (
    "to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current", "shift-by", "from-file",
)  # fmt: skip
"""Scenarios of a reset, in the order in which the tool checks that only one is given."""


class Action(Enum):
    """The action: every command line has exactly one of these flags."""

    LIST = "list"
    DESCRIBE = "describe"
    DELETE = "delete"
    RESET_OFFSETS = "reset-offsets"
    DELETE_OFFSETS = "delete-offsets"
    VALIDATE_REGEX = "validate-regex"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All flags of the tool, checked like the tool does. None and () mean that a flag was not given."""

    action: Action
    bootstrap_server: str = ""  # Empty only if the action is VALIDATE_REGEX and no server was named
    command_config: Path | None = None
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    groups: tuple[str, ...] = ()  # The values of `--group`, in the order given; a group may be named twice
    topics: tuple[str, ...] = ()  # The values of `--topic`, as typed: `orders` or `orders:0,1`
    state: str | None = None  # For LIST: the states to show, as typed; empty without a value
    type: str | None = None  # For LIST: the types to show, as typed; empty without a value
    to_offset: int | None = None
    shift_by: int | None = None
    to_datetime: str | None = None
    by_duration: str | None = None
    from_file: Path | None = None

    regex: str | None = None  # The regex of VALIDATE_REGEX
    flags: ParsedFlags = field(default_factory=ParsedFlags)
    """All flags; those without a value and those of one tool are nowhere else."""

    def has(self, *flags: str) -> bool:
        """Whether one of the flags was given."""
        return self.flags.has(*flags)

    @property
    def group(self) -> str:
        """The only group. Raises BadValue: there are several."""
        return self.flags.single("group") or ""

    @property
    def changes(self) -> bool:
        """Whether the command changes the cluster."""
        deletes = self.action in (Action.DELETE, Action.DELETE_OFFSETS)
        return deletes or (self.action is Action.RESET_OFFSETS and self.has("execute"))


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line; warn on stderr if a reset has no `--execute`. Raises ToolUsageError or
    VersionRequested. Raises BadValue: for a value that the tool rejects only while it runs."""
    aliases = {VERIFY_REGEX: Action.VALIDATE_REGEX.value}
    flags = read_command(arguments, _USAGE, purpose=wording().purpose, only_with=ONLY_WITH, aliases=aliases)
    actions = [action for action in Action if flags.has(action.value)]
    if actions == [Action.DESCRIBE, Action.VALIDATE_REGEX] and flags.has("bootstrap-server"):
        flags.exclude("group", "all-groups")
        return _validation(flags)
    _check_combination(flags)
    action = only_action(flags, ", ".join(f"--{action.value}" for action in Action))
    return _validation(flags) if action is Action.VALIDATE_REGEX else options_of(action, flags)


def parse_command(
    arguments: Sequence[str],
    *,
    usage: str,
    check: Callable[[ParsedFlags], None],
    actions: str,
    only_with: Mapping[str, Sequence[str]] = ONLY_WITH,
    names: Mapping[str, str] = {},
) -> Options:
    """Read and check a command line of the tool with this help, as `parse` does for kohort-consumer-groups. `names`:
    what flags are called in `Options`."""
    flags = read_command(arguments, usage, only_with=only_with)
    check(flags)
    return options_of(only_action(flags, actions), flags.renamed(names))


def only_action(flags: ParsedFlags, names: str) -> Action:
    """The action of a command line. Raises ToolUsageError: not exactly one of the `names`."""
    actions = [action for action in Action if flags.has(action.value)]
    refuse(len(actions) != 1, f"Command must include exactly one action: {names}")
    return actions[0]


def _validation(flags: ParsedFlags) -> Options:
    """Of groups too, if `--describe` is given with it."""
    describes = flags.has("describe")
    servers, config = flags.all("bootstrap-server"), flags.all("command-config")
    return Options(
        action=Action.VALIDATE_REGEX,
        regex=flags.single("validate-regex", ToolUsageError),
        bootstrap_server=servers[0] if servers else "",
        command_config=Path(config[0]) if config else None,
        groups=tuple(flags.all("group")) if describes else (),
        flags=flags if describes else ParsedFlags(),
    )


def _check_combination(flags: ParsedFlags) -> None:
    flags.check_describe("members", "offsets", "state")
    if flags.has("delete"):
        flags.require_one("delete", "all-groups", "group")
        what = "topic-specific offset deletion from a consumer group"
        refuse(flags.has("topic"), f"The consumer does not support {what}.")
    flags.check_deletion()
    if flags.has("reset-offsets"):
        flags.check_execution()
        if not flags.has("dry-run", "execute"):
            print_remark(NO_EXECUTE)
        flags.require_one("reset-offsets", "all-groups", "group")
        flags.at_most_one(*SCENARIOS)
    flags.check_selection()


def options_of(action: Action, flags: ParsedFlags) -> Options:
    """The options, checked in the tool's order."""
    config = flags.single("command-config")
    server = flags.single("bootstrap-server")
    offsets = [long_value("to-offset", text) for text in flags.all("to-offset")]
    files, moments = flags.all("from-file"), flags.all("to-datetime")
    _check_named(server or "", config, files)
    duration, shift, timeout = (flags.single(flag) for flag in ("by-duration", "shift-by", "timeout"))
    return Options(
        action=action,
        bootstrap_server=server or "",
        command_config=None if config is None else Path(config),
        groups=tuple(flags.all("group")),
        topics=tuple(flags.all("topic")),
        flags=flags,
        state=(flags.single("state") or "") if flags.has("state") else None,
        type=(flags.single("type") or "") if flags.has("type") else None,
        to_offset=offsets[0] if offsets else None,
        from_file=Path(files[0]) if files else None,
        to_datetime=moments[0] if moments else None,
        by_duration=duration,
        shift_by=None if shift is None else long_value("shift-by", shift),
        timeout_ms=DEFAULT_TIMEOUT_MS if timeout is None else long_value("timeout", timeout),
    )


def _check_named(server: str, config: str | None, files: Sequence[str]) -> None:
    """Refuse empty names of servers and files, as the tool does once it uses them."""
    if not server.strip():
        raise BadValue("no bootstrap server is given: write it as host:port, for example broker-1:9092")
    if not all(map(str.strip, server.split(","))):
        raise BadValue("Configuration 'bootstrap.servers' values must not be empty.")
    if config == "":
        raise BadValue("--command-config is empty: name a properties file, or leave it out")
    if "" in files:
        raise BadValue("java.io.IOException: Unable to read file ")
