"""Groups and their committed offsets from the responses of brokers, and code shared with groups from a log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from uuid import UUID

from groups import model
from groups.commits import TopicCommits
from groups.connect import CONNECT, assigned_worker, common_leader
from groups.election import SCHEMA_REGISTRY, candidate
from groups.listing import MALFORMED, state_of
from groups.streams import NodeKind, StreamsMember, Subtopology, Tasks, Topology, TopologyNode
from wire.errors import ErrorCode, Failure, refusal
from wire.messages.connect_protocol import read_worker_assignment, read_worker_state
from wire.messages.embedded_protocol import read_assignment, read_subscription
from wire.messages.reader import DecodeError
from wire.messages.rows import columns_of
from wire.uuids import format_uuid

if TYPE_CHECKING:
    from wire.messages.schemas import classic_groups as classic
    from wire.messages.schemas import consumer_groups as consumer
    from wire.messages.schemas import offsets as fetched
    from wire.messages.schemas import share_groups as share
    from wire.messages.schemas import streams_groups as streams

    ModernGroup: TypeAlias = (
        consumer.ConsumerGroupDescribeResponseGroup
        | share.ShareGroupDescribeResponseGroup
        | streams.StreamsGroupDescribeResponseGroup
    )
    DescribedNode: TypeAlias = (
        streams.StreamsGroupDescribeResponseGroupTopologyDescriptionSubtopologyNode
        | streams.StreamsGroupDescribeResponseGroupTopologyDescriptionGlobalStoreSource
    )
    Fetched: TypeAlias = fetched.OffsetFetchResponse | fetched.OffsetFetchResponseGroup
    Assignment: TypeAlias = (
        consumer.ConsumerGroupDescribeResponseGroupMemberAssignment
        | share.ShareGroupDescribeResponseGroupMemberAssignment
    )

T = TypeVar("T")
EMBEDDED = "consumer"  # the protocol type of groups with metadata and assignments of Kafka's consumers
_NODE_KINDS = dict(enumerate(NodeKind, start=1))
_PROTOCOLS = {
    0: model.MemberProtocol.CLASSIC,
    1: model.MemberProtocol.CONSUMER,
}  # by `memberType`, -1 before Kafka 4.0


def as_group(
    kind: model.GroupType, group: Any, coordinator: model.Node | None
) -> tuple[model.Group, tuple[model.Problem, ...]]:
    """Convert a group from the describe response of its type, with a problem for each unreadable part."""
    if kind is model.GroupType.CONSUMER:
        return _modern_group(kind, group, map(_consumer_member, group.members), coordinator), ()
    if kind is model.GroupType.SHARE:
        return _modern_group(kind, group, map(_consumer_member, group.members), coordinator), ()
    if kind is model.GroupType.STREAMS:
        topology = _topology(group.topology)
        members = streams_members(topology, map(_streams_member, group.members))
        return replace(_modern_group(kind, group, members, coordinator), topology=topology), ()
    bare = model.Group(
        id=group.group_id,
        type=model.GroupType.CLASSIC,
        state=state_of(group.group_state),
        protocol_type=group.protocol_type,
        protocol=group.protocol_data or None,
        coordinator=coordinator,
    )
    is_stable = bare.state is model.GroupState.STABLE
    return classic_group(bare, map(_classic_member, group.members), stable=is_stable)


def _modern_group(
    kind: model.GroupType, group: ModernGroup, members: Iterator[model.Member], coordinator: model.Node | None
) -> model.Group:
    """Brokers show the assignor of a streams group since Kafka 4.4 (KIP-1357); a share group has only one by name."""
    return model.Group(
        id=group.group_id,
        type=kind,
        state=state_of(group.group_state),
        protocol_type=kind.value,
        protocol=getattr(group, "assignor_name", None) or None,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=tuple(members),
        coordinator=coordinator,
    )


def _classic_member(member: classic.DescribeGroupsResponseGroupMember) -> tuple[model.Member, bytes, bytes]:
    bare = model.Member(
        id=member.member_id,
        instance=member.group_instance_id,
        client=model.Client(id=member.client_id, host=member.client_host),
        protocol=model.MemberProtocol.CLASSIC,
    )
    return bare, member.member_metadata, member.member_assignment


def _consumer_member(member: Any) -> model.Member:
    """Of a consumer or a share group. A static member that is away has epoch -2; a revoking member is an owner."""
    target = getattr(member, "target_assignment", None)
    return model.Member(
        id=member.member_id,
        instance=getattr(member, "instance_id", None),
        client=model.Client(id=member.client_id, host=member.client_host),
        rack=member.rack_id or None,
        protocol=_PROTOCOLS.get(getattr(member, "member_type", -1)),
        # The broker writes "no regex" as an empty string.
        subscription=model.Subscription(
            topics=member.subscribed_topic_names,
            regex=getattr(member, "subscribed_topic_regex", None) or None,
        ),
        owned=_partitions(member.assignment),
        target=None if target is None else _partitions(target),
        epoch=member.member_epoch,
        assignor_answer=_answer(member.assignment),
        target_assignor_answer=None if target is None else _answer(target),
    )


def _answer(assignment: Assignment) -> model.AssignorAnswer | None:
    """What a client-side assignor sent; a broker of Kafka, and a share group, has nothing of the kind."""
    error, data = getattr(assignment, "error", 0), getattr(assignment, "metadata_bytes", None)
    if not error and data is None:
        return None
    version = getattr(assignment, "metadata_version", 0)
    return model.AssignorAnswer(
        error=error, metadata_version=version, metadata=None if data is None else bytes(data)
    )


def _streams_member(member: streams.StreamsGroupDescribeResponseGroupMember) -> model.Member:
    """A member with its tasks, without the topics that these read. Only a group in migration has classic members."""
    endpoint = member.user_endpoint
    return model.Member(
        id=member.member_id,
        instance=member.instance_id,
        client=model.Client(id=member.client_id, host=member.client_host),
        rack=member.rack_id or None,
        protocol=model.MemberProtocol.CLASSIC if member.is_classic else None,
        epoch=member.member_epoch,
        streams=StreamsMember(
            process=member.process_id,
            topology_epoch=member.topology_epoch,
            endpoint=None if endpoint is None else f"{endpoint.host}:{endpoint.port}",
            client_tags={tag.key: tag.value for tag in member.client_tags},
            tasks=_tasks(member.assignment),
            target_tasks=_tasks(member.target_assignment),
        ),
    )


def _tasks(assignment: streams.StreamsGroupDescribeResponseGroupMemberAssignment) -> Tasks:
    def by_subtopology(
        tasks: Iterable[streams.StreamsGroupDescribeResponseGroupMemberAssignmentActiveTask],
    ) -> dict[str, tuple[int, ...]]:
        return {task.subtopology_id: tuple(sorted(task.partitions)) for task in tasks}

    return Tasks(
        active=by_subtopology(assignment.active_tasks),
        standby=by_subtopology(assignment.standby_tasks),
        warmup=by_subtopology(assignment.warmup_tasks),
    )


def _topology(topology: streams.StreamsGroupDescribeResponseGroupTopology | None) -> Topology | None:
    if topology is None:
        return None
    return Topology(
        epoch=topology.epoch,
        subtopologies=tuple(
            Subtopology(
                id=subtopology.subtopology_id,
                source_topics=tuple(subtopology.source_topics),
                repartition_sinks=tuple(subtopology.repartition_sink_topics),
                repartition_sources=tuple(topic.name for topic in subtopology.repartition_source_topics),
                changelogs=tuple(topic.name for topic in subtopology.state_changelog_topics),
            )
            for subtopology in topology.subtopologies or ()
        ),
    )


def with_nodes(
    topology: Topology, description: streams.StreamsGroupDescribeResponseGroupTopologyDescription
) -> Topology:
    nodes = {part.subtopology_id: tuple(map(_node, part.nodes)) for part in description.subtopologies}
    stores = description.global_stores
    return replace(
        topology,
        subtopologies=tuple(
            replace(subtopology, nodes=nodes.get(subtopology.id)) for subtopology in topology.subtopologies
        ),
        global_nodes=tuple(_node(node) for store in stores for node in (store.source, store.processor)),
    )


def _node(node: DescribedNode) -> TopologyNode:
    return TopologyNode(
        name=node.name,
        kind=_NODE_KINDS.get(node.node_type),
        topics=tuple(node.source_topics) if node.sink_topic is None else (node.sink_topic,),
        stores=tuple(node.stores),
        successors=tuple(node.successors),
    )


def _partitions(assignment: Assignment) -> model.Partitions:
    """Partitions by topic name; a deleted topic has no name and is listed by its id."""
    return named_partitions(
        (entry.topic_name, entry.topic_id, entry.partitions) for entry in assignment.topic_partitions
    )


def committed_offsets(group: Fetched) -> tuple[model.Offsets, dict[tuple[str, int], Failure]]:
    """The committed offsets of a group from an OffsetFetch response, and the partitions that could not be read."""
    offsets: dict[str, Mapping[int, model.CommittedOffset]] = {}
    failed: dict[tuple[str, int], Failure] = {}
    for topic in group.topics:
        numbers, committed, epochs, metadata, errors = columns_of(
            topic.partitions,
            "partition_index",
            "committed_offset",
            "committed_leader_epoch",
            "metadata",
            "error_code",
        )
        if any(errors):
            failed |= {
                (topic.name, number): refusal(error)
                for number, error in zip(numbers, errors, strict=True)
                if error
            }
            read = [not error for error in errors]
            numbers, committed, epochs, metadata = (
                tuple(compress(column, read)) for column in (numbers, committed, epochs, metadata)
            )
        if None in metadata:
            metadata = tuple(text or "" for text in metadata)
        if numbers:
            commits = TopicCommits(numbers, committed, epochs, metadata)
            offsets[topic.name] = {**offsets[topic.name], **commits} if topic.name in offsets else commits
    return offsets, failed


def pending_places(group: Fetched) -> set[tuple[str, int]]:
    """The partitions in an OffsetFetch response with an offset in an open transaction."""
    places = set()
    for topic in group.topics:
        numbers, errors = columns_of(topic.partitions, "partition_index", "error_code")
        if any(errors):
            places |= {
                (topic.name, number)
                for number, error in zip(numbers, errors, strict=True)
                if error == ErrorCode.UNSTABLE_OFFSET_COMMIT
            }
    return places


def share_offsets(
    group: share.DescribeShareGroupOffsetsResponseGroup,
) -> tuple[model.Offsets, dict[tuple[str, int], Failure]]:
    """A share group's start offsets (-1: not started; lag since Kafka 4.2), and the unreadable partitions."""
    offsets: dict[str, dict[int, model.CommittedOffset]] = {}
    failed: dict[tuple[str, int], Failure] = {}
    for topic in group.topics:
        for partition in topic.partitions:
            number, start = partition.partition_index, partition.start_offset
            if partition.error_code:
                failed[topic.topic_name, number] = refusal(partition.error_code, partition.error_message)
                continue
            offsets.setdefault(topic.topic_name, {})[number] = model.CommittedOffset(
                offset=start,
                leader_epoch=None if min(partition.leader_epoch, start) < 0 else partition.leader_epoch,
                lag=None if partition.lag < 0 else partition.lag,
            )
    return offsets, failed


