"""`--list` and `--describe` of `kohort-consumer-groups`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from cli.dropin.cluster import committed_offsets, describe_consumer_groups, end_offsets, list_consumer_groups
from cli.dropin.errors import ToolFailure, ToolUsageError, exception_text, status_of
from cli.dropin.parse import Options
from cli.dropin.printing import ToolColumn, print_error, print_remark, table, width_of
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

_REBALANCING = (
    GroupState.PREPARING_REBALANCE,
    GroupState.COMPLETING_REBALANCE,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
)


def run_describe(options: Options, source: LiveSource) -> int:
    """Print a table for each group, and a remark on its state."""
    listed, status = list_consumer_groups(source) if options.has("all-groups") else ([], ExitStatus.DONE)
    names = [*options.groups, *(group.id for group in listed)]
    read = describe_consumer_groups(source, names, listed=options.has("all-groups"))
    groups = list(read.groups.values())
    if not options.has("members") and options.state is None:
        status = max(status, _print_offsets(groups, source, verbose=options.has("verbose")))
    else:
        for group in groups:
            exists = print_state_remark(group)
            status = status if exists else max(status, ExitStatus.UNREADABLE)
            if options.has("members"):
                print("\n" + _member_table(group, verbose=options.has("verbose")))
            elif exists:
                print("\n" + state_table(group, *_STATE, *EPOCHS * options.has("verbose")))
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
        if not print_state_remark(group):
            status = ExitStatus.UNREADABLE
        elif rows[group.id]:
            print("\n" + _offset_table(group.id, rows[group.id], ends, verbose=verbose))
    for failure in sorted(set(unread.values()), key=exception_text):
        which = ", ".join(f"{topic}-{number}" for (topic, number), why in unread.items() if why == failure)
        # Of a partition without a leader the tool shows `-` too, and no error.
        report = print_remark if failure.code == ErrorCode.LEADER_NOT_AVAILABLE else print_error
        report(f"The log end offsets of {which} are not known: {exception_text(failure)}")
        status = ExitStatus.UNREADABLE
    for subject, failure in unknown.items():
        print_error(f"The committed offsets of {subject} are not known: {exception_text(failure)}")
    return max(status, status_of(unknown.values()))


def print_state_remark(group: Group, kind: str = "Consumer") -> bool:
    """Print a remark on a group's state; False if the coordinator (before 4.0) knows no such group."""
    if group.state is GroupState.DEAD:
        print_error(f"{kind} group '{group.id}' does not exist.")
    elif group.state is GroupState.EMPTY:
        print_remark(f"\n{kind} group '{group.id}' has no active members.")
    elif group.state in _REBALANCING:
        print_remark(f"\nWarning: {kind} group '{group.id}' is rebalancing.")
    elif group.state is not GroupState.STABLE:
        raise ToolFailure(f"Expected a valid consumer group state, but found '{group.state.value}'.")
    return group.state is not GroupState.DEAD


def _offset_table(
    group: str, rows: Sequence[PartitionLag], ends: Mapping[TopicPartition, int], *, verbose: bool
) -> str:
    """A line for each partition; the three columns of the member are `-` without a member."""

    def end(line: PartitionLag) -> int | None:
        return ends.get((line.topic, line.partition))

    return table(
        rows,
        ToolColumn("GROUP", lambda _: group),
        ToolColumn("TOPIC", lambda line: line.topic),
        ToolColumn("PARTITION", lambda line: line.partition, 10),
        verbose and ToolColumn("LEADER-EPOCH", lambda line: line.leader_epoch, 15),
        ToolColumn("CURRENT-OFFSET", lambda line: line.committed, 15),
        ToolColumn("LOG-END-OFFSET", end, 15),
        ToolColumn("LAG", lambda line: records_between(line.committed, end(line)), 15),
        ToolColumn("CONSUMER-ID", lambda line: line.member and line.member.id),
        ToolColumn("HOST", lambda line: line.member and (line.member.client.host or "")),
        ToolColumn("CLIENT-ID", lambda line: line.member and (line.member.client.id or ""), 0),
    )


