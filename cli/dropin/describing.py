"""`--list` and `--describe` of `kohort-consumer-groups`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from cli.dropin.cluster import committed_offsets, describe_consumer_groups, end_offsets, list_consumer_groups
from cli.dropin.errors import ToolFailure, ToolUsageError, exception_text, status_of
from cli.dropin.parse import Options
from cli.dropin.printing import NARROWEST, or_missing, print_error, print_remark, row, width_of
from cli.errors import ExitStatus
from cli.render.cells import MISSING, partitions_text, safe_text
from cli.sources.live import LiveSource
from groups.lag import PartitionLag, partition_lags, records_between
from groups.model import Group, GroupState, GroupType, MemberProtocol, Partitions, TopicPartition
from wire.errors import ErrorCode

_COORDINATOR = 25
_NUMBER = 15
_REBALANCING = (
    GroupState.PREPARING_REBALANCE,
    GroupState.COMPLETING_REBALANCE,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
)


def run_describe(options: Options, source: LiveSource) -> int:
    """Print a table for each group, and a remark on its state."""
    listed, status = list_consumer_groups(source) if options.all_groups else ([], ExitStatus.DONE)
    names = [*options.groups, *(group.id for group in listed)]
    read = describe_consumer_groups(source, names, listed=options.all_groups)
    groups = list(read.groups.values())
    if not options.members and options.state is None:
        status = max(status, _print_offsets(groups, source, verbose=options.verbose))
    else:
        table = _member_table if options.members else _state_table
        for group in groups:
            exists = _print_state_remark(group)
            status = status if exists else max(status, ExitStatus.UNREADABLE)
            if exists or options.members:
                print("\n" + "\n".join(table(group, verbose=options.verbose)))
    return max(status, read.report(assignments=options.state is None))


def _print_offsets(groups: Sequence[Group], source: LiveSource, *, verbose: bool) -> ExitStatus:
    """Print the tables. Unknown log end offsets are `-`; the reason is printed once, after all tables."""
    committed, unknown = committed_offsets(source, [group.id for group in groups])
    rows = {
        group.id: partition_lags(replace(group, offsets=committed.get(group.id, {})), {}) for group in groups
    }
    places = {(part.topic, part.partition) for parts in rows.values() for part in parts}
    ends, unread = end_offsets(source, sorted(places))
    status = ExitStatus.DONE
    for group in groups:
        if not _print_state_remark(group):
            status = ExitStatus.UNREADABLE
        elif rows[group.id]:
            print("\n" + "\n".join(_offset_table(group.id, rows[group.id], ends, verbose=verbose)))
    for failure in sorted(set(unread.values()), key=exception_text):
        which = ", ".join(f"{topic}-{number}" for (topic, number), why in unread.items() if why == failure)
        # Of a partition without a leader the tool shows `-` too, and no error.
        report = print_remark if failure.code == ErrorCode.LEADER_NOT_AVAILABLE else print_error
        report(f"The log end offsets of {which} are not known: {exception_text(failure)}")
        status = ExitStatus.UNREADABLE
    for subject, failure in unknown.items():
        print_error(f"The committed offsets of {subject} are not known: {exception_text(failure)}")
    return max(status, status_of(unknown.values()))


def _print_state_remark(group: Group) -> bool:
    """Print a remark on a group's state; False if the coordinator (before 4.0) knows no such group."""
    if group.state is GroupState.DEAD:
        print_error(f"Consumer group '{group.id}' does not exist.")
    elif group.state is GroupState.EMPTY:
        print_remark(f"\nConsumer group '{group.id}' has no active members.")
    elif group.state in _REBALANCING:
        print_remark(f"\nWarning: Consumer group '{group.id}' is rebalancing.")
    elif group.state is not GroupState.STABLE:
        raise ToolFailure(f"Expected a valid consumer group state, but found '{group.state.value}'.")
    return group.state is not GroupState.DEAD


def _offset_table(
    group: str, rows: Sequence[PartitionLag], ends: Mapping[TopicPartition, int], *, verbose: bool
) -> list[str]:
    """The heading and a line for each partition; the three columns of the member are `-` without a member."""
    owners = {
        id(member): (MISSING, MISSING, MISSING)
        if member is None
        else (member.id, member.client.host or "", member.client.id or "")
        for member in (line.member for line in rows)
    }
    consumers, hosts, _ = zip(*owners.values(), strict=True)
    numbers = [_NUMBER] * (4 if verbose else 3)
    names = width_of([group]), width_of({line.topic for line in rows})
    widths = [*names, 10, *numbers, width_of(consumers), width_of(hosts)]
    headings = [
        "GROUP", "TOPIC", "PARTITION", *["LEADER-EPOCH"] * verbose, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
        "CONSUMER-ID", "HOST", "CLIENT-ID",
    ]  # fmt: skip
    lines = [row(headings, widths)]
    for line in rows:
        end = ends.get((line.topic, line.partition))
        values = [*[line.leader_epoch] * verbose, line.committed, end, records_between(line.committed, end)]
        cells = [group, line.topic, str(line.partition), *map(or_missing, values), *owners[id(line.member)]]
        lines.append(row(cells, widths))
    return lines


