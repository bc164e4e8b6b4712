"""The events of a group between two observations.

An observation may be incomplete (brokers show no assignments of a classic group in a rebalance), so the later one is
completed from earlier ones (`merge_observed`), and then compared with the earlier merged one; applying the events to
that gives exactly the later one. Any number of rebalances may have happened between two observations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TypeAlias

from groups.model import Group, GroupType, Member, Offsets

Place: TypeAlias = tuple[str, int]  # Topic and partition
Owners: TypeAlias = Mapping[Place, tuple[str, ...]]
"""Ids of the members that own a partition, sorted: in a share group there may be several."""
EventValue: TypeAlias = str | int | tuple[str, ...] | None


class EventKind(Enum):
    """Kinds of events; the docstrings describe `before` and `after`."""

    GROUP_APPEARED = "group-appeared"  # Before: its type; after: its state
    GROUP_GONE = "group-gone"
    TYPE_CHANGED = "type-changed"  # Types of the group
    COORDINATOR_MOVED = "coordinator-moved"  # `host:port`
    ASSIGNOR_CHANGED = "assignor-changed"  # Names of assignors
    MEMBER_LEFT = "member-left"  # Before: its instance id, or None
    MEMBER_REPLACED = "member-replaced"
    """A static member rejoined with another id: `member` is the new one, before and after are ids."""
    MEMBER_JOINED = "member-joined"  # After: its instance id, or None
    MEMBER_PROTOCOL_CHANGED = "member-protocol-changed"  # `classic` or `consumer`
    SUBSCRIPTION_CHANGED = "subscription-changed"  # Topics, sorted, and a regex after `regex:`
    GENERATION_CHANGED = "generation-changed"
    """Generations of a classic group; no broker reports them, but a coordinator's log contains them."""
    EPOCH_CHANGED = "epoch-changed"
    """Group epochs; after a conversion from a classic group, the epoch continues from its generation."""
    ASSIGNMENT_EPOCH_CHANGED = "assignment-epoch-changed"
    MEMBER_EPOCH_CHANGED = "member-epoch-changed"
    PARTITIONS_LOST = "partitions-lost"  # Partitions have no owner now. Before: ids of members.
    PARTITIONS_MOVED = "partitions-moved"  # Ids of the members that owned and that own them
    PARTITIONS_ASSIGNED = "partitions-assigned"  # Partitions had no owner. After: ids of members.
    STATE_CHANGED = "state-changed"
    OFFSETS_COMMITTED = "offsets-committed"
    """Offsets, one event per partition: an offset advanced, or is the first one (before is None)."""
    OFFSETS_SET_BACK = "offsets-set-back"
    OFFSETS_DELETED = "offsets-deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    kind: EventKind
    group: str
    member: str | None = None  # Id of the member, for an event of a member
    topic: str | None = None
    partitions: tuple[int, ...] = ()  # Ascending partition numbers, all with the same change
    before: EventValue = None
    after: EventValue = None
    epochs: int | None = None
    """For moved partitions, the group epochs since the last observation: more than one may be several moves."""


def merge_observed(before: Group | None, after: Group | None) -> Group | None:
    """An observed group; facts that it does not show are taken from the earlier merged one."""
    if before is None or after is None:
        return after
    known = {member.id: member for member in before.members}
    static = {member.instance: member for member in before.members if member.instance}
    earlier = [known.get(member.id) or static.get(member.instance or "") for member in after.members]
    return replace(
        after,
        members=tuple(map(_completed, earlier, after.members)),
        protocol=after.protocol or before.protocol,
        coordinator=after.coordinator or before.coordinator,
        generation=before.generation if after.generation is None else after.generation,
        offsets=_completed_offsets(before.offsets, after.offsets),
    )


