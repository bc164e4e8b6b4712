"""`kohort-groups`: the command line of kafka-groups.sh, which lists groups of all types."""

from collections.abc import Callable
from functools import partial

from cli.dropin.cluster import list_groups
from cli.dropin.errors import ToolUsageError
from cli.dropin.flags import ParsedFlags, refuse
from cli.dropin.main import KafkaTool, run_tool
from cli.dropin.parse import Options, only_action, parse_command
from cli.dropin.printing import ToolColumn, safe_lines, table, width_of
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


def _check(flags: ParsedFlags) -> None:
    only_action(flags, _ACTIONS)
    kind = flags.single("group-type", ToolUsageError)
    refuse(kind is not None and kind.lower() not in _TYPES, "--group-type must be a valid group type.")
    for flag in _OF_A_KIND:
        flags.exclude(flag, *sorted({*_OF_A_KIND, "group-type", "protocol"} - {flag}))
    for flag in ("bootstrap-server", "command-config"):
        flags.single(flag, ToolUsageError)


def run_list(options: Options, source: LiveSource) -> int:
    """Print the groups that the flags select; the status of reading them."""
    listed, status = list_groups(source, *GroupType)
    flags = options.flags
    kind, protocol = flags.single("group-type"), flags.single("protocol")
    groups = [
        group
        for group in listed
        if kind is None or group.type.value == kind.lower()
        if protocol in (None, group.protocol_type)
        if all(selects(group) for flag, selects in _OF_A_KIND.items() if flags.has(flag))
    ]
    width = width_of((value(group) for value in _COLUMNS.values() for group in groups), _NARROWEST)
    columns = [ToolColumn(heading, value, width) for heading, value in _COLUMNS.items()]
    heading, *lines = table(groups, *columns).split("\n")
    print("\n".join([heading, *(f"{line} " for line in lines)]))
    return status


_COLUMNS: dict[str, Callable[[GroupListing], str]] = {
    "GROUP": lambda group: group.id,
    "TYPE": lambda group: "" if group.type is GroupType.UNKNOWN else group.type.value.capitalize(),
    "PROTOCOL": lambda group: group.protocol_type or "",
}
_NARROWEST = 20
_ACTIONS = "--list."
TOOL = KafkaTool(
    parse=partial(parse_command, usage=_USAGE, check=_check, actions=_ACTIONS),
    action_of=lambda _: run_list,
    report=lambda reason: print(f"Error while executing groups command : {safe_lines(reason)}"),
    usage=_USAGE,
    failed=ExitStatus.FALSE,
)
main = partial(run_tool, TOOL)
