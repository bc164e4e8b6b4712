"""Share groups (KIP-932) and streams groups (KIP-1071) in a log: key types 10 to 15, 17, 19 to 23.
The first value of any of its records creates a group, at group epoch 1 with an empty assignment of epoch 1, and the
tombstone of its metadata removes it. The newest records are kept as they are, and converted to a `groups.model.Group`
on demand. Acknowledgments (`__share_group_state`) and the assignor of a share group are not known here. Source:
GroupMetadataManager.replay, getOrMaybeCreatePersistedShareGroup, getOrMaybeCreatePersistedStreamsGroup, ShareGroup,
StreamsGroup, StreamsGroupMember, StreamsTopology."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from assignors.java.hash_map import FIRST_SLOTS, grown_slots, timeline_order
from coordinator.engine.consumer.member import normal_partitions, normal_topics
from coordinator.engine.groups import Names, by_name
from groups.described import streams_members as streams_members_of
from groups.model import Client, Group, GroupState, GroupType, Member, Subscription
from groups.streams import StreamsMember, Subtopology, Tasks, Topology
from wire.messages.definition import RecordType
from wire.messages.schemas import share_groups as share
from wire.messages.schemas import streams_groups as streams

Fields: TypeAlias = Mapping[str, Any]  # the fields of a key or value, by Kafka's names

DELETED_EPOCH = -1  # of a target whose record was deleted, and of a member without a current assignment
STABLE_MEMBER = 1  # the state in key type 22 of a member that has all of its target and nothing else


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyTypes:
    """The key types of a type of group. `topics`: the record of its topics (share state partitions, or topology)."""

    metadata: int
    member: int
    target_epoch: int
    target: int
    current: int
    topics: int


_TYPES = {
    GroupType.SHARE: _KeyTypes(
        metadata=share.SHARE_GROUP_METADATA.id,
        member=share.SHARE_GROUP_MEMBER_METADATA.id,
        target_epoch=share.SHARE_GROUP_TARGET_ASSIGNMENT_METADATA.id,
        target=share.SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER.id,
        current=share.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT.id,
        topics=share.SHARE_GROUP_STATE_PARTITION_METADATA.id,
    ),
    GroupType.STREAMS: _KeyTypes(
        metadata=streams.STREAMS_GROUP_METADATA.id,
        member=streams.STREAMS_GROUP_MEMBER_METADATA.id,
        target_epoch=streams.STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA.id,
        target=streams.STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER.id,
        current=streams.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT.id,
        topics=streams.STREAMS_GROUP_TOPOLOGY.id,
    ),
}
_SHARE_TYPES = frozenset(kind.id for kind in vars(share).values() if isinstance(kind, RecordType))


class OtherGroup:
    """A share or streams group: the newest value of each of its records, None if it was deleted."""

    def __init__(self, kind: GroupType, group_id: str) -> None:
        self.type, self.id, self.protocol_type = kind, group_id, kind.value
        self._types = _TYPES[kind]
        self._values: dict[int, Fields | None] = {}  # the group's records, by key type
        self.members: dict[str, dict[int, Fields | None]] = {}
        """The members' metadata and current assignments, by member id and key type."""
        self._targets: dict[str, Fields] = {}
        self._capacity = FIRST_SLOTS  # of the map in which a broker keeps the members; it never shrinks

    def replay(self, key_type: int, key: Fields, value: Fields | None) -> bool:
        """Apply a record; False if it removes the group."""
        types = self._types
        if key_type == types.target:
            self._targets[key["memberId"]] = value or {}
        elif key_type in (types.member, types.current):
            member_id = key["memberId"]
            if value is None and key_type == types.member:
                self.members.pop(member_id, None)
            elif value is not None or member_id in self.members:
                # The broker's map grows for one more even when it only replaces a member.
                self._capacity = grown_slots(self._capacity, len(self.members) + 1)
                self.members.setdefault(member_id, {})[key_type] = value
        else:
            self._values[key_type] = value
        return key_type != types.metadata or value is not None

    @property
    def group_epoch(self) -> int:
        epoch: int = (self._values.get(self._types.metadata) or {"epoch": 1})["epoch"]
        return epoch

    @property
    def assignment_epoch(self) -> int:
        value = self._values.get(self._types.target_epoch, {"assignmentEpoch": 1})
        return DELETED_EPOCH if value is None else value["assignmentEpoch"]

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.type is GroupType.SHARE:
            return GroupState.STABLE
        topology = self._values.get(self._types.topics)
        validated = (self._values.get(self._types.metadata) or {}).get("validatedTopologyEpoch", 0)
        if topology is None or topology["epoch"] != validated:
            return GroupState.NOT_READY
        if self.group_epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        reconciled = STABLE_MEMBER, self.assignment_epoch
        for said in self.members.values():
            current = said.get(self._types.current)
            if current is None or (current["state"], current["memberEpoch"]) != reconciled:
                return GroupState.RECONCILING
        return GroupState.STABLE

    def described(self, names: Names) -> Group:
        members = list(self.members)
        in_order = [members[index] for index in timeline_order(members, self._capacity)] if members else []
        is_share = self.type is GroupType.SHARE
        topology = None if is_share else self._topology()
        streams_members = map(self._streams_member, in_order)
        # Active tasks are partitions of the topics they read; no epoch before the first assignment.
        in_group = (
            self._share_members(in_order, names)
            if is_share
            else streams_members_of(topology, streams_members)
        )
        return Group(
            id=self.id,
            type=self.type,
            state=self.state,
            protocol_type=self.protocol_type,
            group_epoch=self.group_epoch,
            assignment_epoch=self.assignment_epoch,
            members=tuple(in_group),
            topology=topology,
        )

    def _share_members(self, member_ids: Iterable[str], names: Names) -> Iterator[Member]:
        for member_id in member_ids:
            metadata, current = self._member_values(member_id)
            assigned = normal_partitions(
                {topic["topicId"]: topic["partitions"] for topic in current.get("assignedPartitions", ())}
            )
            yield Member(
                id=member_id,
                client=_client(metadata),
                rack=metadata.get("rackId"),
                subscription=Subscription(topics=normal_topics(metadata.get("subscribedTopicNames", ()))),
                owned=by_name(assigned, names),
                epoch=current.get("memberEpoch", 0),
            )

    def _streams_member(self, member_id: str) -> Member:
        metadata, current = self._member_values(member_id)
        endpoint = metadata.get("userEndpoint")
        return Member(
            id=member_id,
            instance=metadata.get("instanceId"),
            client=_client(metadata),
            rack=metadata.get("rackId"),
            epoch=current.get("memberEpoch"),
            streams=StreamsMember(
                process=metadata.get("processId"),
                topology_epoch=metadata.get("topologyEpoch"),
                endpoint=endpoint and f"{endpoint['host']}:{endpoint['port']}",
                client_tags={tag["key"]: tag["value"] for tag in metadata.get("clientTags", ())},
                tasks=_tasks(current),
                target_tasks=_tasks(self._targets.get(member_id, {})),
            ),
        )

    def _topology(self) -> Topology | None:
        value = self._values.get(self._types.topics)
        if value is None:
            return None
        return Topology(
            epoch=value["epoch"],
            subtopologies=tuple(
                Subtopology(
                    id=subtopology["subtopologyId"],
                    source_topics=tuple(subtopology["sourceTopics"]),
                    repartition_sinks=tuple(subtopology["repartitionSinkTopics"]),
                    repartition_sources=_names(subtopology["repartitionSourceTopics"]),
                    changelogs=_names(subtopology["stateChangelogTopics"]),
                )
                for subtopology in value["subtopologies"]
            ),
        )

    def _member_values(self, member_id: str) -> tuple[Fields, Fields]:
        """Metadata and current assignment of a member, each empty if there is no record of it."""
        said = self.members[member_id]
        current = said.get(self._types.current, {})
        metadata = said.get(self._types.member) or {}
        return metadata, {"memberEpoch": DELETED_EPOCH} if current is None else current


