"""StreamsGroupDescribe: streams groups (KIP-1071) with their topology and members."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wire.client.answers import Failure
from wire.client.calls.described import describe
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import STREAMS_GROUP_DESCRIBE

Tasks = dict[str, tuple[int, ...]]
"""Subtopology id to partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsTasks:
    """The tasks of a member by kind."""

    active: Tasks
    standby: Tasks
    warmup: Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsMember:
    """One member of a streams group."""

    member_id: str
    instance_id: str | None
    rack: str | None
    epoch: int
    client_id: str
    client_host: str
    process_id: str
    topology_epoch: int
    assignment: StreamsTasks
    target: StreamsTasks
    classic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsGroup:
    """One streams group. `source_topics` are those of every subtopology by its id, empty before there is a topology."""

    group_id: str
    state: str
    group_epoch: int
    assignment_epoch: int
    source_topics: dict[str, tuple[str, ...]]
    members: tuple[StreamsMember, ...]


def streams_group_describe(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, StreamsGroup | Failure]]:
    """Ask one coordinator for `groups`; one that is not a streams group fails with GROUP_ID_NOT_FOUND (69).

    :raises UnsupportedApi: the broker is older than streams groups
    """
    return (yield from describe(connection, STREAMS_GROUP_DESCRIBE, groups, _group, deadline))


def _group(group: Any) -> StreamsGroup:
    subtopologies = (group.topology.subtopologies or ()) if group.topology else ()
    return StreamsGroup(
        group_id=group.group_id,
        state=group.group_state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        source_topics={part.subtopology_id: part.source_topics for part in subtopologies},
        members=tuple(_member(member) for member in group.members),
    )


def _member(member: Any) -> StreamsMember:
    return StreamsMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack=member.rack_id,
        epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        process_id=member.process_id,
        topology_epoch=member.topology_epoch,
        assignment=_tasks(member.assignment),
        target=_tasks(member.target_assignment),
        classic=member.is_classic,
    )


def _tasks(assignment: Any) -> StreamsTasks:
    return StreamsTasks(
        active={task.subtopology_id: task.partitions for task in assignment.active_tasks},
        standby={task.subtopology_id: task.partitions for task in assignment.standby_tasks},
        warmup={task.subtopology_id: task.partitions for task in assignment.warmup_tasks},
    )