def classic_group(
    group: model.Group, members: Iterable[tuple[model.Member, bytes, bytes]], *, stable: bool
) -> tuple[model.Group, tuple[model.Problem, ...]]:
    """Add the members with metadata and assignment; bytes that cannot be decoded are a problem, and unknown."""
    if group.protocol_type == CONNECT:
        workers = tuple(_with_worker(*member) for member in members)
        leader = group.leader or common_leader(member.connect for member in workers)
        group = replace(group, members=workers, leader=leader)
    elif group.protocol_type == EMBEDDED:
        read = (_with_embedded(*member, stable=stable) for member in members)
        group = replace(group, members=tuple(read))
    elif group.protocol_type == SCHEMA_REGISTRY:
        candidates = tuple(replace(member, candidate=candidate(*data)) for member, *data in members)
        group = replace(group, members=candidates)
    else:
        group = replace(group, members=tuple(member for member, _, _ in members))
    return group, unreadable_members(group)


def unreadable_members(group: model.Group) -> tuple[model.Problem, ...]:
    """A problem for each member of which the subscription or the assignment cannot be read."""
    return tuple(
        model.Problem(subject=f"{group.id}, member {member.id}", message=member.unreadable, error=MALFORMED)
        for member in group.members
        if member.unreadable is not None
    )