def _member_table(group: Group, *, verbose: bool) -> list[str]:
    """A line for each member; instance ids only if a member has one, UPGRADED for members of both protocols."""
    members = group.members
    # 0 while the group rebalances; `-` for an assignment that cannot be read.
    counts = [
        MISSING if member.owned is None and member.unreadable is not None else str(len_of(member.owned))
        for member in members
    ]
    columns = [
        ("GROUP", NARROWEST, [group.id] * len(members)),
        ("CONSUMER-ID", NARROWEST, [member.id for member in members]),
        ("GROUP-INSTANCE-ID", 17, [member.instance or "" for member in members]),
        ("HOST", NARROWEST, [member.client.host or "" for member in members]),
        ("CLIENT-ID", NARROWEST, [member.client.id or "" for member in members]),
        ("#PARTITIONS", NARROWEST, counts),
    ]
    if not any(member.instance for member in members):
        del columns[2]
    if verbose:
        columns += [
            ("CURRENT-EPOCH", NARROWEST, [or_missing(member.epoch) for member in members]),
            ("CURRENT-ASSIGNMENT", 20, [assigned_text(member.owned) for member in members]),
            ("TARGET-EPOCH", NARROWEST, [or_missing(group.assignment_epoch)] * len(members)),
            ("TARGET-ASSIGNMENT", 20, [assigned_text(member.target) for member in members]),
        ]
    else:
        columns.append(("", 0, [""] * len(members)))
    widths = [width_of(values, narrowest) for _, narrowest, values in columns]
    protocols = [member.protocol for member in members]
    if verbose and group.type is GroupType.CONSUMER and set(protocols) >= set(MemberProtocol):
        upgraded = {MemberProtocol.CONSUMER: "true", MemberProtocol.CLASSIC: "false", None: MISSING}
        columns.append(("UPGRADED", 0, [upgraded[protocol] for protocol in protocols]))
    headings = [heading for heading, _, _ in columns]
    rows = zip(*(values for _, _, values in columns), strict=True)
    return [row(cells, widths) for cells in (headings, *rows)]


def len_of(partitions: Partitions | None) -> int:
    return sum(map(len, (partitions or {}).values()))


def assigned_text(partitions: Partitions | None) -> str:
    """`t1:0,1;t2:3`, sorted."""
    return or_missing(partitions_text({topic: has for topic, has in (partitions or {}).items() if has}))


def _state_table(group: Group, *, verbose: bool) -> list[str]:
    """The heading and one line."""
    node = group.coordinator
    coordinator = MISSING if node is None else f"{node.host}:{node.port}  ({node.id})"
    columns = [
        ("GROUP", width_of([group.id]), group.id),
        ("COORDINATOR (ID)", width_of([coordinator], _COORDINATOR), coordinator),
        ("ASSIGNMENT-STRATEGY", 20, or_missing(group.protocol)),
        ("STATE", 20, group.state.value),
    ]
    if verbose:
        columns += [
            ("GROUP-EPOCH", 15, or_missing(group.group_epoch)),
            ("TARGET-ASSIGNMENT-EPOCH", 25, or_missing(group.assignment_epoch)),
        ]
    widths = [width for _, width, _ in columns]
    headings, values = [heading for heading, _, _ in columns], [value for _, _, value in columns]
    return [row([*headings, "#MEMBERS"], widths), row([*values, str(len(group.members))], widths)]


T = TypeVar("T")

STATES = {
    state.value: state
    for state in sorted(
        {*_REBALANCING, GroupState.DEAD, GroupState.EMPTY, GroupState.STABLE}, key=lambda state: state.value
    )
}
TYPES = {kind.value.capitalize(): kind for kind in (GroupType.CLASSIC, GroupType.CONSUMER)}
_COLUMN = 20
_GAP = 10
"""The number of blanks that the tool prints after the longest name."""


def run_list(options: Options, source: LiveSource) -> int:
    """Print groups of consumers, with type and state if requested, filtered by the given values."""
    types = chosen_values(options.type, TYPES, "types list", "types")
    states = chosen_values(options.state, STATES, "state list", "states")
    listed, status = list_consumer_groups(source)
    with_type, with_state = options.type is not None, options.state is not None
    rows = [["GROUP", *["TYPE"] * with_type, *["STATE"] * with_state]] if with_type or with_state else []
    for group in listed:
        if (not types or group.type in types) and (not states or group.state in states):
            kind, state = group.type.value.capitalize(), group.state.value
            rows.append([group.id, *[kind] * with_type, *[state] * with_state])
    widths = [width_of(cells[0] for cells in rows[1:]) + _GAP, _COLUMN, _COLUMN]
    for cells in rows:
        print(row(cells, widths) if with_type or with_state else safe_text(cells[0]))
    return status


def chosen_values(argument: str | None, known: Mapping[str, T], what: str, values: str) -> set[T]:
    """The values of a comma-separated list; an empty one selects all."""
    words = (argument or "").rstrip(",")
    if not words:
        return set()
    by_word = {name.lower(): value for name, value in known.items()}
    names = [word.strip().lower() for word in words.split(",")]
    if not by_word.keys() >= set(names):
        raise ToolUsageError(f"Invalid {what} '{argument}'. Valid {values} are: {', '.join(known)}")
    return {by_word[name] for name in names}
