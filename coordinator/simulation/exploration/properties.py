"""The properties of a small world: of each state, of each step, and of the reachable final states.
The first eight and `EventuallyConverges` have the names of the published model of KIP-848
(Vanlightly/kafka-tlaplus, consumer_group_protocol_kip_848_v2); docstrings name counterparts of its variables."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import TypeAlias

from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.outputs import CallbackKind, Partitions, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.records import MemberState, TopicPartitions
from coordinator.simulation.exploration.state import ExploredState
from groups.listing import GroupState

StateProperty: TypeAlias = Callable[[ExploredState], bool]
StepProperty: TypeAlias = Callable[[ExploredState, ExploredState], bool]


def _group_epochs(world: ExploredState) -> dict[str, int]:
    group = world.group
    if isinstance(group, ConsumerGroup):
        return {member.id: member.epoch for member in group.members.values()}
    return {} if group is None else {"group": group.generation}


def _names(world: ExploredState, partitions: TopicPartitions) -> set[TopicPartition]:
    names = world.image.names
    return {
        TopicPartition(names[topic], number) for topic, numbers in partitions.items() for number in numbers
    }


def _current(world: ExploredState) -> Iterator[tuple[str, Partitions]]:
    """Members according to the coordinator, with what they read: not what a listener has yet to receive."""
    group = world.group
    if group is not None:
        for name, member, _ in world.owned():
            if group.has_member(member.member_id):
                yield name, member.fetching


# Of a state.


def type_ok(world: ExploredState) -> bool:
    """Epochs are at least -2, and assigned partitions exist."""
    group = world.group
    if not isinstance(group, ConsumerGroup):
        return group is None or group.generation >= 0
    places = {
        (topic.id, number) for topic in world.image.topics.values() for number in range(topic.partitions)
    }
    return group.epoch >= 0 and all(
        member.epoch >= -2
        and all((topic, number) in places for topic, numbers in member.assigned.items() for number in numbers)
        for member in group.members.values()
    )


def legal_target_assignment(world: ExploredState) -> bool:
    """Each subscribed partition is in the target of exactly one member, and only members have targets."""
    group = world.group
    if not isinstance(group, ConsumerGroup) or not group.targets or not group.members:
        return True
    assigned = [partition for target in group.targets.values() for partition in _names(world, target)]
    if len(assigned) != len(set(assigned)) or not set(group.targets) <= set(group.members):
        return False
    subscribed = {name for member in group.members.values() for name in member.metadata.topics}
    all_places = {
        TopicPartition(topic.name, number)
        for topic in world.image.topics.values()
        if topic.name in subscribed
        for number in range(topic.partitions)
    }
    return group.epoch != group.assignment_epoch or set(assigned) == all_places


def no_double_client_assignment(world: ExploredState) -> bool:
    """No two current members both consider themselves owner of a partition (I1)."""
    return all(one.isdisjoint(other) for (_, one), (_, other) in combinations(_current(world), 2))


def valid_partition_epoch(world: ExploredState) -> bool:
    """Also according to the coordinator, at most one member has a partition (in the model: it has an epoch)."""
    group = world.group
    if not isinstance(group, ConsumerGroup):
        return True
    held = [
        _names(world, member.assigned) | _names(world, member.revoking) for member in group.members.values()
    ]
    return all(one.isdisjoint(other) for one, other in combinations(held, 2))


def valid_stable_group_state(world: ExploredState) -> bool:
    """In a Stable group each member is STABLE, at the group epoch, is revoking nothing and has its target."""
    group = world.group
    if not isinstance(group, ConsumerGroup) or group.state is not GroupState.STABLE:
        return True
    return all(
        member.current.state is MemberState.STABLE
        and member.epoch == group.epoch
        and not member.revoking
        and member.assigned == group.targets.get(member.id, {})
        for member in group.members.values()
    )


def valid_member_epoch(world: ExploredState) -> bool:
    """A member that considers itself at the target's epoch owns no partition that the target assigns to another."""
    group = world.group
    if not isinstance(group, ConsumerGroup):
        return True
    for _name, member, owned in world.owned():
        if not isinstance(member, AsyncConsumer) or member.epoch != group.assignment_epoch:
            continue
        others = (target for other, target in group.targets.items() if other != member.member_id)
        if any(not owned.isdisjoint(_names(world, target)) for target in others):
            return False
    return True


def one_holder_of_an_instance(world: ExploredState) -> bool:
    """An instance id belongs to at most one member."""
    group = world.group
    if group is None:
        return True
    instances = [member.instance for member in group.members.values() if member.instance is not None]
    return len(instances) == len(set(instances))


def agreed_generation(world: ExploredState) -> bool:
    """In a Stable classic group no partition is in two assignments (I5, I11), unless there are V0 members."""
    group = world.group
    if not isinstance(group, ClassicGroup) or group.state is not GroupState.STABLE:
        return True
    return group.leader in group.members


# Of a step.


def client_side_member_epoch_is_monotonic(before: ExploredState, world: ExploredState) -> bool:
    """A process's epoch decreases only to 0 or below: it rejoins, or leaves."""
    return not any(
        one.process == other.process
        and one.member
        and other.member
        and 0 < other.member.epoch < one.member.epoch
        for one, other in zip(before.clients.values(), world.clients.values(), strict=True)
    )


def gc_side_member_epoch_is_monotonic(before: ExploredState, world: ExploredState) -> bool:
    """The coordinator's epoch of a member decreases only to -2, when a static member leaves temporarily."""
    now = _group_epochs(world)
    epochs = _group_epochs(before).items()
    return all(now.get(key, epoch) >= epoch or now[key] == -2 for key, epoch in epochs)


def callbacks_fit(before: ExploredState, world: ExploredState) -> bool:
    """Revoked and lost partitions were owned before, assigned partitions are owned afterwards (I6)."""
    for name, call in world.callbacks:
        owner = world if call.kind is CallbackKind.ASSIGNED else before
        member = owner.clients[name].member
        if not call.partitions <= (frozenset() if member is None else member.owned):
            return False
    return True


STATE_PROPERTIES: Mapping[str, StateProperty] = {
    "TypeOK": type_ok,
    "LegalTargetAssignment": legal_target_assignment,
    "NoDoubleClientAssignment": no_double_client_assignment,
    "ValidPartitionEpoch": valid_partition_epoch,
    "ValidStableGroupState": valid_stable_group_state,
    "ValidMemberEpoch": valid_member_epoch,
    "OneHolderOfAnInstance": one_holder_of_an_instance,
    "LeaderIsAMember": agreed_generation,
}
STEP_PROPERTIES: Mapping[str, StepProperty] = {
    "ClientSideMemberEpochIsMonotonic": client_side_member_epoch_is_monotonic,
    "GcSideMemberEpochIsMonotonic": gc_side_member_epoch_is_monotonic,
    "CallbacksFit": callbacks_fit,
}
CONVERGES = "EventuallyConverges"
"""From every state, a `converged` state can be reached without a perturbation."""


def converged(world: ExploredState) -> bool:
    """All running members are settled in a Stable (or Empty) group, and each subscribed partition has an owner."""
    if world.network:
        return False
    running = [member for _, member, _ in world.owned()]
    if any(client.calling or not (client.member or client.is_over) for client in world.clients.values()):
        return False
    if not all(member.is_settled for member in running):
        return False
    group = world.group
    if group is None or not running:
        return not running
    if group.state is not GroupState.STABLE or len(group.members) != len(running):
        return False
    owned = [partition for member in running for partition in member.owned]
    return len(owned) == sum(topic.partitions for topic in world.image.topics.values())
