"""The command line of `kohort-consumer-groups`, for completion."""

from __future__ import annotations

from collections.abc import Mapping

from typer.core import TyperCommand, TyperOption

from cli.dropin.flags import FLAGS, Value

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
    "shift-by": "Shift by N records; back if N < 0.",
    "state": "Show states; with list, only groups in these.",
    "timeout": "How long to wait, in milliseconds.",
    "to-current": "Reset to the committed offset.",
    "to-datetime": "Reset to the first record since YYYY-MM-DDTHH:mm:SS.sss.",
    "to-earliest": "Reset to the first record.",
    "to-latest": "Reset to the end of the log.",
    "to-offset": "Reset to this offset.",
    "topic": "A topic, or topic:0,1; repeatable.",
    "type": "Show types; with list, only groups of these.",
    "validate-regex": "Check a regex with the broker's engine.",
    "verbose": "Describe with epochs, targets and assignments.",
    "version": "Print the version.",
}
METAVARS: Mapping[str, str] = {
    "command-config": "FILE",
    "from-file": "FILE",
    "group": "GROUP",
    "topic": "TOPIC",
}
REPEATABLE = ("group", "topic")


def drop_in() -> TyperCommand:
    """The flags as Typer's options, with the kinds of their values."""
    options = [
        TyperOption(
            param_decls=[f"--{flag}", flag.replace("-", "_")],
            help=HELP[flag],
            is_flag=value is Value.NONE,
            default=False if value is Value.NONE else None,
            required=False,
            metavar=METAVARS.get(flag),
            multiple=flag in REPEATABLE,
        )
        for flag, value in FLAGS.items()
    ]
    return TyperCommand(PROGRAM, params=list(options), add_help_option=False)
