"""ListGroups, DescribeGroups and DeleteGroups.

Source: GroupMetadataManager.listGroups, describeGroups; GroupCoordinatorShard.deleteGroups.
"""

from __future__ import annotations

from coordinator.engine import offsets
from coordinator.engine.answers import (
    DeleteGroupsAnswer,
    DescribedGroup,
    DescribedMember,
    DescribeGroupsAnswer,
    ListedGroup,
    ListGroupsAnswer,
)
from coordinator.engine.calls import Call, DeleteGroups, DescribeGroups, ListGroups
from coordinator.engine.classic_group import ClassicGroup
from coordinator.engine.classic_member import ClassicState
from coordinator.engine.context import Context
from wire.errors import CoordinatorError, ErrorCode


def list_groups(ctx: Context, call: Call, request: ListGroups) -> None:
    """All groups that pass the filters, which ignore letter case; a name that means nothing lets nothing pass."""
    states = {each.strip().lower() for each in request.states}
    types = {each.lower() for each in request.types}
    listed = tuple(
        ListedGroup(
            group=group.id,
            protocol_type=group.protocol_type,
            state=group.state_name,
            type=group.type.value,
        )
        for group in ctx.state.groups.values()
        if (not states or group.state_name.lower() in states) and (not types or group.type.value in types)
    )
    ctx.answer(call.ticket, ListGroupsAnswer(groups=listed))


def describe_groups(ctx: Context, call: Call, request: DescribeGroups) -> None:
    """Classic groups in the order asked for. Any other is Dead, which is an error only from version 6 on."""
    groups = tuple(_describe(ctx, each, request.version) for each in request.groups)
    ctx.answer(call.ticket, DescribeGroupsAnswer(groups=groups))


def _describe(ctx: Context, name: str, version: int) -> DescribedGroup:
    group = ctx.state.groups.get(name)
    if isinstance(group, ClassicGroup):
        return _describe_classic(group)
    dead = ClassicState.DEAD.value
    if version < 6:
        return DescribedGroup(group=name, state=dead)
    why = "not found" if group is None else "is not a classic group"
    return DescribedGroup(
        group=name, error=ErrorCode.GROUP_ID_NOT_FOUND, message=f"Group {name} {why}.", state=dead
    )


def _describe_classic(group: ClassicGroup) -> DescribedGroup:
    """Only a Stable group shows its protocol, and what the members sent for it."""
    protocol = group.protocol if group.state is ClassicState.STABLE else None
    return DescribedGroup(
        group=group.id,
        state=group.state_name,
        protocol_type=group.protocol_type,
        protocol=protocol or "",
        members=tuple(
            DescribedMember(
                member=member.id,
                instance=member.instance,
                client_id=member.client_id,
                host=member.host,
                metadata=member.metadata(protocol) or b"",
                assignment=member.assignment,
            )
            for member in group.in_order()
        ),
    )


def delete_groups(ctx: Context, call: Call, request: DeleteGroups) -> None:
    """Delete Empty groups and their offsets; a name given twice is answered once."""
    names = tuple(dict.fromkeys(request.groups))
    ctx.answer(call.ticket, DeleteGroupsAnswer(groups=tuple((each, _delete(ctx, each)) for each in names)))


def _delete(ctx: Context, name: str) -> ErrorCode:
    group = ctx.state.groups.get(name)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    try:
        group.validate_delete()
    except CoordinatorError as error:
        return error.code
    offsets.delete_all(ctx, name)
    ctx.remove_group(group)
    return ErrorCode.NONE