def streams_members(topology: Topology | None, members: Iterable[model.Member]) -> Iterator[model.Member]:
    """Add what members read: active tasks become partitions of their topics; without a topology, no subscription."""
    topics = tuple(sorted(topology.input_topics)) if topology else ()
    subscription = model.Subscription(topics=topics) if topics else None
    for member in members:
        streams = member.streams or StreamsMember()
        yield replace(
            member,
            subscription=subscription,
            owned=_task_partitions(topology, streams.tasks),
            target=_task_partitions(topology, streams.target_tasks),
        )


def _with_embedded(base: model.Member, metadata: bytes, assignment: bytes, *, stable: bool) -> model.Member:
    """The member with the embedded protocol; empty bytes are unknown, or no partitions if the group is `stable`."""
    subscription, unsubscribed = _part(read_subscription, metadata, "subscription")
    assigned, unassigned = _part(read_assignment, assignment, "assignment")
    if stable and not metadata:
        unsubscribed = "its subscription is not known: it sent no metadata"
    oddity = "; ".join(filter(None, (unsubscribed, unassigned))) or None
    rack, topics, kept, owned, data = base.rack, base.subscription, base.kept, base.owned, base.user_data
    if subscription is not None:
        # In the order sent: in one bucket, Java's maps keep the order of insertion.
        topics = model.Subscription(topics=tuple(dict.fromkeys(subscription.topics)))
        sent = sorted(subscription.owned.items())
        kept = {topic: tuple(sorted(numbers)) for topic, numbers in sent if numbers} or None
        rack = subscription.rack or None
    if assigned is not None:
        owned = {name: tuple(sorted(set(numbers))) for name, numbers in sorted(assigned.partitions.items())}
    elif stable and not assignment:
        owned = {}
    if oddity is None and (subscription is not None or assigned is not None):
        data = model.UserData(
            subscription=(subscription.user_data if subscription else None) or b"",
            assignment=(assigned.user_data if assigned else None) or b"",
        )
    unreadable = oddity or base.unreadable
    return replace(
        base, rack=rack, subscription=topics, kept=kept, owned=owned, user_data=data, unreadable=unreadable
    )


