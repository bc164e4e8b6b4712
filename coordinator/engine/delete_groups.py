"""DeleteGroups. Source: GroupCoordinatorShard.deleteGroups."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.engine.calls import Call, Request
from coordinator.engine.context import Context
from coordinator.engine.offsets import delete
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroupsAnswer:
    groups: tuple[tuple[str, ErrorCode], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroups(Request[DeleteGroupsAnswer]):
    """DeleteGroups v0–v2."""

    groups: tuple[str, ...]

    def refused(self, error: RequestRefused) -> DeleteGroupsAnswer:
        return DeleteGroupsAnswer(groups=tuple((each, error.code) for each in self.groups))


def handle(ctx: Context, call: Call, request: DeleteGroups) -> None:
    """Delete Empty groups and their offsets; a name given twice is answered once."""
    names = tuple(dict.fromkeys(request.groups))
    ctx.answer(call.ticket, DeleteGroupsAnswer(groups=tuple((each, _delete(ctx, each)) for each in names)))


def _delete(ctx: Context, name: str) -> ErrorCode:
    group = ctx.state.groups.get(name)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if not group.is_empty():
        return ErrorCode.NON_EMPTY_GROUP
    delete.delete_all(ctx, name)
    ctx.remove_group(group)
    return ErrorCode.NONE
