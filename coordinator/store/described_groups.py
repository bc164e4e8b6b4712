"""Groups as the coordinator's records leave them, as `groups.model` objects: the same facts as live ones.

What a broker adds from its own settings and from memory is unknown: who coordinates, the assignor that stands for no
wish at all, a rebalance that is going on.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.consumer.target_assignment import shown_assignor
from coordinator.engine.describe_groups import held
from coordinator.engine.records import ClassicMemberValue, TopicPartitions
from coordinator.engine.records import CommittedOffset as StoredOffset
from coordinator.store.share_groups import ShareGroup
from coordinator.store.streams_groups import StreamsGroup
from groups import described
from groups.described import named_partitions
from groups.listing import state_of
from groups.model import (
    Client,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    MemberProtocol,
    Offsets,
    Partitions,
    Problem,
    Subscription,
)

Names = Mapping[UUID, str]
"""Topic names by id, as far as they are known."""


def classic_group(group: ClassicGroup) -> tuple[Group, tuple[Problem, ...]]:
    """A classic group at its last record, which ended a rebalance: Stable, or Empty.

    Metadata that cannot be read leave a member's subscription or ownership unknown.
    """
    stored = group.stored
    bare = Group(
        id=group.id,
        type=GroupType.CLASSIC,
        state=state_of(group.state_name),
        protocol_type=group.protocol_type,
        protocol=shown_protocol(group),
        generation=None if stored is None else stored.generation,
        leader=None if stored is None else stored.leader,
    )
    # In the record's order, which is the broker's own.
    members = () if stored is None else stored.members
    return described.classic_group(bare, map(_classic_member, members), stable=True)


def shown_protocol(group: ClassicGroup) -> str | None:
    """The assignor in use, as live: only a Stable group shows it."""
    return (group.protocol or None) if group.members else None


def _classic_member(member: ClassicMemberValue) -> tuple[Member, bytes, bytes]:
    bare = Member(
        id=member.member,
        instance=member.instance,
        client=Client(id=member.client_id, host=member.host),
        protocol=MemberProtocol.CLASSIC,
    )
    return bare, member.subscription, member.assignment


def consumer_group(group: ConsumerGroup, names: Names) -> Group:
    """A group of type consumer, with epochs and targets."""
    return described.modern_group(
        GroupType.CONSUMER,
        group.id,
        state=group.state_name,
        assignor=wished_assignor(group),
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        members=(_consumer_member(group, member, names) for member in group.in_order()),
    )


def wished_assignor(group: ConsumerGroup) -> str | None:
    """What most members wish for; None where nobody wishes, and the broker's settings decide."""
    return shown_assignor(group.wishes(), "") or None


def _consumer_member(group: ConsumerGroup, member: ConsumerMember, names: Names) -> Member:
    metadata, classic = member.metadata, member.classic
    return Member(
        id=member.id,
        instance=metadata.instance,
        client=Client(id=metadata.client_id, host=metadata.host),
        rack=metadata.rack,
        protocol=MemberProtocol.CONSUMER if classic is None else MemberProtocol.CLASSIC,
        protocols=None if classic is None else tuple(name for name, _ in classic.protocols),
        subscription=Subscription(topics=metadata.topics, regex=metadata.regex or None),
        owned=by_name(held(member), names),
        target=by_name(group.targets.get(member.id, {}), names),
        epoch=member.epoch,
    )


def by_name(partitions: TopicPartitions, names: Names) -> Partitions:
    """Partitions by topic name, by the id where the name is not known."""
    return named_partitions((names.get(topic), topic, numbers) for topic, numbers in partitions.items())


def committed_offsets(stored: Mapping[tuple[str, int], StoredOffset]) -> Offsets:
    """By topic and partition, with the time of the commit."""
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    for (topic, partition), value in stored.items():
        offsets.setdefault(topic, {})[partition] = CommittedOffset(
            offset=value.offset,
            leader_epoch=None if value.leader_epoch < 0 else value.leader_epoch,
            metadata=value.metadata,
            timestamp=value.commit_ms,
        )
    return offsets


def share_group(group: ShareGroup, names: Names) -> Group:
    """A share group (KIP-932)."""
    members = (
        Member(
            id=member.id,
            client=Client(id=member.client_id, host=member.host),
            rack=member.rack,
            subscription=Subscription(topics=member.topics),
            owned=by_name(member.assigned, names),
            epoch=member.epoch,
        )
        for member in group.members
    )
    return described.modern_group(
        GroupType.SHARE,
        group.id,
        state=group.state,
        assignor=None,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=members,
    )


def streams_group(group: StreamsGroup) -> Group:
    """A streams group (KIP-1071): active tasks as partitions of their source topics."""
    members = (
        (
            Member(
                id=member.id,
                instance=member.instance,
                client=Client(id=member.client_id, host=member.host),
                rack=member.rack,
                epoch=member.epoch,
            ),
            member.assigned.active,
            member.target.active,
        )
        for member in group.members
    )
    sources = {} if group.topology is None else group.topology.source_topics
    return described.modern_group(
        GroupType.STREAMS,
        group.id,
        state=group.state,
        assignor=None,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        members=described.streams_members(sources, members),
    )