def events(before: Group | None, after: Group | None) -> tuple[WatchEvent, ...]:
    """The events from one merged group to the next, in a natural order."""
    if before is None and after is None:
        return ()
    if after is None:
        assert before is not None  # noqa: S101  (mypy)
        return (WatchEvent(kind=EventKind.GROUP_GONE, group=before.id),)
    happened: list[WatchEvent] = []
    if before is None:
        kind, state = after.type.value, after.state.value
        happened.append(WatchEvent(kind=EventKind.GROUP_APPEARED, group=after.id, before=kind, after=state))
        before = Group(id=after.id, type=after.type, state=after.state)
    happened += _changed(after, EventKind.TYPE_CHANGED, before.type.value, after.type.value)
    happened += _changed(after, EventKind.COORDINATOR_MOVED, _node(before), _node(after))
    happened += _changed(after, EventKind.ASSIGNOR_CHANGED, before.protocol, after.protocol)
    renamed = _replaced(before, after)
    happened += _of_members(before, after, renamed)
    happened += _of_epochs(before, after, renamed)
    happened += _of_partitions(before, after, renamed)
    happened += _changed(after, EventKind.STATE_CHANGED, before.state.value, after.state.value)
    happened += _of_offsets(after.id, before.offsets or {}, after.offsets or {})
    return tuple(happened)


def owners_of(group: Group) -> dict[Place, tuple[str, ...]]:
    """The owners of partitions; members whose partitions are not known are left out."""
    owners: dict[Place, list[str]] = {}
    for member in group.members:
        for topic, numbers in (member.owned or {}).items():
            for number in numbers:
                owners.setdefault((topic, number), []).append(member.id)
    return {partition: tuple(sorted(ids)) for partition, ids in owners.items()}


def subscription_names(member: Member) -> tuple[str, ...] | None:
    """A subscription as a value of events."""
    subscription = member.subscription
    if subscription is None:
        return None
    return (*sorted(subscription.topics), *([f"regex:{subscription.regex}"] if subscription.regex else []))


def _completed(before: Member | None, after: Member) -> Member:
    if before is None:
        return after
    return replace(
        after,
        owned=before.owned if after.owned is None else after.owned,
        subscription=after.subscription or before.subscription,
        protocol=after.protocol or before.protocol,
        epoch=before.epoch if after.epoch is None else after.epoch,
    )


def _completed_offsets(before: Offsets | None, after: Offsets | None) -> Offsets | None:
    """The offsets; an offset of None could not be read, and is replaced by the earlier one."""
    if after is None or before is None:
        return before if after is None else after
    return {
        topic: {
            number: before.get(topic, {}).get(number, offset) if offset.offset is None else offset
            for number, offset in partitions.items()
        }
        for topic, partitions in after.items()
    }


def _changed(
    group: Group, kind: EventKind, was: EventValue, now: EventValue, member: str | None = None
) -> Iterator[WatchEvent]:
    """An event if a value has changed."""
    if was != now:
        yield WatchEvent(kind=kind, group=group.id, member=member, before=was, after=now)


def _node(group: Group) -> str | None:
    node = group.coordinator
    return None if node is None else f"{node.host}:{node.port}"


def _replaced(before: Group, after: Group) -> dict[str, str]:
    """New ids of static members that rejoined with another id, by the old id."""
    old = {member.instance: member.id for member in before.members if member.instance}
    new = {member.instance: member.id for member in after.members if member.instance}
    there = {member.id for member in after.members}
    return {
        old[instance]: name
        for instance, name in new.items()
        if instance in old and old[instance] != name and old[instance] not in there
    }


