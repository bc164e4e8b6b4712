"""`kohort-groups`: the command line of kafka-groups.sh, which lists groups of all types."""

from collections.abc import Callable, Sequence
from functools import partial

from cli.dropin.cluster import list_groups
from cli.dropin.errors import ToolUsageError
from cli.dropin.flags import read_command, refuse
from cli.dropin.main import KafkaTool, run_tool
from cli.dropin.parse import Options, only_action, options_of
from cli.dropin.printing import Column, safe_lines, table, width_of
from cli.errors import ExitStatus
from cli.sources.live import LiveSource
from groups.model import GroupListing, GroupType

_USAGE = "usage-groups.txt"
_OF_A_KIND: dict[str, Callable[[GroupListing], bool]] = {
    "consumer": lambda group: group.protocol_type in ("", "consumer") or group.type is GroupType.CONSUMER,
    "share": lambda group: group.type is GroupType.SHARE,
    "streams": lambda group: group.type is GroupType.STREAMS,
}
"""Which groups each of these flags selects."""
_TYPES = [kind.value for kind in GroupType if kind is not GroupType.UNKNOWN]
_NARROWEST = 20


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line, as cli.dropin.parse.parse does for kohort-consumer-groups."""
    flags = read_command(arguments, _USAGE)
    action = only_action(flags, "--list.")
    kind = flags.single("group-type", ToolUsageError)
    known = kind is None or kind.lower() in _TYPES
    refuse(not known, "--group-type must be a valid group type.")
    for flag in _OF_A_KIND:
        others = [*_OF_A_KIND, "group-type", "protocol"]
        flags.exclude(flag, *sorted(other for other in others if other != flag))
    for flag in ("bootstrap-server", "command-config"):
        flags.single(flag, ToolUsageError)
    return options_of(action, flags)


def run_list(options: Options, source: LiveSource) -> int:
    """Print the groups that the flags select; the status of reading them."""
    listed, status = list_groups(source, *GroupType)
    flags = options.flags
    kind, protocol = flags.single("group-type"), flags.single("protocol")
    kinds = [selects for flag, selects in _OF_A_KIND.items() if flags.has(flag)]
    rows = [
        (
            group.id,
            "" if group.type is GroupType.UNKNOWN else group.type.value.capitalize(),
            group.protocol_type or "",
        )
        for group in listed
        if kind is None or group.type.value == kind.lower()
        if protocol in (None, group.protocol_type)
        if all(selects(group) for selects in kinds)
    ]
    width = width_of((cell for cells in rows for cell in cells), _NARROWEST)
    heading, *lines = table(
        rows,
        Column("GROUP", lambda cells: cells[0], width),
        Column("TYPE", lambda cells: cells[1], width),
        Column("PROTOCOL", lambda cells: cells[2], width),
    ).split("\n")
    print(heading)
    for line in lines:
        print(line, end=" \n")
    return status


def _report(reason: str) -> None:
    print(f"Error while executing groups command : {safe_lines(reason)}")


TOOL = KafkaTool(
    parse=parse, action_of=lambda _: run_list, report=_report, usage=_USAGE, failed=ExitStatus.FALSE
)  # fmt: skip
main = partial(run_tool, TOOL)
