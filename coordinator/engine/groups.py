"""ListGroups and DeleteGroups. Source: GroupMetadataManager.listGroups, GroupCoordinatorShard.deleteGroups."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.engine.calls import Call, Request
from coordinator.engine.context import EngineContext
from coordinator.engine.offsets.removal import tombstones
from coordinator.errors import CannotBeWritten, RequestRefused
from groups.listing import GroupListing
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroupsAnswer:
    groups: tuple[GroupListing, ...] = ()
    error: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroups(Request[ListGroupsAnswer]):
    """ListGroups v0–v5; an empty filter accepts everything."""

    states: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def refused(self, error: RequestRefused) -> ListGroupsAnswer:
        return ListGroupsAnswer(error=error.code)


def list_groups(ctx: EngineContext, call: Call, request: ListGroups) -> None:
    """All groups that match the filters, which ignore case; an unknown name matches nothing."""
    states = {each.strip().lower() for each in request.states}
    types = {each.lower() for each in request.types}
    listed = tuple(
        GroupListing(id=group.id, type=group.type, state=group.state, protocol_type=group.protocol_type)
        for group in ctx.state.groups.values()
        if (not states or group.state.value.lower() in states) and (not types or group.type.value in types)
    )
    ctx.answer(call.ticket, ListGroupsAnswer(groups=listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroupsAnswer:
    groups: tuple[tuple[str, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroups(Request[DeleteGroupsAnswer]):
    """DeleteGroups v0–v2."""

    groups: tuple[str, ...]

    def refused(self, error: RequestRefused) -> DeleteGroupsAnswer:
        return DeleteGroupsAnswer(groups=tuple((each, error.code) for each in self.groups))


def delete_groups(ctx: EngineContext, call: Call, request: DeleteGroups) -> None:
    """Delete Empty groups and their offsets; a repeated name is answered once."""
    names = tuple(dict.fromkeys(request.groups))
    ctx.answer(call.ticket, DeleteGroupsAnswer(groups=tuple((each, _delete(ctx, each)) for each in names)))


def _delete(ctx: EngineContext, name: str) -> ErrorCode:
    group = ctx.state.groups.get(name)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if not group.is_empty():
        return ErrorCode.NON_EMPTY_GROUP
    try:
        ctx.remove_group(group, before=tombstones(ctx.state, name))
    except CannotBeWritten:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return ErrorCode.NONE
