"""Reconciliation: a member's steps to its target. It first revokes the partitions that its target no longer contains
(UNREVOKED_PARTITIONS), and keeps its epoch until it reports without them. Then it gets the target's epoch and the
partitions that no other member has, and waits for the rest (UNRELEASED_PARTITIONS). A member in a state of another
broker (UNKNOWN) starts over. Source: KIP-848 "Member Reconciliation"; modern.consumer.CurrentAssignmentBuilder."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from coordinator.engine.consumer.member import normal_partitions
from coordinator.engine.records import (
    NO_PAYLOAD,
    CurrentAssignmentValue,
    MemberState,
    Payload,
    TopicPartitions,
)
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciliationInput:
    """The input of a reconciliation: the member's target, and the facts that limit it."""

    epoch: int  # The epoch of the target assignment
    target: TopicPartitions
    subscribed: Container[UUID]
    """Topics that the member subscribes to: other topics in its target are not assigned to it (any more)."""
    owned: TopicPartitions | None  # The partitions that the member reports; None if it does not report them
    is_free: Callable[[UUID, int], bool]  # Whether no member has the partition or is revoking it
    subscription_changed: bool = False
    payload: Payload = NO_PAYLOAD  # The assignor's metadata that comes with the target


def reconcile(current: CurrentAssignmentValue, goal: ReconciliationInput) -> CurrentAssignmentValue:
    """The member's next assignment. Raises RequestRefused: FENCED_MEMBER_EPOCH: it must release all and rejoin."""
    match current.state:
        case MemberState.STABLE if current.epoch == goal.epoch:
            return _trim(current, goal)
        case MemberState.UNREVOKED_PARTITIONS if _still_has(current.revoking, goal.owned):
            return _trim(current, goal)
        case MemberState.UNKNOWN:
            if goal.owned is None or goal.owned:
                raise RequestRefused(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    "The consumer group member is in a unknown state. "
                    "The member must abandon all its partitions and rejoin.",
                )
            return _next(current, goal, goal.epoch)
    return _next(current, goal, current.epoch)


def _still_has(revoking: TopicPartitions, owned: TopicPartitions | None) -> bool:
    """Whether the member may still have some of the partitions, as it may if it does not report any."""
    if owned is None:
        return True
    return any(not set(numbers).isdisjoint(owned.get(topic, ())) for topic, numbers in revoking.items())


def _next(current: CurrentAssignmentValue, goal: ReconciliationInput, epoch: int) -> CurrentAssignmentValue:
    """One step towards the target; a member that must revoke stays at `epoch`."""
    has_all = current.assigned == goal.target and not current.revoking
    if has_all and all(topic in goal.subscribed for topic in goal.target):
        return replace(
            current,
            epoch=goal.epoch,
            previous_epoch=current.epoch,
            state=MemberState.STABLE,
            assigned=goal.target,
            payload=goal.payload,
        )
    kept: dict[UUID, set[int]] = {}
    revoking: dict[UUID, set[int]] = {}
    free: dict[UUID, set[int]] = {}
    waits = False
    for topic in (*goal.target, *(topic for topic in current.assigned if topic not in goal.target)):
        target = set(goal.target.get(topic, ())) if topic in goal.subscribed else set()
        has = set(current.assigned.get(topic, ()))
        revoking_now = set(current.revoking.get(topic, ()))
        kept[topic], revoking[topic], lacking = has & target, has - target, target - has
        free[topic] = {
            partition for partition in lacking if partition in revoking_now or goal.is_free(topic, partition)
        }
        waits = waits or len(free[topic]) < len(lacking)
    giving_up = normal_partitions(revoking)
    if giving_up and _still_has(giving_up, goal.owned):
        return _moved(current, epoch, MemberState.UNREVOKED_PARTITIONS, kept, giving_up)
    # The broker's map has topics that are new to the member before those that share a bin with them.
    new = [topic for topic, numbers in kept.items() if not numbers]
    assigned = {topic: kept[topic] | free[topic] for topic in (*reversed(new), *kept)}
    state = MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE
    gained = {(topic, partition): goal.epoch for topic, numbers in free.items() for partition in numbers}
    return replace(_moved(current, goal.epoch, state, assigned, {}, gained), payload=goal.payload)


def _trim(current: CurrentAssignmentValue, goal: ReconciliationInput) -> CurrentAssignmentValue:
    """Remove topics that the member no longer subscribes to, before there is a new target (KIP-848, since 4.2)."""
    gone = {topic: numbers for topic, numbers in current.assigned.items() if topic not in goal.subscribed}
    if not gone or not goal.subscription_changed:
        return current
    kept = {topic: set(numbers) for topic, numbers in current.assigned.items() if topic not in gone}
    revoking = {topic: set(numbers) for topic, numbers in current.revoking.items()}
    for topic, numbers in gone.items():
        revoking.setdefault(topic, set()).update(numbers)
    giving_up = normal_partitions(revoking)
    if _still_has(giving_up, goal.owned):
        return _moved(current, current.epoch, MemberState.UNREVOKED_PARTITIONS, kept, giving_up)
    return _moved(current, current.epoch, current.state, kept, current.revoking)


def _moved(
    current: CurrentAssignmentValue,
    epoch: int,
    state: MemberState,
    assigned: Mapping[UUID, set[int]],
    revoking: TopicPartitions,
    gained: Mapping[tuple[UUID, int], int] | None = None,
) -> CurrentAssignmentValue:
    """The next assignment: partitions keep the epoch of their assignment; `gained` has the epochs of new ones."""
    known = {**current.assigned_epochs, **(gained or {})}
    now = normal_partitions(assigned)
    return replace(
        current,
        epoch=epoch,
        previous_epoch=current.epoch,
        state=state,
        assigned=now,
        revoking=revoking,
        assigned_epochs={
            (topic, partition): known[topic, partition]
            for partitions in (revoking, now)
            for topic, numbers in partitions.items()
            for partition in numbers
        },
    )
