"""The command line of `kohort-consumer-groups`, for completion."""

from __future__ import annotations

from collections.abc import Mapping

from cli.dropin.flags import FLAGS, Value
from cli.verbs.completion.grammar import FILES, Command, Option, Values
from cli.verbs.completion.kinds import ask, values_of

PROGRAM = "kohort-consumer-groups"

HELP: Mapping[str, str] = {
    "all-groups": "All consumer groups.",
    "all-topics": "All topics that the group has offsets of.",
    "bootstrap-server": "The cluster: HOST:PORT,…",
    "by-duration": "Reset to what was written since PnDTnHnMnS ago.",
    "command-config": "Client properties.",
    "delete": "Delete groups without members.",
    "delete-offsets": "Delete committed offsets of topics.",
    "describe": "Show offsets and lag, members or state of groups.",
    "dry-run": "Show what a reset would do (the default).",
    "execute": "Make the reset.",
    "export": "Print the offsets of a reset as CSV.",
    "from-file": "Reset to the offsets of a CSV file.",
    "group": "A group; repeatable.",
    "help": "Print the usage.",
    "list": "List groups.",
    "members": "Describe members and what they own.",
    "offsets": "Describe offsets and lag (the default).",
    "reset-offsets": "Reset committed offsets.",
    "shift-by": "Reset by N records; back where N < 0.",
    "state": "Show states; with list, only groups in these.",
    "timeout": "How long to wait, in milliseconds.",
    "to-current": "Reset to the committed offset.",
    "to-datetime": "Reset to the first record since YYYY-MM-DDTHH:mm:SS.sss.",
    "to-earliest": "Reset to the first record.",
    "to-latest": "Reset behind the last record.",
    "to-offset": "Reset to this offset.",
    "topic": "A topic, or topic:0,1; repeatable.",
    "type": "Show types; with list, only groups of these.",
    "validate-regex": "Judge a regex by the broker's engine.",
    "verbose": "Describe with epochs, targets and assignments.",
    "version": "Print the version.",
}
VALUES: Mapping[str, Values] = {
    "command-config": FILES,
    "from-file": FILES,
    "group": ask("groups"),
    "topic": ask("topics"),
}
REPEATABLE = ("group", "topic")


def drop_in() -> Command:
    """The flags, with what their values are."""
    return Command(
        words=(PROGRAM,),
        help="Exactly the flags of kafka-consumer-groups.sh.",
        options=tuple(_option(flag, value) for flag, value in FLAGS.items()),
    )


def _option(flag: str, value: Value) -> Option:
    values = VALUES.get(flag) or values_of(PROGRAM, f"--{flag}", "")
    return Option(
        names=(f"--{flag}",),
        help=HELP[flag],
        values=None if value is Value.NONE else values,
        values_optional=value is Value.OPTIONAL,
        repeatable=flag in REPEATABLE,
    )
