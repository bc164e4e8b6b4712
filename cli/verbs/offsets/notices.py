"""Notices about the plan of a change of offsets."""

from __future__ import annotations

from collections.abc import Iterable

from cli.changing import GROUPS_NAMED
from cli.output import notice
from groups.counts import first_names
from groups.listing import shown_id
from groups.model import Group, GroupType, TopicPartition
from groups.offsets.model import GroupChange, committed_places
from groups.transactions import pending_remedy, pending_text


def notify_kept_offsets(groups: Iterable[Group], set_places: set[TopicPartition]) -> None:
    """Print notices of committed offsets that a copy does not change."""
    for group in groups:
        left = set(committed_places(group.offsets or {})) - set_places
        if left:
            names = first_names([f"{topic}-{number}" for topic, number in sorted(left)], 5)
            notice(f"{shown_id(group.id)} keeps its other committed offsets: {names}")


def notify_new_groups(plans: Iterable[GroupChange]) -> None:
    """Print a notice of the groups that a change would create; only the first ones are named."""
    noted: dict[str, list[str]] = {}
    for plan in plans:
        if not plan.exists and plan.changes:
            makes = (
                "setting start offsets creates a share group"
                if plan.described.type is GroupType.SHARE
                else "committing offsets creates a classic group (for share consumers: offsets reset --type share)"
            )
            noted.setdefault(makes, []).append(plan.group)
    for makes, groups in noted.items():
        notice(f"{first_names(groups, GROUPS_NAMED)}: no such group; {makes}")


def notify_pending(plans: Iterable[GroupChange], now_ms: int) -> None:
    """Print notices of changed partitions with an offset in an open transaction."""
    for plan in plans:
        pending = plan.described.pending
        if pending is None or not any(change.place in pending.places for change in plan.changes):
            continue
        notice(
            f"{plan.group}: {pending_text(pending, now_ms)} {pending_remedy(pending)} The new offsets replace "
            "the pending ones, but consumers still wait, and the application may commit more offsets."
        )


def notify_redelivery(plans: Iterable[GroupChange]) -> None:
    """Print notices that a new start offset, even an equal one, makes share groups deliver records again."""
    for plan in plans:
        if plan.described.type is GroupType.SHARE and plan.exists and plan.applicable:
            notice(
                f"{plan.group}: all records from the new start offset are delivered, including those that it has "
                "acknowledged; delivery counts start again"
            )
