"""Where a heartbeat finds its group: a consumer group, a new one, or a classic group that becomes one.

Source: GroupMetadataManager.getOrMaybeCreateConsumerGroup.
"""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.engine import upgrade
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.context import Context
from coordinator.engine.records import Record
from wire.errors import CoordinatorError, ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A group to work with. A draft becomes part of the state with the records."""

    group: ConsumerGroup
    records: tuple[Record, ...] = ()
    """They come before all others."""
    replaces: ClassicGroup | None = None

    def enter(self, ctx: Context) -> None:
        """The request succeeds: a classic group that is replaced is done with."""
        if self.replaces is not None:
            upgrade.take_over(ctx, self.replaces)


def find_group(ctx: Context, group_id: str) -> ConsumerGroup:
    """The consumer group of that id. Raises GROUP_ID_NOT_FOUND."""
    group = ctx.state.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return group
    what = "not found" if group is None else "is not a consumer group"
    raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}.")


def open_group(ctx: Context, group_id: str, *, joins: bool) -> Opened:
    """The group that a heartbeat speaks to; a member that joins makes one where there is none.

    :raises CoordinatorError: GROUP_ID_NOT_FOUND, with the reason when a classic group cannot be upgraded
    """
    group = ctx.state.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return Opened(group=group)
    if group is None:
        if not joins:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
        return Opened(group=ConsumerGroup(group_id))
    if not joins or not isinstance(group, ClassicGroup):
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    if group.is_empty():
        return Opened(group=ConsumerGroup(group_id), records=group.tombstones(), replaces=group)
    records, draft = upgrade.convert(ctx, group)
    return Opened(group=draft, records=records, replaces=group)
