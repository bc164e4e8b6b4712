"""How each request is answered when it is refused as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.engine.answers import (
    Answer,
    ConsumerGroupDescribeAnswer,
    ConsumerGroupHeartbeatAnswer,
    DeleteGroupsAnswer,
    DescribedConsumerGroup,
    DescribedGroup,
    DescribeGroupsAnswer,
    FetchedGroupAnswer,
    HeartbeatAnswer,
    InstallAssignmentAnswer,
    JoinGroupAnswer,
    LeaveGroupAnswer,
    ListGroupsAnswer,
    OffsetCommitAnswer,
    OffsetDeleteAnswer,
    OffsetFetchAnswer,
    PrepareAssignmentAnswer,
    SyncGroupAnswer,
)
from coordinator.engine.calls import (
    ConsumerGroupDescribe,
    ConsumerGroupHeartbeat,
    DeleteGroups,
    DescribeGroups,
    Heartbeat,
    InstallAssignment,
    JoinGroup,
    LeaveGroup,
    ListGroups,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    PrepareAssignment,
    Request,
    SyncGroup,
)
from wire.errors import ErrorCode


def refusal(request: Request, code: ErrorCode, message: str | None = None) -> Answer:
    """The answer that carries the error; a message only where the wire has room for one."""
    return _REFUSALS[type(request)](request, code, message)


def _commit(request: OffsetCommit, code: ErrorCode, _message: str | None) -> Answer:
    return OffsetCommitAnswer(
        partitions=tuple((each.topic, each.topic_id, each.partition, code) for each in request.offsets)
    )


def _fetch(request: OffsetFetch, code: ErrorCode, _message: str | None) -> Answer:
    return OffsetFetchAnswer(
        groups=tuple(FetchedGroupAnswer(group=each.group, error=code) for each in request.groups)
    )


def _describe(request: DescribeGroups, code: ErrorCode, message: str | None) -> Answer:
    return DescribeGroupsAnswer(
        groups=tuple(DescribedGroup(group=each, error=code, message=message) for each in request.groups)
    )


def _describe_consumer(request: ConsumerGroupDescribe, code: ErrorCode, message: str | None) -> Answer:
    return ConsumerGroupDescribeAnswer(
        groups=tuple(
            DescribedConsumerGroup(group=each, error=code, message=message) for each in request.groups
        )
    )


_REFUSALS: dict[type, Callable[[Any, ErrorCode, str | None], Answer]] = {
    JoinGroup: lambda request, code, _: JoinGroupAnswer(error=code, member=request.member),
    SyncGroup: lambda _request, code, _message: SyncGroupAnswer(error=code),
    Heartbeat: lambda _request, code, _message: HeartbeatAnswer(error=code),
    LeaveGroup: lambda _request, code, _message: LeaveGroupAnswer(error=code),
    ConsumerGroupHeartbeat: lambda _, code, message: ConsumerGroupHeartbeatAnswer(
        error=code, message=message
    ),
    PrepareAssignment: lambda _, code, message: PrepareAssignmentAnswer(error=code, message=message),
    InstallAssignment: lambda _, code, message: InstallAssignmentAnswer(error=code, message=message),
    OffsetCommit: _commit,
    OffsetFetch: _fetch,
    OffsetDelete: lambda _request, code, _message: OffsetDeleteAnswer(error=code),
    ListGroups: lambda _request, code, _message: ListGroupsAnswer(error=code),
    DescribeGroups: _describe,
    ConsumerGroupDescribe: _describe_consumer,
    DeleteGroups: lambda request, code, _: DeleteGroupsAnswer(
        groups=tuple((each, code) for each in request.groups)
    ),
}