def _with_worker(member: model.Member, metadata: bytes, assignment: bytes) -> model.Member:
    """The member as a worker of Kafka Connect; what is empty is unknown, as in a group that is not Stable."""
    state, stateless = _part(read_worker_state, metadata, "state")
    assigned, unassigned = _part(read_worker_assignment, assignment, "assignment")
    oddity = "; ".join(filter(None, (stateless, unassigned))) or None
    if state is None and assigned is None:
        return replace(member, unreadable=oddity)
    return replace(member, connect=assigned_worker(state, assigned), unreadable=oddity)


def _part(read: Callable[[bytes], T], data: bytes, name: str) -> tuple[T | None, str | None]:
    """A part of the embedded protocol, and why it cannot be read; neither if there are no bytes."""
    if not data:
        return None, None
    try:
        return read(data), None
    except DecodeError as error:
        return None, f"its {name} cannot be read: {error}"


def named_partitions(assigned: Iterable[tuple[str | None, UUID | None, Sequence[int]]]) -> model.Partitions:
    """Partitions by topic, from each topic's name, id and partitions; a deleted topic has no name: its id is used."""
    partitions: dict[str, tuple[int, ...]] = {}
    for topic, topic_id, numbers in assigned:
        name = topic or ("?" if topic_id is None else format_uuid(topic_id))
        partitions[name] = tuple(sorted({*partitions.get(name, ()), *numbers}))
    # The broker's order is that of its map; it decides which topic a member revokes first.
    return partitions


def _task_partitions(topology: Topology | None, tasks: Tasks | None) -> model.Partitions:
    active = tasks.active if tasks else {}
    partitions: dict[str, set[int]] = {}
    for subtopology in topology.subtopologies if topology else ():
        for topic in subtopology.topics_read if subtopology.id in active else ():
            partitions.setdefault(topic, set()).update(active[subtopology.id])
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions)}
