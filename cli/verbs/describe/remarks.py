"""Sentences on groups in `kohort describe`: their states, open transactions, and missing times of commits."""

from collections.abc import Sequence

from groups.counts import first_names
from groups.model import Group, GroupState, GroupType, each_commit
from groups.transactions import pending_remedy, pending_text

_KINDS = {GroupType.SHARE: "Share", GroupType.STREAMS: "Streams"}


def state_remarks(groups: Sequence[Group]) -> tuple[str, ...]:
    """The remarks of Kafka's tools on the states of groups that are not stable."""
    remarks = []
    for group in groups:
        named = f"{_KINDS.get(group.type, 'Consumer')} group '{group.id}'"
        if group.state is GroupState.EMPTY:
            remarks.append(f"{named} has no active members.")
        elif group.state is GroupState.NOT_READY:
            remarks.append(
                f"Warning: {named} is not ready: most likely a source topic of its topology is missing."
            )
        elif group.state not in (GroupState.STABLE, GroupState.UNKNOWN, GroupState.DEAD):
            remarks.append(f"Warning: {named} is rebalancing.")
    return tuple(remarks)


def pending_remarks(groups: Sequence[Group], now_ms: int) -> tuple[str, ...]:
    return tuple(
        f"{group.id}: {pending_text(group.pending, now_ms)} {pending_remedy(group.pending)}"
        for group in groups
        if group.pending is not None and group.pending.partitions
    )


def missing_commit_times(groups: Sequence[Group], *, any_problem: bool) -> tuple[str, ...]:
    """A remark on missing times of commits that no problem explains."""
    remarks = tuple(
        f"{group.id}: the last commit of a share group is not known: its offsets are in __share_group_state"
        for group in groups
        if group.type is GroupType.SHARE
    )
    without = [
        group.id
        for group in groups
        if group.type is not GroupType.SHARE
        and any(commit.timestamp is None for _, commit in each_commit(group.offsets))
    ]
    if without and not any_problem:
        names = first_names(without, 1, "groups")
        remarks += (f"{names}: the source does not show when offsets were committed",)
    return remarks