def _of_members(before: Group, after: Group, renamed: Mapping[str, str]) -> Iterator[WatchEvent]:
    old = {renamed.get(member.id, member.id): member for member in before.members}
    new = {member.id: member for member in after.members}
    for name, member in old.items():
        if name not in new:
            yield WatchEvent(kind=EventKind.MEMBER_LEFT, group=after.id, member=name, before=member.instance)
    for was, now in renamed.items():
        yield WatchEvent(kind=EventKind.MEMBER_REPLACED, group=after.id, member=now, before=was, after=now)
    for name, member in new.items():
        if name not in old:
            yield WatchEvent(kind=EventKind.MEMBER_JOINED, group=after.id, member=name, after=member.instance)
    for name, member in new.items():
        earlier = old.get(name, _NO_MEMBER)
        protocols = earlier.protocol and earlier.protocol.value, member.protocol and member.protocol.value
        yield from _changed(after, EventKind.MEMBER_PROTOCOL_CHANGED, *protocols, name)
        subscriptions = subscription_names(earlier), subscription_names(member)
        yield from _changed(after, EventKind.SUBSCRIPTION_CHANGED, *subscriptions, name)


_NO_MEMBER = Member(id="")


def _of_epochs(before: Group, after: Group, renamed: Mapping[str, str]) -> Iterator[WatchEvent]:
    classic = after.type is GroupType.CLASSIC
    kind = EventKind.GENERATION_CHANGED if classic else EventKind.EPOCH_CHANGED
    yield from _changed(after, kind, _epoch(before), _epoch(after))
    old, new = before.assignment_epoch, after.assignment_epoch
    yield from _changed(after, EventKind.ASSIGNMENT_EPOCH_CHANGED, old, new)
    epochs = {renamed.get(member.id, member.id): member.epoch for member in before.members}
    for member in after.members:
        was = epochs.get(member.id)
        yield from _changed(after, EventKind.MEMBER_EPOCH_CHANGED, was, member.epoch, member.id)


def _epoch(group: Group) -> int | None:
    return group.generation if group.group_epoch is None else group.group_epoch


def _of_partitions(before: Group, after: Group, renamed: Mapping[str, str]) -> Iterator[WatchEvent]:
    """Events of partitions; partitions of a topic with the same change share one event."""
    was, now = owners_of(before), owners_of(after)
    was = {place: tuple(sorted(renamed.get(name, name) for name in ids)) for place, ids in was.items()}
    changes: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[int]] = {}
    for partition in sorted(was.keys() | now.keys()):
        old, new = was.get(partition, ()), now.get(partition, ())
        if old != new:
            changes.setdefault((partition[0], old, new), []).append(partition[1])
    first, last = _epoch(before), _epoch(after)
    is_known = first is not None and last is not None and before.type is after.type
    epochs = max((last or 0) - (first or 0), 0) if is_known else None
    event = partial(WatchEvent, group=after.id, epochs=epochs)
    for kind in (EventKind.PARTITIONS_LOST, EventKind.PARTITIONS_MOVED, EventKind.PARTITIONS_ASSIGNED):
        for (topic, old, new), numbers in changes.items():
            taken = EventKind.PARTITIONS_MOVED if old else EventKind.PARTITIONS_ASSIGNED
            if (taken if new else EventKind.PARTITIONS_LOST) is kind:
                yield event(kind=kind, topic=topic, partitions=tuple(numbers), before=old, after=new)


def _of_offsets(group: str, before: Offsets, after: Offsets) -> Iterator[WatchEvent]:
    old, new = _flat(before), _flat(after)
    for partition in sorted(old.keys() | new.keys()):
        was, now = old.get(partition), new.get(partition)
        if was == now:
            continue
        back = was is not None and now is not None and now < was
        kind = EventKind.OFFSETS_SET_BACK if back else EventKind.OFFSETS_COMMITTED
        kind, topic = EventKind.OFFSETS_DELETED if now is None else kind, partition[0]
        yield WatchEvent(
            kind=kind, group=group, topic=topic, partitions=(partition[1],), before=was, after=now
        )


def _flat(offsets: Offsets) -> dict[Place, int]:
    return {
        (topic, partition): position
        for topic, partitions in offsets.items()
        for partition, committed in partitions.items()
        if (position := committed.position) is not None
    }
