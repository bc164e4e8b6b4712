"""Groups of types that are not coordinated here, share and streams groups, of which a log may hold records.

Nobody makes another group of their ids. Source: GroupMetadataManager.classicGroupJoin, getOrMaybeCreateConsumerGroup.
"""

from __future__ import annotations

from coordinator.engine.calls import ConsumerGroupHeartbeat, JoinGroup, Request
from coordinator.engine.context import State
from wire.errors import CoordinatorError, ErrorCode


def note(state: State, group: str, *, exists: bool) -> None:
    """There is such a group, and no other of its id; or there is none any more."""
    if exists:
        state.groups.pop(group, None)
        state.foreign.add(group)
    else:
        state.foreign.discard(group)


def check(state: State, request: Request) -> None:
    """Raises CoordinatorError when the request would make a group of an id that is taken."""
    if isinstance(request, JoinGroup) and request.group in state.foreign:
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if isinstance(request, ConsumerGroupHeartbeat) and request.group in state.foreign:
        raise CoordinatorError(
            ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group} is not a consumer group."
        )
