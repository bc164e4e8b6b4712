"""`--list` and `--describe` of `kohort-consumer-groups`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from groups.model import (
    Group,
    GroupListing,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Partitions,
    TopicPartition,
)
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
    if options.members:
        shown = _print_members(groups, verbose=options.verbose)
    elif options.state is not None:
        shown = _print_states(groups, verbose=options.verbose)
    else:
        shown = _print_offsets(groups, source, verbose=options.verbose)
    return max(status, shown, read.report(assignments=options.state is None))


def _print_members(groups: Iterable[Group], *, verbose: bool) -> ExitStatus:
    """Print a table for each group: only the heading for a group without members."""
    status = ExitStatus.DONE
    for group in groups:
        if not _print_state_remark(group):
            status = ExitStatus.UNREADABLE
        _print_table(_member_table(group, verbose=verbose))
    return status


def _print_states(groups: Iterable[Group], *, verbose: bool) -> ExitStatus:
    status = ExitStatus.DONE
    for group in groups:
        if _print_state_remark(group):
            _print_table(_state_table(group, verbose=verbose))
        else:
            status = ExitStatus.UNREADABLE
    return status


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
            _print_table(_offset_table(group.id, rows[group.id], ends, verbose=verbose))
    for failure in sorted(set(unread.values()), key=exception_text):
        which = ", ".join(
            f"{topic}-{partition}" for (topic, partition), why in unread.items() if why == failure
        )
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


def _print_table(lines: Iterable[str]) -> None:
    print("\n" + "\n".join(lines))


def _offset_table(
    group: str, rows: Sequence[PartitionLag], ends: Mapping[TopicPartition, int], *, verbose: bool
) -> list[str]:
    """The heading and a line for each partition; the three columns of the member are `-` without a member."""
    owners = {id(line.member): _owner(line.member) for line in rows}
    consumers, hosts, _ = zip(*owners.values(), strict=True)
    widths = [
        width_of([group]),
        width_of({line.topic for line in rows}),
        10,
        *[_NUMBER] * (4 if verbose else 3),
        width_of(consumers),
        width_of(hosts),
    ]
    headings = [
        "GROUP", "TOPIC", "PARTITION", *["LEADER-EPOCH"] * verbose, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
        "CONSUMER-ID", "HOST", "CLIENT-ID",
    ]  # fmt: skip
    lines = [row(headings, widths)]
    for line in rows:
        end = ends.get((line.topic, line.partition))
        numbers = [*[line.leader_epoch] * verbose, line.committed, end, records_between(line.committed, end)]
        cells = [group, line.topic, str(line.partition), *map(or_missing, numbers), *owners[id(line.member)]]
        lines.append(row(cells, widths))
    return lines


def _owner(member: Member | None) -> tuple[str, str, str]:
    """The member's id, host and client id."""
    if member is None:
        return MISSING, MISSING, MISSING
    return member.id, member.client.host or "", member.client.id or ""


def _member_table(group: Group, *, verbose: bool) -> list[str]:
    """The heading and a line for each member. Instance ids have a column if a member has one, and UPGRADED is a
    column if there are members of both protocols."""
    members = group.members
    columns = [
        ("GROUP", NARROWEST, [group.id] * len(members)),
        ("CONSUMER-ID", NARROWEST, [member.id for member in members]),
        ("GROUP-INSTANCE-ID", 17, [member.instance or "" for member in members]),
        ("HOST", NARROWEST, [member.client.host or "" for member in members]),
        ("CLIENT-ID", NARROWEST, [member.client.id or "" for member in members]),
        ("#PARTITIONS", NARROWEST, [_count(member) for member in members]),
    ]
    if not any(member.instance for member in members):
        del columns[2]
    if verbose:
        columns += [
            ("CURRENT-EPOCH", NARROWEST, [or_missing(member.epoch) for member in members]),
            ("CURRENT-ASSIGNMENT", 20, [_assignment(member.owned) for member in members]),
            ("TARGET-EPOCH", NARROWEST, [or_missing(group.assignment_epoch)] * len(members)),
            ("TARGET-ASSIGNMENT", 20, [_assignment(member.target) for member in members]),
        ]
    else:
        columns.append(("", 0, [""] * len(members)))
    widths = [width_of(values, narrowest) for _, narrowest, values in columns]
    if verbose and _is_mixed(group):
        columns.append(("UPGRADED", 0, [_upgraded(member) for member in members]))
    headings = [heading for heading, _, _ in columns]
    rows = zip(*(values for _, _, values in columns), strict=True)
    return [row(cells, widths) for cells in (headings, *rows)]


