"""Streams groups (KIP-1071) as their records tell: key types 17 and 19 to 23.

Tasks are partitions of a subtopology, which the topology gives its source topics.
Source: GroupMetadataManager.replay, streams.StreamsGroup, StreamsGroupMember, StreamsTopology.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TypeAlias

from coordinator.store.group_drafts import DELETED_EPOCH, Fields, GroupDraft, GroupDrafts, target_metadata
from wire.messages.schemas.streams_groups import (
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    STREAMS_GROUP_TOPOLOGY,
)

Tasks: TypeAlias = Mapping[str, tuple[int, ...]]
"""Partitions, ascending, by subtopology id, in alphabetical order."""


class StreamsMemberState(IntEnum):
    """Member states as key 22 stores them."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, _value: object) -> StreamsMemberState:
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsTasks:
    """The tasks of a member by kind."""

    active: Tasks = field(default_factory=dict)
    standby: Tasks = field(default_factory=dict)
    warmup: Tasks = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsMember:
    """A member. `epoch` -1: its current assignment was deleted; None: it was never given one."""

    id: str
    instance: str | None = None
    rack: str | None = None
    client_id: str = ""
    host: str = ""
    process_id: str = ""
    topology_epoch: int = -1
    epoch: int | None = None
    previous_epoch: int | None = None
    state: StreamsMemberState = StreamsMemberState.UNKNOWN
    assigned: StreamsTasks = StreamsTasks()
    revoking: StreamsTasks = StreamsTasks()
    target: StreamsTasks = StreamsTasks()

    def reconciled_to(self, assignment_epoch: int) -> bool:
        """Whether the member has all of its target and nothing else."""
        return self.state is StreamsMemberState.STABLE and self.epoch == assignment_epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsTopology:
    """`source_topics` of every subtopology, by its id; both in alphabetical order."""

    epoch: int
    source_topics: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsGroup:
    """A streams group; members in the broker's order. `topology` None: it has none yet."""

    id: str
    group_epoch: int
    assignment_epoch: int
    topology: StreamsTopology | None
    validated_topology_epoch: int
    members: tuple[StreamsMember, ...]

    @property
    def state(self) -> str:
        """As a broker shows it."""
        if not self.members:
            return "Empty"
        if self.topology is None or self.topology.epoch != self.validated_topology_epoch:
            return "NotReady"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        if all(member.reconciled_to(self.assignment_epoch) for member in self.members):
            return "Stable"
        return "Reconciling"


@dataclass(slots=True, kw_only=True)
class _Draft(GroupDraft[StreamsMember, StreamsTasks]):
    validated_topology_epoch: int = 0
    topology: StreamsTopology | None = None

    def finished(self) -> StreamsGroup:
        nothing = StreamsTasks()
        return StreamsGroup(
            id=self.id,
            group_epoch=self.epoch,
            assignment_epoch=self.assignment_epoch,
            topology=self.topology,
            validated_topology_epoch=self.validated_topology_epoch,
            members=tuple(
                replace(each, target=self.targets.get(name, nothing)) for name, each in self.in_order()
            ),
        )


class StreamsGroups(GroupDrafts[_Draft]):
    """The streams groups that some records make."""

    def __init__(self) -> None:
        super().__init__(lambda group_id: _Draft(id=group_id), _STEPS, STREAMS_GROUP_METADATA.id)

    def finished(self) -> dict[str, StreamsGroup]:
        """The groups as they are now, by id."""
        return {group_id: draft.finished() for group_id, draft in self._by_id.items()}


def _tasks(tasks: Iterable[Fields]) -> Tasks:
    found = {each["subtopologyId"]: tuple(sorted(set(each["partitions"]))) for each in tasks}
    return dict(sorted(found.items()))


def _by_kind(value: Fields, suffix: str = "") -> StreamsTasks:
    return StreamsTasks(
        active=_tasks(value[f"activeTasks{suffix}"]),
        standby=_tasks(value[f"standbyTasks{suffix}"]),
        warmup=_tasks(value[f"warmupTasks{suffix}"]),
    )


def _metadata(draft: _Draft, _: Fields, value: Fields | None) -> None:
    if value is not None:
        draft.epoch = value["epoch"]
        draft.validated_topology_epoch = value["validatedTopologyEpoch"]


def _member(draft: _Draft, key: Fields, value: Fields | None) -> None:
    member_id = key["memberId"]
    if value is None:
        draft.members.pop(member_id, None)
        return
    draft.put(
        member_id,
        replace(
            draft.members.get(member_id) or StreamsMember(id=member_id),
            instance=value["instanceId"],
            rack=value["rackId"],
            client_id=value["clientId"],
            host=value["clientHost"],
            process_id=value["processId"],
            topology_epoch=value["topologyEpoch"],
        ),
    )


def _target(draft: _Draft, key: Fields, value: Fields | None) -> None:
    draft.set_target(key["memberId"], None if value is None else _by_kind(value))


def _current(draft: _Draft, key: Fields, value: Fields | None) -> None:
    member_id = key["memberId"]
    old = draft.members.get(member_id)
    if value is not None:
        draft.put(
            member_id,
            replace(
                old or StreamsMember(id=member_id),
                epoch=value["memberEpoch"],
                previous_epoch=value["previousMemberEpoch"],
                state=StreamsMemberState(value["state"]),
                assigned=_by_kind(value),
                revoking=_by_kind(value, "PendingRevocation"),
            ),
        )
    elif old is not None:
        draft.put(
            member_id,
            replace(
                old,
                epoch=DELETED_EPOCH,
                previous_epoch=DELETED_EPOCH,
                assigned=StreamsTasks(),
                revoking=StreamsTasks(),
            ),
        )


def _topology(draft: _Draft, _: Fields, value: Fields | None) -> None:
    if value is None:
        draft.topology = None
        return
    sources = {each["subtopologyId"]: tuple(sorted(each["sourceTopics"])) for each in value["subtopologies"]}
    draft.topology = StreamsTopology(epoch=value["epoch"], source_topics=dict(sorted(sources.items())))


_STEPS = {
    STREAMS_GROUP_METADATA.id: _metadata,
    STREAMS_GROUP_MEMBER_METADATA.id: _member,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA.id: target_metadata,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER.id: _target,
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT.id: _current,
    STREAMS_GROUP_TOPOLOGY.id: _topology,
}