def _member_table(group: Group, *, verbose: bool) -> str:
    """A line for each member; instance ids only if a member has one, UPGRADED for members of both protocols."""
    members, upgraded = group.members, {MemberProtocol.CONSUMER: "true", MemberProtocol.CLASSIC: "false"}
    both = group.type is GroupType.CONSUMER and {member.protocol for member in members} >= upgraded.keys()
    static = any(member.instance for member in members)
    return table(
        members,
        ToolColumn("GROUP", lambda _: group.id),
        ToolColumn("CONSUMER-ID", lambda member: member.id),
        static and ToolColumn("GROUP-INSTANCE-ID", lambda member: member.instance or "", narrowest=17),
        ToolColumn("HOST", lambda member: member.client.host or ""),
        ToolColumn("CLIENT-ID", lambda member: member.client.id or ""),
        ToolColumn("#PARTITIONS", _partition_count),
        verbose and ToolColumn("CURRENT-EPOCH", lambda member: member.epoch),
        verbose
        and ToolColumn("CURRENT-ASSIGNMENT", lambda member: _assigned_text(member.owned), narrowest=20),
        verbose and ToolColumn("TARGET-EPOCH", lambda _: group.assignment_epoch),
        verbose
        and ToolColumn("TARGET-ASSIGNMENT", lambda member: _assigned_text(member.target), narrowest=20),
        verbose
        and both
        and ToolColumn("UPGRADED", lambda member: member.protocol and upgraded[member.protocol], 0),
        not verbose and ToolColumn("", lambda _: "", 0),
    )


def _partition_count(member: Member) -> int | None:
    """0 while the group rebalances; None for an assignment that cannot be read."""
    return None if member.owned is None and member.unreadable is not None else len_of(member.owned)


def len_of(partitions: Partitions | None) -> int:
    return sum(map(len, (partitions or {}).values()))


def _assigned_text(partitions: Partitions | None) -> str | None:
    """`t1:0,1;t2:3`, sorted."""
    return partitions_text({topic: has for topic, has in (partitions or {}).items() if has})


_STATE = (
    ToolColumn[Group]("ASSIGNMENT-STRATEGY", lambda group: group.protocol, 20),
    ToolColumn[Group]("STATE", lambda group: group.state.value, 20),
)
EPOCHS = (
    ToolColumn[Group]("GROUP-EPOCH", lambda group: group.group_epoch, 15),
    ToolColumn[Group]("TARGET-ASSIGNMENT-EPOCH", lambda group: group.assignment_epoch, 25),
)


def state_table(group: Group, *columns: ToolColumn[Group], gap: str = "  ") -> str:
    """A line with the group's coordinator, some columns, and the number of its members."""
    node = group.coordinator
    coordinator = MISSING if node is None else f"{node.host}:{node.port}{gap}({node.id})"
    return table(
        [group],
        ToolColumn("GROUP", lambda _: group.id),
        ToolColumn("COORDINATOR (ID)", lambda _: coordinator, narrowest=25),
        *columns,
        ToolColumn("#MEMBERS", lambda _: len(group.members), 0),
    )


T = TypeVar("T")

STATES = {
    state.value: state
    for state in sorted(
        {*_REBALANCING, GroupState.DEAD, GroupState.EMPTY, GroupState.STABLE}, key=lambda state: state.value
    )
}
TYPES = {kind.value.capitalize(): kind for kind in (GroupType.CLASSIC, GroupType.CONSUMER)}
_GAP = 10
"""The number of blanks that the tool prints after the longest name."""


def run_list(options: Options, source: LiveSource) -> int:
    """Print groups of consumers, with type and state if requested, filtered by the given values."""
    types = chosen_values(options.type, TYPES, "types list", "types")
    states = chosen_values(options.state, STATES, "state list", "states")
    listed, status = list_consumer_groups(source)
    print_list(
        [
            group
            for group in listed
            if (not types or group.type in types) and (not states or group.state in states)
        ],
        options.type is not None and ToolColumn("TYPE", lambda group: group.type.value.capitalize(), 20),
        options.state is not None and ToolColumn("STATE", lambda group: group.state.value, 20),
        gap=_GAP,
    )
    return status


def print_list(
    groups: Sequence[GroupListing], *columns: ToolColumn[GroupListing] | Literal[False], gap: int = 0
) -> None:
    """A line for each group, with headings if there is more than its name, after which there are `gap` blanks."""
    if any(columns):
        width = width_of(group.id for group in groups) + gap
        print(table(groups, ToolColumn("GROUP", lambda group: group.id, width), *columns))
    else:
        print("".join(f"{safe_text(group.id)}\n" for group in groups), end="")


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
