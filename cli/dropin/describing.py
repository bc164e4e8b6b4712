"""`--describe`: offsets and lag, members, or the state of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cli.dropin.errors import ToolFailure
from cli.dropin.options import Options
from cli.dropin.reading import (
    committed_offsets,
    describe_consumer_groups,
    end_offsets,
    list_consumer_groups,
)
from cli.dropin.words import print_error, print_remark
from cli.errors import ExitStatus
from groups.model import Group, GroupState

if TYPE_CHECKING:
    from cli.sources.live import LiveSource

_REBALANCING = (
    GroupState.PREPARING_REBALANCE,
    GroupState.COMPLETING_REBALANCE,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
)


def run(options: Options, source: LiveSource) -> int:
    """Print a table for each group, and what there is to say about its state."""
    listed = list_consumer_groups(source) if options.all_groups else []
    names = [*options.groups, *(group.id for group in listed)]
    groups = list(describe_consumer_groups(source, names).values())
    if options.members:
        return _print_members(groups, verbose=options.verbose)
    if options.describe_state:
        return _print_states(groups, verbose=options.verbose)
    return _print_offsets(groups, source, verbose=options.verbose)


def _print_members(groups: Iterable[Group], *, verbose: bool) -> int:
    """Of a group without members the heading."""
    from cli.dropin.members import member_table

    status = ExitStatus.DONE
    for group in groups:
        if not _is_there(group):
            status = ExitStatus.UNREADABLE
        _print_table(member_table(group, verbose=verbose))
    return status


def _print_states(groups: Iterable[Group], *, verbose: bool) -> int:
    from cli.dropin.states import state_table

    status = ExitStatus.DONE
    for group in groups:
        if _is_there(group):
            _print_table(state_table(group, verbose=verbose))
        else:
            status = ExitStatus.UNREADABLE
    return status


def _print_offsets(groups: Sequence[Group], source: LiveSource, *, verbose: bool) -> int:
    """Ends of logs that are not known are `-`, and why is said once, behind all tables."""
    from cli.dropin.offsets import assigned, offset_table

    committed = committed_offsets(source, [group.id for group in groups])
    rows = {group.id: assigned(group, committed.get(group.id, {})) for group in groups}
    places = {place for parts in rows.values() for part in parts for place in part.places}
    ends, unread = end_offsets(source, sorted(places))
    status = ExitStatus.DONE
    for group in groups:
        if not _is_there(group):
            status = ExitStatus.UNREADABLE
        elif rows[group.id]:
            _print_table(
                offset_table(group.id, rows[group.id], committed.get(group.id, {}), ends, verbose=verbose)
            )
    for reason in sorted(set(unread.values())):
        which = ", ".join(
            f"{topic}-{partition}" for (topic, partition), why in unread.items() if why == reason
        )
        print_error(f"The log end offsets of {which} are not known: {reason}")
        status = ExitStatus.UNREADABLE
    return status


def _is_there(group: Group) -> bool:
    """Say what there is to say about a group's state; False where the coordinator (before 4.0) knows no such group."""
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