def _count(member: Member) -> str:
    """The number of its partitions, 0 while the group rebalances; `-` if its assignment cannot be read."""
    if member.owned is None and member.unreadable is not None:
        return MISSING
    return str(sum(map(len, (member.owned or {}).values())))


def _assignment(partitions: Partitions | None) -> str:
    """`t1:0,1;t2:3`, sorted."""
    return or_missing(partitions_text({topic: has for topic, has in (partitions or {}).items() if has}))


def _is_mixed(group: Group) -> bool:
    """Whether members of both protocols are in a group of type consumer."""
    protocols = {member.protocol for member in group.members}
    return group.type is GroupType.CONSUMER and protocols >= set(MemberProtocol)


def _upgraded(member: Member) -> str:
    """`true`, as Java prints it, for a member of the consumer protocol; `-` if the broker does not report it."""
    if member.protocol is None:
        return MISSING
    return str(member.protocol is MemberProtocol.CONSUMER).lower()


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
    for state in (
        GroupState.ASSIGNING,
        GroupState.COMPLETING_REBALANCE,
        GroupState.DEAD,
        GroupState.EMPTY,
        GroupState.PREPARING_REBALANCE,
        GroupState.RECONCILING,
        GroupState.STABLE,
    )
}
TYPES = {kind.value.capitalize(): kind for kind in (GroupType.CLASSIC, GroupType.CONSUMER)}
_COLUMN = 20
_GAP = 10
"""The number of blanks that the tool prints after the longest name."""


def run_list(options: Options, source: LiveSource) -> int:
    """Print groups of consumers, with type and state if requested, filtered by the given values."""
    types = _chosen(options.type, TYPES, "types list", "types")
    states = _chosen(options.state, STATES, "state list", "states")
    listed, status = list_consumer_groups(source)
    groups = [
        group
        for group in listed
        if (not types or group.type in types) and (not states or group.state in states)
    ]
    if options.type is None and options.state is None:
        lines = [safe_text(group.id) for group in groups]
    else:
        lines = _list_table(groups, with_type=options.type is not None, with_state=options.state is not None)
    print("".join(line + "\n" for line in lines), end="")
    return status


def _chosen(argument: str | None, known: Mapping[str, T], what: str, values: str) -> set[T]:
    """The values of a comma-separated list; an empty one selects all."""
    words = (argument or "").rstrip(",")
    if not words:
        return set()
    by_word = {name.lower(): value for name, value in known.items()}
    names = [word.strip().lower() for word in words.split(",")]
    if not by_word.keys() >= set(names):
        raise ToolUsageError(f"Invalid {what} '{argument}'. Valid {values} are: {', '.join(known)}")
    return {by_word[name] for name in names}


def _list_table(groups: Sequence[GroupListing], *, with_type: bool, with_state: bool) -> list[str]:
    rows = [["GROUP", *["TYPE"] * with_type, *["STATE"] * with_state]]
    for group in groups:
        kind, state = group.type.value.capitalize(), group.state.value
        rows.append([group.id, *[kind] * with_type, *[state] * with_state])
    widths = [width_of(group.id for group in groups) + _GAP, _COLUMN, _COLUMN]
    return [row(cells, widths) for cells in rows]
