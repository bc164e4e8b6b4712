"""Groups of a log as `groups.model` objects: with the facts of a live cluster. Facts from a broker's settings and
memory are unknown: the coordinator, the default assignor, a rebalance in progress."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.client_assignors import choose
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.target_assignment import shown_assignor
from coordinator.engine.context import EngineState
from coordinator.engine.context import Group as EngineGroup
from coordinator.engine.groups import Names, consumer_group
from coordinator.engine.records import ClassicMemberValue, StoredOffset
from coordinator.store.other_groups import OtherGroup
from coordinator.store.topic_names import KnownTopic
from groups import described, model
from groups.dry_run import BROKERS_DEFAULT

DEFAULT_ASSIGNORS: Mapping[model.GroupType, str] = {
    model.GroupType.CONSUMER: BROKERS_DEFAULT,
    model.GroupType.SHARE: "simple",
}
"""The first of the defaults of `group.consumer.assignors` and of `group.share.assignors`."""


def described_group(
    state: EngineState, others: Mapping[str, OtherGroup], name: str, names: Names
) -> tuple[model.Group | None, tuple[model.Problem, ...]]:
    """A group, and problems reading it; None if there is no such group. `names`: topic names by id."""
    stored = state.groups.get(name)
    if isinstance(stored, ClassicGroup):
        return classic_group(stored)
    if isinstance(stored, ConsumerGroup):
        return consumer_group(stored, names, _assignor(stored)), ()
    return (others[name].described(names) if name in others else None), ()


def listed_group(group: EngineGroup | OtherGroup) -> model.GroupListing:
    """The list row of a group, without reading its members."""
    protocol = None
    if isinstance(group, ConsumerGroup):
        protocol = _assignor(group)
    elif isinstance(group, ClassicGroup):
        protocol = shown_protocol(group)
    return model.GroupListing(
        id=group.id,
        type=group.type,
        state=group.state,
        protocol_type=group.protocol_type,
        protocol=protocol,
        members=len(group.members),
    )


def _assignor(group: ConsumerGroup) -> str | None:
    """The assignor in use; None if no member requests one."""
    client_side = choose(list(group.members.values()))
    return shown_assignor(group.requested_assignors()) if client_side is None else client_side.name


def classic_group(group: ClassicGroup) -> tuple[model.Group, tuple[model.Problem, ...]]:
    """A classic group at its last record, which ended a rebalance: Stable, or Empty. Unreadable metadata
    leaves a member's subscription or ownership unknown."""
    stored = group.stored
    bare = model.Group(
        id=group.id,
        type=model.GroupType.CLASSIC,
        state=group.state,
        protocol_type=group.protocol_type,
        protocol=shown_protocol(group),
        generation=None if stored is None else stored.generation,
        leader=None if stored is None else stored.leader,
    )
    # In the record's order, which is the broker's own.
    members = () if stored is None else stored.members
    return described.classic_group(bare, map(classic_member, members), stable=True)


def shown_protocol(group: ClassicGroup) -> str | None:
    """The assignor in use; as on a live cluster, only a Stable group shows it."""
    return (group.protocol or None) if group.members else None


def classic_member(member: ClassicMemberValue) -> tuple[model.Member, bytes, bytes]:
    """A classic member as the broker knows it, its metadata and its assignment."""
    bare = model.Member(
        id=member.member,
        instance=member.instance,
        client=model.Client(id=member.client_id, host=member.host),
        protocol=model.MemberProtocol.CLASSIC,
    )
    return bare, member.subscription, member.assignment


def committed_offsets(stored: Mapping[tuple[str, int], StoredOffset]) -> model.Offsets:
    """The committed offsets by topic and partition, with the time of the commit."""
    offsets: dict[str, dict[int, model.CommittedOffset]] = {}
    for (topic, partition), value in stored.items():
        offsets.setdefault(topic, {})[partition] = model.CommittedOffset(
            offset=value.offset,
            leader_epoch=None if value.leader_epoch < 0 else value.leader_epoch,
            metadata=value.metadata,
            timestamp=value.commit_ms,
            topic_id=value.topic_id,
        )
    return offsets


def default_assignors(groups: Iterable[model.Group | model.GroupListing]) -> dict[str, str]:
    """The broker's default assignor, by the groups in which no member requests one."""
    return {
        group.id: DEFAULT_ASSIGNORS[group.type]
        for group in groups
        if group.protocol is None and group.type in DEFAULT_ASSIGNORS
    }


def with_default(group: model.Group) -> model.Group:
    """The group with the broker's default assignor if no member requests one."""
    return replace(group, protocol=default_assignors([group]).get(group.id, group.protocol))


def sized_topics(known: Iterable[KnownTopic]) -> Iterator[model.Topic]:
    for topic in known:
        if topic.partitions is not None:
            yield model.Topic(name=topic.name, partitions=topic.partitions, id=topic.id, racks=topic.racks)