class OtherGroups:
    def __init__(self) -> None:
        self.by_id: dict[str, OtherGroup] = {}

    def replay(self, key_type: int, key: Fields, value: Fields | None) -> None:
        """Apply a record. The first value replaces a group of the other type with this id."""
        group_id: str = key["groupId"]
        kind = GroupType.SHARE if key_type in _SHARE_TYPES else GroupType.STREAMS
        group = self.by_id.get(group_id)
        if group is None or group.type is not kind:
            if value is None:
                return
            group = self.by_id[group_id] = OtherGroup(kind, group_id)
        if not group.replay(key_type, key, value):
            del self.by_id[group_id]


def topic_names_in(value: Fields) -> Iterator[tuple[UUID, str]]:
    """Topic ids and names in the value of a record of type 15; none in any other."""
    for kind in ("initializingTopics", "initializedTopics", "deletingTopics"):
        for topic in value.get(kind, ()):
            # A broker that no longer knows the name writes this instead.
            if topic["topicName"] != "<UNKNOWN>":
                yield topic["topicId"], topic["topicName"]


def _names(topics: Iterable[Fields]) -> tuple[str, ...]:
    return tuple(topic["name"] for topic in topics)


def _client(metadata: Fields) -> Client:
    return Client(id=metadata.get("clientId", ""), host=metadata.get("clientHost", ""))


def _tasks(value: Fields) -> Tasks:
    active, standby, warmup = (
        {task["subtopologyId"]: tuple(sorted(task["partitions"])) for task in value.get(f"{name}Tasks", ())}
        for name in ("active", "standby", "warmup")
    )
    return Tasks(active=active, standby=standby, warmup=warmup)
